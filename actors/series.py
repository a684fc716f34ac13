"""Series: the values of one thing over time, from a source's events; and how long a price has been a record.

Prices, numbers, shares, states, versions and dates have series. They are derived from events, not stored. A value
holds from its event to the next one, or until an event reported its removal. The value before the first event holds
from the first check of the page, from when its row appeared, or from the start of the log. An appearance or removal is
a point too, of a thing that also changed or is on the page now.

A record price is the lowest or highest for a while. A check that reports a price reads the log a few times; other
checks cost nothing. If the log can't be read, the event has no record: it never guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import trio
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from storage.errors import StorageError
from storage.records.event import MOST_CHANGES, Delta, Draft, Filter, TypedChange, Value, ValueType
from storage.records.identity import Millis, Seq, SourceId, millis_of, rfc3339
from storage.sql.stores.log import EventLog

NAMED: Final = ("availability", "version", "date")  # types of values without a number that have series
SeriesKey = tuple[str, str, str]  # type, unit, and path or label


class Point(NamedTuple):
    """A value from a moment on, in ms. number: None for the types in NAMED; then `value` is the meaning and `text` the
    page's wording. until: when it disappeared, if that came before another value.
    """

    at: int
    number: int | None
    scale: int
    value: str = ""
    text: str = ""
    until: int | None = None

    def is_value(self, value: Value | UnsetType) -> bool:
        """Return whether a value means the same, in any notation and with any number of decimals."""
        if not isinstance(value, Value):
            return False
        if self.number is None or not isinstance(value.number, int):
            return self.number is None and self.value == value.value
        return Value("", number=self.number, scale=self.scale).meaning()[:2] == value.meaning()[:2]


class Series(Struct):
    """One thing's values, oldest first. altered: an event reported a change, so it is a thing at a place, no entry."""

    type: ValueType
    unit: str
    label: str
    path: str
    points: list[Point]
    altered: bool = False

    @property
    def key(self) -> SeriesKey:
        return self.type, self.unit, self.path or self.label

    def append(self, point: Point) -> None:
        """Add a value; a removal at the same moment was a change to it."""
        if self.points and self.points[-1].until == point.at:
            self.points[-1] = self.points[-1]._replace(until=None)
        self.points.append(point)

    def end(self, at: int) -> None:
        if self.points and self.points[-1].until is None:
            self.points[-1] = self.points[-1]._replace(until=at)

    def is_gap_before(self, before: Value | UnsetType, cut: int) -> bool:
        """Return whether no event reported how the thing got its value before a change."""
        last = self.points[-1]
        return last.until is not None or (last.at < cut and not last.is_value(before))


def key_of(change: TypedChange) -> SeriesKey | None:
    return _key(change, change.before if change.after is UNSET else change.after)


def _key(change: TypedChange, value: Value | UnsetType) -> SeriesKey | None:
    if not isinstance(value, Value) or point_of(value) is None:
        return None
    return str(value.type), value.unit, change.path or change.label


def series_of(
    events: Iterable[tuple[int, Sequence[TypedChange]]],
    since: int,
    began: int = 0,
    standing: Container[SeriesKey] = frozenset(),
) -> list[Series]:
    """Return the series in events, oldest first, each a moment and its changes. since: from when on they are complete.
    began: the first check of the page as it is watched now; 0 if unknown. standing: the series of values on the page
    now, which count even if they only ever appeared and disappeared.
    """
    by_key: dict[SeriesKey, Series] = {}
    added_at: dict[str, int] = {}
    cut = since
    for at, changes in events:
        first = max(cut, began) if at >= began else cut
        for change in changes:
            if change.kind == "added":
                added_at[change.path or change.label] = at
            if (key := key_of(change)) is None:
                continue
            series = by_key.get(key)
            before, key_before = _point(change.before), _key(change, change.before)
            if key_before is not None and key_before != key:  # its unit or type changed
                before = None
                if key_before in by_key:
                    by_key[key_before].end(at)
            if series is None:
                type, unit, place = key
                series = by_key[key] = Series(type, unit, change.label, change.path, [])  # type: ignore[arg-type]
                if before is not None:
                    series.points.append(before._replace(at=min(max(first, added_at.get(place, 0)), at)))
            elif before is not None and series.is_gap_before(change.before, cut):
                series.points.append(before._replace(at=max(cut, series.points[-1].until or 0)))
            if (after := _point(change.after)) is not None:
                series.append(after._replace(at=at))
            else:
                series.end(at)
            series.altered |= change.kind not in {"added", "removed"}
        if len(changes) >= MOST_CHANGES - 1:  # of two states reported as one, one less
            cut = max(cut, at)  # the list may omit that this appeared, or its new value
    return [series for key, series in by_key.items() if series.points and (series.altered or key in standing)]


def _point(value: Value | UnsetType) -> Point | None:
    return point_of(value) if isinstance(value, Value) else None


def point_of(value: Value) -> Point | None:
    """Return a value as a point at time 0; None for types without series, such as a time of day or a text."""
    if value.type is UNSET:
        return None
    if isinstance(value.number, int):
        return Point(0, value.number, value.scale)
    return Point(0, None, 0, value.value, value.text) if value.type in NAMED and value.value else None


def record_since(points: Sequence[Point], value: Value, now: int, *, lowest: bool) -> int | None:
    """Return since when no value was lower (or higher) than the new one; None if the previous one was."""
    if not points or not isinstance(value.number, int):
        return None
    for point, until in zip(reversed(points), (now, *(point.at for point in reversed(points))), strict=False):
        if point.number is None:
            continue
        scale = max(point.scale, value.scale)
        old, new = point.number * 10 ** (scale - point.scale), value.number * 10 ** (scale - value.scale)
        if old < new if lowest else old > new:
            return None if until == now else until
    return points[0].at


MOST_EVENTS = 1_000
_PAGE = 500
_LAST = Seq(2**63 - 1)


class _EventBody(Struct):
    changes: tuple[TypedChange, ...] = ()
    delta: Raw = Raw(b"null")


_decode = msgspec.json.Decoder(_EventBody).decode
_delta = msgspec.json.Decoder(Delta | None).decode


def delta_of(raw: Raw) -> Delta | None:
    try:
        delta: Delta | None = _delta(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return delta


async def reported_changes(
    log: EventLog, source: SourceId, added_at: Millis, on_event: Callable[[int, Raw], None] | None = None
) -> tuple[list[tuple[int, tuple[TypedChange, ...]]], int]:
    """Return a source's changes, oldest first, and since when they are complete, from about `MOST_EVENTS` events.
    on_event: called with each event's moment and delta, newest first. Raises StorageError.
    """
    changes: list[tuple[int, tuple[TypedChange, ...]]] = []
    before, where, read = _LAST, Filter(sources=(source,)), 0
    while read < MOST_EVENTS:
        page = await log.read_back(before, _PAGE, where)
        for event in page.events:
            try:
                body = _decode(event.body)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue  # emitted by another version
            if body.changes:
                changes.append((millis_of(event.seq), body.changes))
            if on_event is not None:
                on_event(millis_of(event.seq), body.delta)
                await trio.lowlevel.checkpoint()
        read += len(page.events)
        before = page.scanned
        if not page.scanned:
            return changes[::-1], max(added_at, millis_of(page.floor) if page.floor else 0)
    return changes[::-1], millis_of(before)


DatedChanges = Sequence[tuple[int, Sequence[TypedChange]]]  # a source's changes, oldest first, each with its time


def has_prices(drafts: tuple[Draft, ...]) -> bool:
    return any(map(_is_price, (change for draft in drafts for change in draft.changes)))


async def with_records(
    log: EventLog, source: SourceId, added_at: Millis, drafts: tuple[Draft, ...], began: int = 0
) -> tuple[Draft, ...]:
    """Return drafts whose prices say since when none was lower, or higher. began: as for `series_of`."""
    try:
        reported, since = await reported_changes(log, source, added_at)
    except StorageError:
        return drafts
    return tuple(replace(draft, changes=_with_records(draft, reported, since, began)) for draft in drafts)


def _with_records(draft: Draft, reported: DatedChanges, since: int, began: int) -> tuple[TypedChange, ...]:
    now = draft.fetched_at
    # Include this check: for a newly reported price, its previous value is the first point.
    points_by_key = {series.key: series.points for series in series_of([*reported, (now, draft.changes)], since, began)}
    return tuple(_recorded(change, points_by_key, now) if _is_price(change) else change for change in draft.changes)


def _is_price(change: TypedChange) -> bool:
    return change.kind == "price" and isinstance(change.before, Value) and isinstance(change.after, Value)


def _recorded(change: TypedChange, points_by_key: Mapping[SeriesKey, Sequence[Point]], now: int) -> TypedChange:
    key, before = key_of(change), change.before
    assert isinstance(before, Value)
    assert isinstance(change.after, Value)
    if key is None or not isinstance(before.number, int) or not isinstance(change.after.number, int):
        return change
    points = [point for point in points_by_key.get(key, ()) if point.at < now]
    if points and not points[-1].is_value(before):
        # It changed unseen (a check had too many changes to list): the time is unknown.
        points.append(Point(now, before.number, before.scale))
    lowest, highest = (record_since(points, change.after, now, lowest=side) for side in (True, False))
    low, high = (UNSET if since is None else rfc3339(Millis(since)) for since in (lowest, highest))
    return replace(change, lowest_since=low, highest_since=high)
