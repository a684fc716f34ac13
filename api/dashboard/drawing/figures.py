"""Times by the reader's clock, amounts, and small charts as numbers for the macros that draw them in SVG. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from actors.language.speaking import decimal, noted, noted_as, say, say_as
from storage.records.identity import Millis, parse_rfc3339, rfc3339
from storage.records.message import OURS, Message, Value, in_english

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
    *(noted_as("month", "Jan"), noted_as("month", "Feb"), noted_as("month", "Mar"), noted_as("month", "Apr")),
    *(noted_as("month", "May"), noted_as("month", "Jun"), noted_as("month", "Jul"), noted_as("month", "Aug")),
    *(noted_as("month", "Sep"), noted_as("month", "Oct"), noted_as("month", "Nov"), noted_as("month", "Dec")),
)


class DisplayTime(NamedTuple):
    """iso: for `<time datetime>`. exact: UTC as text. words: the reader's clock. ago: the distance. full: the reader's
    clock with date and zone, as evidence. second: the seconds that `words` omits, as ":05". "" for never.
    """

    iso: str = ""
    exact: str = ""
    words: str = "never"
    ago: str = "never"
    full: str = "never"
    second: str = ""


def moment_of(at: Stamp, now: Millis, zone: ZoneInfo) -> DisplayTime:
    """Return a time as seen at another time, in a zone.

    >>> moment_of(1_800_000_000_000, Millis(1_800_000_000_000 + 90_000), ZULU)[1:]
    ('2027-01-15 08:00:00 UTC', '08:00', '1 min ago', '2027-01-15 08:00:00 UTC', ':00')
    """
    if at is None or at == "":
        return DisplayTime("", "", *[say("never")] * 3)
    millis = at if isinstance(at, int) else parse_rfc3339(at)
    utc = datetime.fromtimestamp(millis / 1000, UTC)
    here, today = utc.astimezone(zone), datetime.fromtimestamp(now / 1000, UTC).astimezone(zone)
    if here.date() == today.date():
        words = f"{here:%H:%M}"
    else:
        date = dated(here.day, here.month, here.year if here.year != today.year else None)
        words = say("%(date)s, %(time)s", date=date, time=f"{here:%H:%M}")
    exact, full = f"{utc:%Y-%m-%d %H:%M:%S} UTC", f"{here.isoformat(' ', 'seconds')} {zone.key}"
    full = exact if zone.key == "UTC" else full
    return DisplayTime(rfc3339(Millis(millis)), exact, words, distance(now - millis), full, f":{here:%S}")


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


def by_clock(text: str | Message, zone: ZoneInfo) -> str | Message:
    """Convert the times in a sentence of ours to the reader's clock; leave quotations unchanged.

    >>> by_clock("Seen on 26 Nov 2026 23:33 UTC: “at 26 Nov 2026 23:33 UTC”.", ZoneInfo("Europe/Stockholm"))
    'Seen on 27 Nov 2026 00:33: “at 26 Nov 2026 23:33 UTC”.'
    """
    if isinstance(text, Message):
        return Message(text.id, {name: _value_here(name, value, zone) for name, value in text.values.items()})
    if zone.key == ZULU.key or "UTC" not in text:
        return text
    here = partial(_SPOKEN.sub, lambda found: _respoken(found, zone))
    return "".join(part if part.startswith("“") else here(part) for part in _QUOTED.split(text))


def _value_here(name: str, value: Value, zone: ZoneInfo) -> Value:
    if isinstance(value, Message):
        return by_clock(value, zone)
    return by_clock(in_english(name, value), zone) if name in OURS else value


def _respoken(found: re.Match[str], zone: ZoneInfo) -> str:
    try:
        at = datetime.strptime(found[1], "%d %b %Y %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return found[0]
    return f"{at.astimezone(zone):%-d %b %Y %H:%M}"


def zone_of(name: str) -> ZoneInfo:
    return _zone(name) or ZULU


def is_zone(name: str) -> bool:
    return _zone(name) is not None


def _zone(name: str) -> ZoneInfo | None:
    if not _ZONE.fullmatch(name):
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


_DAY = 86_400_000
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Return bytes with a unit.

    >>> size(0), size(2048), size(5_000_000)
    ('0 bytes', '2.0 KiB', '4.8 MiB')
    """
    amount, unit = float(count), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{decimal(amount, 1)} {_UNITS[unit]}" if unit else say("%(count)s bytes", count=count)


def by_utc(now: Millis, zone: ZoneInfo) -> str:
    return f" {say('(days by UTC)')}" if datetime.fromtimestamp(now / 1000, zone).utcoffset() else ""


def named(day: int) -> str:
    """Return a day for people.

    >>> named(0)
    '1 Jan'
    """
    _, month, number = rfc3339(Millis(day * _DAY))[:10].split("-")
    return dated(int(number), int(month))


Figure = float | int


class ChartLine(NamedTuple):
    """A line chart: its points in SVG syntax."""

    points: str
    width: int
    height: int


class Steps(NamedTuple):
    """A step chart: its path in SVG syntax, and the start and label of each value."""

    path: str
    marks: Sequence[tuple[float, float, str]]
    width: int
    height: int


class Bar(NamedTuple):
    """A bar with its label, in the chart's own units."""

    x: float
    y: float
    width: float
    height: float
    label: str


def line(values: Sequence[Figure], width: int = 96, height: int = 20) -> ChartLine:
    """Return a line through values from left to right, the largest at the top and 0 at the bottom.

    >>> line([0, 5, 10], 10, 4).points
    '0.0,3.0 5.0,2.0 10.0,1.0'
    """
    top, room = max([*values, 1]), height - 2
    step = width / max(1, len(values) - 1)
    points = (f"{at * step:.1f},{height - 1 - room * value / top:.1f}" for at, value in enumerate(values))
    return ChartLine(" ".join(points), width, height)


def steps(
    values: Sequence[Figure],
    starts: Sequence[Figure],
    end: Figure,
    labels: Sequence[str],
    size: tuple[int, int],
    *,
    gone: Mapping[int, Figure] = {},
) -> Steps:
    """Return steps that hold from their starts on, the last until `end`, the lowest at the bottom. gone: by a value's
    index, where it ends before the next one begins.

    >>> steps([1, 3], [0, 5], 10, ["a", "b"], (100, 12)).path
    'M0 11H50V1H100'
    >>> steps([1, 3], [0, 5], 10, ["a", "b"], (100, 12), gone={0: 2, 1: 6}).path
    'M0 11H20M50 1H60'
    """
    low, high, first, (width, height) = min(values), max(values), starts[0], size
    across = width / max(1, end - first)
    up = (height - 2) / (high - low) if high > low else 0
    placed = [
        (round((start - first) * across, 1), round(height - 1 - (value - low) * up, 1) if up else height / 2)
        for value, start in zip(values, starts, strict=True)
    ]
    path = f"M{placed[0][0]:g} {placed[0][1]:g}"
    for number, (x, y) in enumerate(placed[1:]):
        over = gone.get(number)
        path += f"H{x:g}V{y:g}" if over is None else f"H{round((over - first) * across, 1):g}M{x:g} {y:g}"
    last = gone.get(len(placed) - 1)
    path += f"H{width}" if last is None else f"H{round((last - first) * across, 1):g}"
    return Steps(path, [(*at, label) for at, label in zip(placed, labels, strict=True)], width, height)


def bars(
    values: Sequence[Figure], labels: Sequence[str] = (), width: int = 480, height: int = 64, most: Figure = 0
) -> list[Bar]:
    """Return a bar for each value, at least one unit high unless zero. most: of a full bar; 0: the largest."""
    top, step = most or max([*values, 1]), width / max(1, len(values))
    found = []
    for at, value in enumerate(values):
        tall = max(1.0, round(height * value / top, 1)) if value else 0.0
        label = labels[at] if at < len(labels) else ""
        found.append(Bar(round(at * step, 1), round(height - tall, 1), round(max(1.0, step - 2), 1), tall, label))
    return found
