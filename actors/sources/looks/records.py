"""Prices that are the lowest, or highest, for a while: read off the events that the source told before.

It costs a look that tells a price some reads of the log, and no other look anything. Should the log not be readable,
the event says nothing of it: never a guess.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from actors.series import Point, SeriesKey, key_of, record_since, series_of, told_before
from storage.errors import StorageError
from storage.interface.log import EventLog
from storage.records.event import Draft
from storage.records.identity import Millis, SourceId
from storage.records.times import rfc3339
from storage.records.value import TypedChange, Value

Known = dict[SeriesKey, list[Point]]


def has_prices(drafts: tuple[Draft, ...]) -> bool:
    """Return whether a harvest tells a price that was another before."""
    return any(map(_is_price, (change for draft in drafts for change in draft.changes)))


async def with_records(
    log: EventLog, source: SourceId, added_at: Millis, drafts: tuple[Draft, ...]
) -> tuple[Draft, ...]:
    """Return drafts whose prices say since when none was lower, or higher. added_at: when the source was added."""
    try:
        told, since = await told_before(log, source, added_at)
    except StorageError:
        return drafts
    known: Known = {}
    for series in series_of(told, since):
        known[series.type, series.unit, series.path or series.label] = series.points
    return tuple(
        replace(draft, changes=tuple(_recorded(change, known, draft.fetched_at, since) for change in draft.changes))
        for draft in drafts
    )


def _is_price(change: TypedChange) -> bool:
    return change.kind == "price" and isinstance(change.before, Value) and isinstance(change.after, Value)


def _recorded(change: TypedChange, known: Known, now: int, since: int) -> TypedChange:
    key = key_of(change)
    if not _is_price(change) or key is None:
        return change
    assert isinstance(change.before, Value)
    assert isinstance(change.after, Value)
    points = known.get(key) or series_of([(since, [replace(change, after=change.before)])], since)[0].points
    lowest, highest = (record_since(points, change.after, now, lowest=side) for side in (True, False))
    return replace(
        change,
        lowest_since=UNSET if lowest is None else rfc3339(Millis(lowest)),
        highest_since=UNSET if highest is None else rfc3339(Millis(highest)),
    )
