"""Report a delivery and the verdicts on its signatures, as lines or JSON. Pure.

Any content may be hostile, so nothing reaches the terminal unescaped. Colour never carries meaning alone: each verdict
is a word. A memory of deliveries recognises repeated and late ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from hashlib import sha256
from typing import Any

import msgspec

from sanderling_client.receiver.capture import EPOCH, Capture, rfc3339
from sanderling_client.receiver.receipt import Receipt, ReceivedEvent, is_coverage
from sanderling_client.receiver.terminal import fit, plain
from sanderling_client.verify import Verdict

REMEMBERED = 10_000
"""Ids remembered; at a thousand per second a duplicate has ten seconds."""
MOST_SHOWN = 20
"""Events of a digest shown individually; failed ones always are."""
_COLOURS = {"verified": "32", "FAILED": "31", "not checked": "33"}


@dataclass(frozen=True, slots=True)
class Entry:
    """number: of this delivery, from 1. times: how often its id has arrived; `first` is the number of its first
    delivery. altered: the body differs from the first. late: a greater id arrived before.
    """

    number: int
    times: int
    first: int
    altered: bool
    late: bool


@dataclass(slots=True)
class _Seen:
    first: int
    times: int
    digest: bytes


class Ledger:
    """Takes deliveries in order of arrival. Ids are UUIDv7: their text sorts by creation time."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._count = 0
        self._greatest = ""

    def take(self, webhook_id: str, body: bytes) -> Entry:
        """Record a delivery and return its observations."""
        self._count += 1
        digest = sha256(body).digest()
        seen = self._seen.get(webhook_id) if webhook_id else None
        if seen is not None:
            seen.times += 1
            return Entry(self._count, seen.times, seen.first, digest != seen.digest, late=False)
        late = bool(webhook_id) and webhook_id < self._greatest
        self._greatest = max(self._greatest, webhook_id)
        if webhook_id:
            self._seen[webhook_id] = _Seen(self._count, 1, digest)
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        return Entry(self._count, 1, self._count, altered=False, late=late)


@dataclass(frozen=True, slots=True)
class Paper:
    """The output format. zone: None is local time."""

    width: int = 100
    colour: bool = False
    zone: tzinfo | None = None

    def clock(self, at: int) -> str:
        """Format a moment in the zone, to the second."""
        return f"{(EPOCH + timedelta(milliseconds=at)).astimezone(self.zone):%Y-%m-%d %H:%M:%S}"

    def word(self, verdict: Verdict) -> str:
        """Return a verdict as a padded word, in colour if enabled."""
        word = "verified" if verdict.valid else "FAILED" if verdict.failed else "not checked"
        return f"\x1b[{_COLOURS[word]}m{word:<11}\x1b[0m" if self.colour else f"{word:<11}"


def delivery_lines(capture: Capture, receipt: Receipt, entry: Entry, status: int, paper: Paper) -> Iterator[str]:
    at = "" if capture.received_at is None else paper.clock(capture.received_at)
    id = plain(receipt.webhook_id[:64]) or "without a webhook-id"
    yield f"#{entry.number}  {at}  {what(receipt)}  {id}  {size(len(capture.body))}"
    for note in notes(entry):
        yield f"    {note}"
    yield f"    webhook  {paper.word(receipt.webhook)} {plain(receipt.webhook.reason)}"
    if receipt.shape == "event":
        yield f"    event    {paper.word(receipt.events[0].verdict)} {plain(receipt.events[0].verdict.reason)}"
        yield from (f"    {line}" for line in event_lines(receipt.events[0].event, paper))
    elif receipt.shape == "digest":
        yield from _digest_lines(receipt, paper)
    else:
        yield f"    body     {'FAILED':<11} it is neither an event nor a digest"
    yield f"    answered {status}"


def _digest_lines(receipt: Receipt, paper: Paper) -> Iterator[str]:
    good = sum(told.verdict.valid for told in receipt.events)
    start, end = (_moment(receipt.body.get(f"window_{which}"), paper) for which in ("start", "end"))
    yield f"    window   {start} to {end}"
    yield f"    events   {good} of {len(receipt.events)} verified"
    for number, told in enumerate(receipt.events):
        if number < MOST_SHOWN or told.verdict.failed:
            yield f"      {told_line(told, paper)}"
    if len(receipt.events) > MOST_SHOWN:
        yield f"      ... {len(receipt.events)} in all"


def told_line(told: ReceivedEvent, paper: Paper) -> str:
    """Return an event and its verdict as one line, with the reason unless valid."""
    id = fit("coverage receipt" if is_coverage(told.event) else str(told.event.get("id", "without an id")), 36)
    tail = fit(_title(told.event), max(10, paper.width - 60)) if told.verdict.valid else plain(told.verdict.reason)
    return f"{paper.word(told.verdict)} {id}  {tail}"


def event_lines(event: Mapping[str, Any], paper: Paper) -> Iterator[str]:
    yield f"title    {fit(_title(event), paper.width - 13)}"
    yield f"from     {fit(str(event.get('source_url') or event.get('url') or ''), paper.width - 13)}"
    yield f"emitted  {_moment(event.get('emitted_at'), paper)}"


def notes(entry: Entry) -> Iterator[str]:
    """Yield remarks on repeated or late deliveries."""
    if entry.times > 1:
        same = "with ANOTHER body, which must not be" if entry.altered else "with the same body"
        yield f"again    its id has come {entry.times} times, first as #{entry.first}, {same}"
    if entry.late:
        yield "late     a later one has come before it: sort by id if order matters to you"


def what(receipt: Receipt) -> str:
    """Return the kind of delivery."""
    if receipt.shape == "digest":
        return f"digest of {len(receipt.events)}"
    if receipt.shape == "other":
        return "something else"
    event = receipt.events[0].event
    if event.get("alert_type"):
        return fit(f"notice {event['alert_type']}", 40)
    tags = event.get("tags")
    if isinstance(tags, list) and "kind:test" in tags:
        return "test delivery"
    return fit(f"{event.get('source_type', '')} event".strip(), 24)


def size(count: int) -> str:
    """Format a byte count for people.

    >>> size(512), size(2048)
    ('512 B', '2.0 KiB')
    """
    return f"{count} B" if count < 1024 else f"{count / 1024:.1f} KiB"


def as_json(capture: Capture, receipt: Receipt, entry: Entry | None, status: int | None) -> str:
    """Return the report as one line of JSON; deliveries from files have no entry and status."""
    fields: dict[str, Any] = {"webhook_id": receipt.webhook_id, "kind": receipt.shape, "size": len(capture.body)}
    if capture.received_at is not None:
        fields["received_at"] = rfc3339(capture.received_at)
    if entry is not None:
        fields |= {"number": entry.number, "times": entry.times, "altered": entry.altered, "late": entry.late}
    fields["webhook"] = verdict_json(receipt.webhook)
    fields["events"] = [told_json(told) for told in receipt.events]
    if status is not None:
        fields["answered"] = status
    return msgspec.json.encode(fields).decode()


def told_json(told: ReceivedEvent) -> dict[str, Any]:
    return {"id": told.event.get("id"), "title": told.event.get("title"), **verdict_json(told.verdict)}


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict for programs: `valid` is null if unchecked."""
    checked = verdict.valid or verdict.failed
    return {"valid": verdict.valid if checked else None, "cause": verdict.cause.value, "reason": verdict.reason}


def _title(event: Mapping[str, Any]) -> str:
    if is_coverage(event):
        return f"of source {event.get('source_id')}"
    return str(event.get("title") or event.get("content") or event.get("url") or "")


def _moment(text: object, paper: Paper) -> str:
    """Format an RFC 3339 time in the paper's zone; other text is returned shortened."""
    try:
        return f"{datetime.fromisoformat(str(text)).astimezone(paper.zone):%Y-%m-%d %H:%M:%S %Z}"
    except (ValueError, OverflowError):
        return fit(str(text), 40)
