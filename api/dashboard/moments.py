"""Times by the reader's clock, with the exact UTC. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from api.dashboard.language.speaking import noted, noted_as, say, say_as
from storage.records.identity import Millis
from storage.records.times import rfc3339

Stamp = int | str | None
"""Milliseconds since 1970, RFC 3339, or never."""
ZULU: Final = ZoneInfo("UTC")
_ZONE = re.compile(r"[A-Za-z0-9+_-]{1,32}(/[A-Za-z0-9+_-]{1,32}){0,2}", re.ASCII)
_SPOKEN = re.compile(r"\b(\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d) UTC\b")
_QUOTED = re.compile(r"(“[^”]*”)")
_SPANS = (
    (86_400, noted("%(count)s d")),
    (3_600, noted("%(count)s h")),
    (60, noted("%(count)s min")),
    (1, noted("%(count)s s")),
)
_MONTHS = (
    noted_as("month", "Jan"),
    noted_as("month", "Feb"),
    noted_as("month", "Mar"),
    noted_as("month", "Apr"),
    noted_as("month", "May"),
    noted_as("month", "Jun"),
    noted_as("month", "Jul"),
    noted_as("month", "Aug"),
    noted_as("month", "Sep"),
    noted_as("month", "Oct"),
    noted_as("month", "Nov"),
    noted_as("month", "Dec"),
)


class Moment(NamedTuple):
    """iso: for `<time datetime>`. exact: UTC as text. words: the reader's clock. ago: the distance. full: the reader's
    clock with date and zone, as evidence. second: the seconds that `words` omits, as ":05". "" for never.
    """

    iso: str = ""
    exact: str = ""
    words: str = "never"
    ago: str = "never"
    full: str = "never"
    second: str = ""


def moment_of(at: Stamp, now: Millis, zone: ZoneInfo) -> Moment:
    """Return a time as seen at another time, in a zone.

    >>> moment_of(1_800_000_000_000, Millis(1_800_000_000_000 + 90_000), ZULU)[1:]
    ('2027-01-15 08:00:00 UTC', '08:00', '1 min ago', '2027-01-15 08:00:00 UTC', ':00')
    """
    if at is None or at == "":
        return Moment("", "", *[say("never")] * 3)
    millis = at if isinstance(at, int) else _millis(at)
    utc = datetime.fromtimestamp(millis / 1000, UTC)
    here, today = utc.astimezone(zone), datetime.fromtimestamp(now / 1000, UTC).astimezone(zone)
    if here.date() == today.date():
        words = f"{here:%H:%M}"
    else:
        date = dated(here.day, here.month, here.year if here.year != today.year else None)
        words = say("%(date)s, %(time)s", date=date, time=f"{here:%H:%M}")
    exact, full = f"{utc:%Y-%m-%d %H:%M:%S} UTC", f"{here.isoformat(' ', 'seconds')} {zone.key}"
    return Moment(
        rfc3339(Millis(millis)),
        exact,
        words,
        distance(now - millis),
        exact if zone.key == "UTC" else full,
        f":{here:%S}",
    )


def dated(day: int, month: int, year: int | None = None) -> str:
    """Return a day as people write it.

    >>> dated(1, 5), dated(31, 12, 2027)
    ('1 May', '31 Dec 2027')
    """
    named = say_as("month", _MONTHS[month - 1])
    if year is None:
        return say("%(day)s %(month)s", day=day, month=named)
    return say("%(day)s %(month)s %(year)s", day=day, month=named, year=str(year))


def distance(millis: int) -> str:
    """Return how long ago something was, or (below zero) how soon it will be.

    >>> distance(12_000), distance(-3_700_000), distance(200)
    ('12 s ago', 'in 1 h', 'now')
    """
    seconds = round(abs(millis) / 1000)
    if not seconds:
        return say("now")
    said = span(seconds)
    return say("%(span)s ago", span=said) if millis > 0 else say("in %(span)s", span=said)


def span(seconds: float) -> str:
    """Return a length of time in its largest unit.

    >>> span(59), span(60), span(7300), span(200_000)
    ('59 s', '1 min', '2 h', '2 d')
    """
    whole = round(seconds)
    for size, unit in _SPANS:
        if whole >= size:
            return say(unit, count=whole // size)
    return say("%(count)s s", count=0)


def by_clock(text: str, zone: ZoneInfo) -> str:
    """Convert the times in a sentence of ours to the reader's clock; leave quotations unchanged.

    >>> by_clock("Seen on 26 Nov 2026 23:33 UTC: “at 26 Nov 2026 23:33 UTC”.", ZoneInfo("Europe/Stockholm"))
    'Seen on 27 Nov 2026 00:33: “at 26 Nov 2026 23:33 UTC”.'
    """
    if zone.key == ZULU.key or "UTC" not in text:
        return text
    return "".join(part if part.startswith("“") else _here(part, zone) for part in _QUOTED.split(text))


def _here(text: str, zone: ZoneInfo) -> str:
    return _SPOKEN.sub(lambda found: _respoken(found, zone), text)


def _respoken(found: re.Match[str], zone: ZoneInfo) -> str:
    try:
        at = datetime.strptime(found[1], "%d %b %Y %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return found[0]
    return f"{at.astimezone(zone):%-d %b %Y %H:%M}"


def zone_of(name: str) -> ZoneInfo:
    """Return a zone by its name, UTC if unknown."""
    return _zone(name) or ZULU


def is_zone(name: str) -> bool:
    """Return whether a zone with this name exists."""
    return _zone(name) is not None


def _zone(name: str) -> ZoneInfo | None:
    if not _ZONE.fullmatch(name):
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _millis(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
