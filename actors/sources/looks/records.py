"""Record prices: the lowest or highest for a while, derived from the source's earlier events.

A check that reports a price reads the log a few times; other checks cost nothing. If the log can't be read, the event
has no record: it never guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from actors.series import Point, SeriesKey, key_of, record_since, reported_changes, series_of
from storage.errors import StorageError
from storage.records.event import Draft, TypedChange, Value
from storage.records.identity import Millis, SourceId, rfc3339
from storage.sql.stores.log import EventLog

Told = Sequence[tuple[int, Sequence[TypedChange]]]
"""A source's changes, oldest first, each with its time."""


def has_prices(drafts: tuple[Draft, ...]) -> bool:
    """Return whether a harvest reports a changed price."""
    return any(map(_is_price, (change for draft in drafts for change in draft.changes)))


async def with_records(
    log: EventLog, source: SourceId, added_at: Millis, drafts: tuple[Draft, ...], began: int = 0
) -> tuple[Draft, ...]:
    """Return drafts whose prices say since when none was lower, or higher. added_at: when the source was added.

    began: the first check of the page as it is watched now; 0 if unknown.
    """
    try:
        told, since = await reported_changes(log, source, added_at)
    except StorageError:
        return drafts
    return tuple(replace(draft, changes=_with_records(draft, told, since, began)) for draft in drafts)


def _with_records(draft: Draft, told: Told, since: int, began: int) -> tuple[TypedChange, ...]:
    now = draft.fetched_at
    # Include this check: for a newly reported price, its previous value is the first point.
    known = {series.key: series.points for series in series_of([*told, (now, draft.changes)], since, began)}
    return tuple(_recorded(change, known, now) if _is_price(change) else change for change in draft.changes)


def _is_price(change: TypedChange) -> bool:
    return change.kind == "price" and isinstance(change.before, Value) and isinstance(change.after, Value)


def _recorded(change: TypedChange, known: Mapping[SeriesKey, Sequence[Point]], now: int) -> TypedChange:
    key, before = key_of(change), change.before
    assert isinstance(before, Value)
    assert isinstance(change.after, Value)
    if key is None or not isinstance(before.number, int) or not isinstance(change.after.number, int):
        return change
    points = [point for point in known.get(key, ()) if point.at < now]
    if points and not points[-1].is_value(before):
        # It changed unseen (a check had too many changes to list): the time is unknown.
        points.append(Point(now, before.number, before.scale))
    lowest, highest = (record_since(points, change.after, now, lowest=side) for side in (True, False))
    return replace(
        change,
        lowest_since=UNSET if lowest is None else rfc3339(Millis(lowest)),
        highest_since=UNSET if highest is None else rfc3339(Millis(highest)),
    )
