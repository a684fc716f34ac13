"""Prices that are the lowest, or highest, for a while: read off the events that the source told before.

It costs a look that tells a price some reads of the log, and no other look anything. Should the log not be readable,
the event says nothing of it: never a guess.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from actors.content.values.series import Point, SeriesKey, key_of, record_since, series_of
from storage.errors import StorageError
from storage.interface.log import EventLog
from storage.records.cursor import Filter
from storage.records.event import Draft
from storage.records.identity import Millis, Seq, SourceId, millis_of
from storage.records.times import rfc3339
from storage.records.value import TypedChange, Value

MOST_EVENTS = 1_000
"""Events of the source that are read back; what lies before these is not known."""
_PAGE = 500
_LAST = Seq(2**63 - 1)


class _Told(Struct):
    changes: tuple[TypedChange, ...] = ()


Known = dict[SeriesKey, list[Point]]
_decode = msgspec.json.Decoder(_Told).decode


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
