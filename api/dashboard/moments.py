"""Moments as the reader's own clock shows them, with the exact UTC beside it. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from storage.records.identity import Millis
from storage.records.times import rfc3339

Stamp = int | str | None
"""Milliseconds since 1970, RFC 3339, or never."""
ZULU: Final = ZoneInfo("UTC")
_ZONE = re.compile(r"[A-Za-z0-9+_-]{1,32}(/[A-Za-z0-9+_-]{1,32}){0,2}", re.ASCII)
_SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


class Moment(NamedTuple):
    """iso: for `<time datetime>`. exact: UTC in words. words: the reader's clock. ago: the distance. full: the reader's
    clock with date and zone, for what is a proof. "" for never.
    """

    iso: str = ""
    exact: str = ""
    words: str = "never"
    ago: str = "never"
    full: str = "never"


def moment_of(at: Stamp, now: Millis, zone: ZoneInfo) -> Moment:
    """Return a moment as seen at another one, in a zone.

    >>> moment_of(1_800_000_000_000, Millis(1_800_000_000_000 + 90_000), ZULU)[1:]
    ('2027-01-15 08:00:00 UTC', '08:00', '1 min ago', '2027-01-15 08:00:00 UTC')
    """
    if at is None or at == "":
        return Moment()
    millis = at if isinstance(at, int) else _millis(at)
    utc = datetime.fromtimestamp(millis / 1000, UTC)
    here, today = utc.astimezone(zone), datetime.fromtimestamp(now / 1000, UTC).astimezone(zone)
    if here.date() == today.date():
        words = f"{here:%H:%M}"
    else:
        words = f"{here.day} {here:%b}{f' {here.year}' if here.year != today.year else ''}, {here:%H:%M}"
    exact, full = f"{utc:%Y-%m-%d %H:%M:%S} UTC", f"{here.isoformat(' ', 'seconds')} {zone.key}"
    return Moment(rfc3339(Millis(millis)), exact, words, distance(now - millis), exact if zone.key == "UTC" else full)


def distance(millis: int) -> str:
    """Return how long ago something was, or (below zero) how soon it will be.

    >>> distance(12_000), distance(-3_700_000), distance(200)
    ('12 s ago', 'in 1 h', 'now')
    """
    seconds = round(abs(millis) / 1000)
    if not seconds:
        return "now"
    said = span(seconds)
    return f"{said} ago" if millis > 0 else f"in {said}"


def span(seconds: float) -> str:
    """Return a length of time by its largest unit.

    >>> span(59), span(60), span(7300), span(200_000)
    ('59 s', '1 min', '2 h', '2 d')
    """
    whole = round(seconds)
    for size, unit in _SPANS:
        if whole >= size:
            return f"{whole // size} {unit}"
    return "0 s"


def zone_of(name: str) -> ZoneInfo:
    """Return a zone by its name, UTC for what is none."""
    if not _ZONE.fullmatch(name):
        return ZULU
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZULU


def _millis(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
