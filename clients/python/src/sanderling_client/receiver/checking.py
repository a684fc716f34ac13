"""`verify`: check the signatures of stored events and captured deliveries without a service."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec
import trio

from sanderling_client.receiver.capture import Capture
from sanderling_client.receiver.documents import Broken, Item, items
from sanderling_client.receiver.published import Published
from sanderling_client.receiver.receipt import ReceivedEvent, checked, coverage_explained, is_coverage, judge
from sanderling_client.receiver.report import Paper, as_json, told_json, told_line
from sanderling_client.receiver.terminal import FAILED, USAGE, Failed, harmless, plain
from sanderling_client.verify import Cause, Keys, Verdict

FILE_LIMIT = 256 << 20


@dataclass(frozen=True, slots=True)
class Means:
    """The means to check with. now: Unix seconds, for captures without a time."""

    secrets: Sequence[str]
    keys: Keys | None
    now: float


def verify(
    place: str,
    secrets: Sequence[str],
    published: Published | None,
    *,
    wall: Callable[[], float],
    paper: Paper,
    json: bool,
) -> int:
    """Check a file (`-`: stdin) and print the results; return 1 unless everything verifies.

    Raises Failed for an unreadable file, or one with nothing to check.
    """
    if not secrets and published is None:
        raise Failed("There is nothing to check with: give --jwks for events, --secret for captures.", USAGE)
    keys = None if published is None else trio.run(published.read)
    counts = check_all(_read(place), Means(secrets, keys, wall()), paper, click.echo, json=json, place=place)
    total, good, bad = sum(counts.values()), counts["verified"], counts["failed"]
    rest = f", {total - good - bad} not checked" if total > good + bad else ""
    click.echo(f"{total} in all: {good} verified, {bad} failed{rest}", err=True)
    return 0 if total and good == total else FAILED


def check_all(
    data: bytes, means: Means, paper: Paper, echo: Callable[[str], None], *, json: bool, place: str = "the file"
) -> Counter[str]:
    """Check every part of a file, print each, and count verified, failed and unchecked parts."""
    counts: Counter[str] = Counter()
    try:
        for item in items(data):
            counts[_show(item, means, paper, echo, json=json)] += 1
    except ValueError as error:
        raise Failed(f"{place}: {plain(str(error))}.", USAGE) from None
    return counts


def _show(item: Item, means: Means, paper: Paper, echo: Callable[[str], None], *, json: bool) -> str:
    """Print one part and return its result."""
    match item.content:
        case Capture() as capture:
            return _show_capture(capture, means, paper, echo, json=json)
        case Broken(why):
            told = ReceivedEvent({"id": item.where}, Verdict(Cause.UNREADABLE, why))
        case event:
            told = checked(event, means.keys)
    echo(harmless(msgspec.json.encode(told_json(told)).decode()) if json else told_line(told, paper))
    if not json and is_coverage(told.event) and told.verdict.valid:
        for line in coverage_explained(told.event):
            echo(f"  {plain(line)}")
    return _end([told.verdict])


def _show_capture(capture: Capture, means: Means, paper: Paper, echo: Callable[[str], None], *, json: bool) -> str:
    receipt = judge(
        capture.fields(), capture.body, secrets=means.secrets, keys=means.keys, now=_moment(capture, means.now)
    )
    if json:
        echo(harmless(as_json(capture, receipt, None, None)))
    else:
        echo(f"{paper.word(receipt.webhook)} {plain(receipt.webhook_id[:36]):<36}  webhook: {receipt.webhook.reason}")
        for told in receipt.events:
            echo(f"  {told_line(told, paper)}")
    verdicts = [receipt.webhook, *(told.verdict for told in receipt.events)]
    return "failed" if receipt.failed else _end(verdicts)


def _end(verdicts: Sequence[Verdict]) -> str:
    if any(verdict.failed for verdict in verdicts):
        return "failed"
    return "verified" if any(verdict.valid for verdict in verdicts) else "not checked"


def _moment(capture: Capture, now: float) -> float:
    """Return a capture's time, so that an old but fresh delivery does not count as stale."""
    return now if capture.received_at is None else capture.received_at // 1000


def _read(place: str) -> bytes:
    try:
        if place == "-":
            data = sys.stdin.buffer.read(FILE_LIMIT + 1)
        else:
            with Path(place).open("rb") as file:
                data = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise Failed(f"{place}: can't be read: {error.strerror or error}.", USAGE) from None
    if len(data) > FILE_LIMIT:
        raise Failed(f"{place}: more than {FILE_LIMIT >> 20} MiB; check it in parts.", USAGE)
    return data
