"""Drawing for many screens: times, amounts and charts, differences. All of it is pure.

An event as lines for people: its difference with the changed words of a line (`ui.diff`), typed changes. Pure.

Times by the reader's clock, amounts, and small charts as numbers for the macros that draw them in SVG. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import partial
from typing import Any, Final, Literal, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import UNSET, Struct, UnsetType

from actors.language.speaking import decimal, noted, noted_as, say, say_as
from actors.versions import DiffParagraph
from storage.records.event import ChangeKind, Delta, Diff, Event, Span, Spans, Value
from storage.records.identity import Millis, parse_rfc3339, rfc3339
from storage.records.message import OURS, Message, in_english
from storage.records.message import Value as MessageValue

MOST_WORDS: Final = 600
"""Words of both sides of a line; beyond this, mark the whole line. Comparing takes their product."""
LIKE: Final = 0.5  # lines with a smaller similarity are one removed and one added line, not one changed line
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class LinePiece(NamedTuple):
    """A stretch of a line. marked: the other side differs here."""

    text: str
    marked: bool = False


class DifferenceLine(NamedTuple):
    """An added ("+"), removed ("-") or unchanged ("=") line, or a remark (" "). where: its place, "" if as above."""

    sign: Literal["+", "-", "=", " "]
    pieces: tuple[LinePiece, ...]
    where: str = ""


class EventChange(Struct, frozen=True):
    """The fields of an event that describe the change."""

    diff: Diff | None = None
    delta: Delta | None = None


def lines_of(changed: EventChange, most: int | None = None) -> list[DifferenceLine]:
    """Return the lines of a difference, `most` at most. The delta has every counter, and only gives the order."""
    lines = list(_each_place_once(_in_order(changed.diff or Diff((), (), ()), changed.delta)))
    shown = lines[:most]
    if len(shown) < len(lines):
        shown.append(_said(say("%(count)s more lines: the event has them all.", count=len(lines) - len(shown))))
    elif (changed.delta or changed.diff or Diff((), (), ())).truncated:
        shown.append(_said(say("The event stores only a part of the difference.")))
    return shown


def in_the_text(content: str, changed: EventChange) -> list[DifferenceLine]:
    """Return a text line by line, changes marked in place: a changed line below its old wording, removals last."""
    diff = changed.diff or Diff((), (), ())
    came = Counter(diff.added)
    altered_to = {pair.after: pair for pair in diff.changed}
    lines: list[DifferenceLine] = []
    for text in content.split("\n"):
        pair = altered_to.pop(text, None)
        if pair is not None:
            lines += _pair(pair.before, pair.after, pair.spans, "")
        elif came[text]:
            came[text] -= 1
            lines.append(_whole("+", text))
        elif text.strip():
            lines.append(DifferenceLine("=", (LinePiece(text),)))
    # Show changes too that are not on a line of their own in the text.
    for pair in altered_to.values():
        lines += _pair(pair.before, pair.after, pair.spans, str(pair.context or ""))
    lines += (_whole("+", text) for text in (+came).elements())
    lines += (_whole("-", text, str(at)) for came, text, at in diff.singles() if not came)
    return lines


def of_steps(steps: Sequence[DiffParagraph], most: int) -> list[DifferenceLine]:
    lines: list[DifferenceLine] = []
    for step in steps[:most]:
        where = str(step.context)
        if step.before is None or step.after is None:
            came = step.before is None
            lines.append(_whole("+" if came else "-", step.after if came else step.before, where))
        elif step.same:
            lines.append(DifferenceLine("=", (LinePiece(step.after),)))
        else:
            lines += _pair(step.before, step.after, step.spans or Spans((), ()), where)
    lines = list(_each_place_once(lines))
    if len(steps) > most:
        lines.append(_said(say("%(count)s more texts are not shown.", count=len(steps) - most)))
    return lines


def _each_place_once(lines: Iterable[DifferenceLine]) -> Iterator[DifferenceLine]:
    last = ""
    for line in lines:
        yield line if line.where != last else line._replace(where="")
        last = line.where


def _in_order(diff: Diff, delta: Delta | None) -> Iterator[DifferenceLine]:
    ops = delta.ops if delta is not None else ()
    at = {text: n for n, op in enumerate(ops) for text in (op.before, op.text, op.after) if text}
    found = [(it.after, [*_pair(it.before, it.after, it.spans, str(it.context or ""))]) for it in diff.changed]
    found += [(text, [_whole("+" if came else "-", text, str(place))]) for came, text, place in diff.singles()]
    for _, lines in sorted(found, key=lambda pair: at.get(pair[0], len(at))):
        yield from lines


def _pair(before: str, after: str, spans: Spans | UnsetType, where: str) -> Iterator[DifferenceLine]:
    if spans is UNSET:
        gone, came = altered(before, after)
    else:
        gone = DifferenceLine("-", _marked(before, spans.before))
        came = DifferenceLine("+", _marked(after, spans.after))
    yield from (gone._replace(where=where), came._replace(where=where))


def _marked(text: str, spans: Sequence[Span]) -> tuple[LinePiece, ...]:
    pieces: list[LinePiece] = []
    done = 0
    for start, end in spans:
        if done <= start < end <= len(text):
            pieces += [LinePiece(text[done:start])] if start > done else []
            pieces.append(LinePiece(text[start:end], marked=True))
            done = end
    return (*pieces, LinePiece(text[done:])) if done < len(text) or not pieces else tuple(pieces)


def altered(before: str, after: str) -> tuple[DifferenceLine, DifferenceLine]:
    """Return the old and the new line, with the differing words marked.

    >>> [[piece.text for piece in line.pieces if piece.marked] for line in altered("costs 19 euros", "costs 29 euros")]
    [['19'], ['29']]
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        return _whole("-", before), _whole("+", after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < LIKE:
        return _whole("-", before), _whole("+", after)
    steps = matcher.get_opcodes()
    gone = _pieces(old, [(start, end, sort != "equal") for sort, start, end, _, _ in steps])
    came = _pieces(new, [(start, end, sort != "equal") for sort, _, _, start, end in steps])
    return DifferenceLine("-", gone), DifferenceLine("+", came)


def _pieces(words: Sequence[str], spans: Sequence[tuple[int, int, bool]]) -> tuple[LinePiece, ...]:
    return tuple(LinePiece("".join(words[start:end]), marked) for start, end, marked in spans if end > start)


def _whole(sign: Literal["+", "-"], text: object, where: str = "") -> DifferenceLine:
    return DifferenceLine(sign, (LinePiece(text if isinstance(text, str) else ""),), where)


def _said(text: str) -> DifferenceLine:
    return DifferenceLine(" ", (LinePiece(text),))


_SHOWN: frozenset[ChangeKind] = frozenset({"price", "availability", "date", "number", "version", "name", "negation"})
MOST_TYPED = 12


def typed_lines(event: Event) -> list[dict[str, Any]]:
    """Return an event's changes beyond added or removed text. record: of a price, highest or lowest, and since when."""
    found = []
    for change in event.changes if isinstance(event.changes, tuple) else ():
        value = change.before if not isinstance(change.after, Value) else change.after
        if change.kind in _SHOWN or (isinstance(value, Value) and isinstance(value.type, str)):
            before, after = (side.text if isinstance(side, Value) else "" for side in (change.before, change.after))
            ends = (("lowest", change.lowest_since), ("highest", change.highest_since))
            record = next(((end, since) for end, since in ends if isinstance(since, str)), None)
            line = {"kind": change.kind, "label": change.path or change.label, "before": before, "after": after}
            found.append(line | {"record": record})
    return found[:MOST_TYPED]


Stamp = int | str | None  # milliseconds since 1970, RFC 3339, or never
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


def _value_here(name: str, value: MessageValue, zone: ZoneInfo) -> MessageValue:
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
    heights = [round(height - 1 - (value - low) * up, 1) if up else height / 2 for value in values]
    placed = [(round((start - first) * across, 1), y) for start, y in zip(starts, heights, strict=True)]
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
