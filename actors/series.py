"""Series: the values of one thing over time, as a source's events told them; and how long a price has been a record.

Nothing is stored for it: the events are. A value holds from the event that told it to the next one; what the first
event had before holds from when the source was added, or from as far back as the log goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Struct

from storage.interface.log import EventLog
from storage.records.cursor import Filter
from storage.records.identity import Millis, Seq, SourceId, millis_of
from storage.records.value import TypedChange, Value, ValueType

SeriesKey = tuple[str, str, str]
"""Type, unit, and what it is of."""


class Point(NamedTuple):
    """A value from a moment on, in milliseconds."""

    at: int
    number: int
    scale: int


class Series(Struct):
    """One thing's values, oldest first; the first is what it was when it was first known."""

    type: ValueType
    unit: str
    label: str
    path: str
    points: list[Point]


def key_of(change: TypedChange) -> SeriesKey | None:
    """Return of which series a change is a point; None for what has no number, or stands at no place of its own."""
    value = change.before if change.after is UNSET else change.after
    if not isinstance(value, Value) or not isinstance(value.number, int) or value.type is UNSET:
        return None
    if change.kind in {"added", "removed"}:
        return None
    return str(value.type), value.unit, change.path or change.label


def series_of(told: Iterable[tuple[int, Sequence[TypedChange]]], since: int) -> list[Series]:
    """Return the series in events, oldest first, each a moment and what it told. since: from when on it was watched."""
    found: dict[SeriesKey, Series] = {}
    for at, changes in told:
        for change in changes:
            if (key := key_of(change)) is None:
                continue
            series = found.get(key)
            if series is None:
                type, unit, _ = key
                series = found[key] = Series(type, unit, change.label, change.path, [])  # type: ignore[arg-type]
                if isinstance(change.before, Value) and isinstance(change.before.number, int):
                    series.points.append(Point(min(since, at), change.before.number, change.before.scale))
            if isinstance(change.after, Value) and isinstance(change.after.number, int):
                series.points.append(Point(at, change.after.number, change.after.scale))
    return [series for series in found.values() if series.points]


def record_since(points: Sequence[Point], value: Value, now: int, *, lowest: bool) -> int | None:
    """Return since when no value was lower (or higher) than one that is told now; None where the one before was."""
    if not points or not isinstance(value.number, int):
        return None
    for point, until in zip(reversed(points), (now, *(point.at for point in reversed(points))), strict=False):
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


_decode = msgspec.json.Decoder(_Told).decode


async def told_before(
    log: EventLog, source: SourceId, added_at: Millis
) -> tuple[list[tuple[int, tuple[TypedChange, ...]]], int]:
    """Return what a source told, oldest first, and since when that is all of it. Raises StorageError.

    Of `MOST_EVENTS` at most.
    """
    found: list[tuple[int, tuple[TypedChange, ...]]] = []
    before, where, read = _LAST, Filter(sources=(source,)), 0
    while read < MOST_EVENTS:
        page = await log.read_back(before, _PAGE, where)
        for event in page.events:
            try:
                changes = _decode(event.body).changes
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue  # told by another version
            if changes:
                found.append((millis_of(event.seq), changes))
        read += len(page.events)
        before = page.scanned
        if not page.scanned:
            return found[::-1], max(added_at, millis_of(page.floor) if page.floor else 0)
    return found[::-1], millis_of(before)
