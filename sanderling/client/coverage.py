"""`sanderling coverage`: how often a source was checked, and the times without data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any

import click
import msgspec

from actors.signatures.coverage import WHYS, length
from sanderling.client.api import Client
from sanderling.client.naming import SOURCES, id_of
from sanderling.client.rendering import moment
from sanderling.client.speaking import asked
from sanderling.exits import CommandFailed, Exit
from storage.records.identity import Millis
from storage.records.secrecy import plain
from storage.records.states import LOOKS
from storage.records.times import parse_rfc3339, rfc3339, seconds_of
from storage.records.trail import Verdict


def show(client: Client, name: str, *, since: str, until: str | None, now: Millis, as_json: bool) -> int:
    """Print a source's coverage, or its signed receipt."""
    window = {"from": _moment("--since", since, now)}
    if until is not None:
        window["to"] = _moment("--until", until, now)

    async def act() -> bytes:
        path = f"{SOURCES.path}/{await id_of(client, SOURCES, name)}/coverage"
        return (await client.ask("GET", path, params=window)).content

    receipt = asked(client, act)
    if as_json:
        click.echo(receipt.decode())
    else:
        click.echo("\n".join(lines(msgspec.json.decode(receipt))))
    return Exit.WELL


def lines(receipt: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    """Yield a receipt as lines: summary, outcomes, longest gap, times without data."""
    yield plain(str(receipt.get("url") or receipt["source_id"]))
    yield f"  from {moment(receipt['from'], zone)} to {moment(receipt['to'], zone)}"
    yield f"  {plain(receipt['says'])}"
    counts = ((Verdict[name.upper()], count) for name, count in receipt["outcomes"].items() if count)
    if said := ", ".join(f"{count:,} {LOOKS[verdict].word}" for verdict, count in counts):
        yield f"  looks: {said}; bodies that differed from the one before: {receipt['versions']:,}"
    if (gap := receipt["longest_gap"]) is not None:
        yield f"  longest gap: {length(gap['seconds'])}, from {moment(gap['from'], zone)} to {moment(gap['to'], zone)}"
    for span in receipt["unknown"]:
        why = WHYS.get(span["why"], plain(span["why"]))
        yield f"  unknown from {moment(span['from'], zone)} to {moment(span['to'], zone)}: {why}"


def _moment(flag: str, text: str, now: Millis) -> str:
    """Return an RFC 3339 time from a time or an age such as 7d. Raises CommandFailed (USAGE)."""
    try:
        if text[-1:] in "smhd" and text[:-1].isdecimal():
            return rfc3339(Millis(max(0, now - 1000 * seconds_of(text))))
        return rfc3339(parse_rfc3339(text))
    except (ValueError, OverflowError):
        says = f"{flag} {text}: neither so long ago, as 7d or 12h, nor a time such as 2026-04-21T00:00:00Z"
        raise CommandFailed(f"{says}.", Exit.USAGE) from None
