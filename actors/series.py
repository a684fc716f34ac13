"""Series: the values of one thing over time, as a source's events told them; and how long a price has been a record.

Prices, numbers and shares have series, and so have states, versions and dates. Nothing is stored for it: the events
are. A value holds from the event that told it to the next one, or until an event told that it went; what the first
event had before holds from when the page was first looked at, from when its row came, or from as far back as the log
goes. What came or went is a point as well, of a thing that also changed or stands on the page now.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec
import trio
from msgspec import UNSET, Raw, Struct, UnsetType

from storage.interface.log import EventLog
from storage.records.cursor import Filter
from storage.records.event import Delta
from storage.records.identity import Millis, Seq, SourceId, millis_of
from storage.records.value import MOST_CHANGES, TypedChange, Value, ValueType

NAMED: Final = ("availability", "version", "date")
"""Types of values that are no numbers, and have series."""
SeriesKey = tuple[str, str, str]
"""Type, unit, and what it is of."""


class Point(NamedTuple):
    """A value from a moment on, in milliseconds. number: None of what is none, of which `value` says what it is, and
    `text` how the page writes it. until: when it went, if that was told before another value came.
    """

    at: int
    number: int | None
    scale: int
    value: str = ""
    text: str = ""
    until: int | None = None

    def is_value(self, value: Value | UnsetType) -> bool:
        """Return whether a value means the same, however it is written, and with however many decimals."""
        if not isinstance(value, Value):
            return False
        if self.number is None or not isinstance(value.number, int):
            return self.number is None and self.value == value.value
        return Value("", number=self.number, scale=self.scale).meaning()[:2] == value.meaning()[:2]


class Series(Struct):
    """One thing's values, oldest first; the first is what it was when it was first known.

    altered: an event told a change of it, so it is a thing at a place, and no news of a feed.
    """

    type: ValueType
    unit: str
    label: str
    path: str
    points: list[Point]
    altered: bool = False

    @property
    def key(self) -> SeriesKey:
        return self.type, self.unit, self.path or self.label

    def go_on(self, point: Point) -> None:
        """Take another value; what went at the same moment has become it."""
        if self.points and self.points[-1].until == point.at:
            self.points[-1] = self.points[-1]._replace(until=None)
        self.points.append(point)

    def end(self, at: int) -> None:
        """Take note of when the thing went."""
        if self.points and self.points[-1].until is None:
            self.points[-1] = self.points[-1]._replace(until=at)

    def lacks(self, before: Value | UnsetType, cut: int) -> bool:
        """Return whether the thing has become what it is known to have been before a change, and nobody told it."""
        last = self.points[-1]
        return last.until is not None or (last.at < cut and not last.is_value(before))


def key_of(change: TypedChange) -> SeriesKey | None:
    """Return of which series a change is a point; None for what has none."""
    return _key(change, change.before if change.after is UNSET else change.after)


def _key(change: TypedChange, value: Value | UnsetType) -> SeriesKey | None:
    if not isinstance(value, Value) or point_of(value) is None:
        return None
    return str(value.type), value.unit, change.path or change.label


def series_of(
    told: Iterable[tuple[int, Sequence[TypedChange]]],
    since: int,
    began: int = 0,
    standing: Container[SeriesKey] = frozenset(),
) -> list[Series]:
    """Return the series in events, oldest first, each a moment and what it told. since: from when on that is all.

    began: when the page was first looked at as it is watched now; 0 where nobody knows. standing: of what the page has
    now, which is a thing at a place also if it only ever came and went.
    """
    found: dict[SeriesKey, Series] = {}
    came: dict[str, int] = {}
    cut = since
    for at, changes in told:
        first = max(cut, began) if at >= began else cut
        for change in changes:
            if change.kind == "added":
                came[change.path or change.label] = at
            if (key := key_of(change)) is None:
                continue
            series = found.get(key)
            before, was = _point(change.before), _key(change, change.before)
            if was is not None and was != key:  # it is called by another unit now, or of another kind
                before = None
                if was in found:
                    found[was].end(at)
            if series is None:
                type, unit, place = key
                series = found[key] = Series(type, unit, change.label, change.path, [])  # type: ignore[arg-type]
                if before is not None:
                    series.points.append(before._replace(at=min(max(first, came.get(place, 0)), at)))
            elif before is not None and series.lacks(change.before, cut):
                series.points.append(before._replace(at=max(cut, series.points[-1].until or 0)))
            if (after := _point(change.after)) is not None:
                series.go_on(after._replace(at=at))
            else:
                series.end(at)
            series.altered |= change.kind not in {"added", "removed"}
        if len(changes) >= MOST_CHANGES - 1:  # of two states that were told as one, one less
            cut = max(cut, at)  # it may have left out that this came, or what it became
    return [one for key, one in found.items() if one.points and (one.altered or key in standing)]


def _point(value: Value | UnsetType) -> Point | None:
    return point_of(value) if isinstance(value, Value) else None


def point_of(value: Value) -> Point | None:
    """Return a value as a point at no moment yet; None for what has no series: a time of day, a text."""
    if value.type is UNSET:
        return None
    if isinstance(value.number, int):
        return Point(0, value.number, value.scale)
    return Point(0, None, 0, value.value, value.text) if value.type in NAMED and value.value else None


def record_since(points: Sequence[Point], value: Value, now: int, *, lowest: bool) -> int | None:
    """Return since when no value was lower (or higher) than one that is told now; None where the one before was."""
    if not points or not isinstance(value.number, int):
        return None
    for point, until in zip(reversed(points), (now, *(point.at for point in reversed(points))), strict=False):
        if point.number is None:
            continue
        scale = max(point.scale, value.scale)
        then, told = point.number * 10 ** (scale - point.scale), value.number * 10 ** (scale - value.scale)
        if then < told if lowest else then > told:
            return None if until == now else until
    return points[0].at


MOST_EVENTS = 1_000
"""Events of a source that are read back; what lies before these is not known."""
_PAGE = 500
_LAST = Seq(2**63 - 1)


class _Told(Struct):
    changes: tuple[TypedChange, ...] = ()
    delta: Raw = Raw(b"null")


_decode = msgspec.json.Decoder(_Told).decode
_delta = msgspec.json.Decoder(Delta | None).decode


def delta_of(raw: Raw) -> Delta | None:
    """Return the difference that an event carries; None where it has none that can be read."""
    try:
        found: Delta | None = _delta(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found


async def told_before(
    log: EventLog, source: SourceId, added_at: Millis, see: Callable[[int, Raw], None] | None = None
) -> tuple[list[tuple[int, tuple[TypedChange, ...]]], int]:
    """Return what a source told, oldest first, and since when that is all of it. Raises StorageError.

    Of `MOST_EVENTS` at most. see: is given each event's moment and its delta, newest first.
    """
    found: list[tuple[int, tuple[TypedChange, ...]]] = []
    before, where, read = _LAST, Filter(sources=(source,)), 0
    while read < MOST_EVENTS:
        page = await log.read_back(before, _PAGE, where)
        for event in page.events:
            try:
                told = _decode(event.body)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue  # told by another version
            if told.changes:
                found.append((millis_of(event.seq), told.changes))
            if see is not None:
                see(millis_of(event.seq), told.delta)
                await trio.lowlevel.checkpoint()
        read += len(page.events)
        before = page.scanned
        if not page.scanned:
            return found[::-1], max(added_at, millis_of(page.floor) if page.floor else 0)
    return found[::-1], millis_of(before)
