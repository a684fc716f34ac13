"""The operator's view of the service, for any face: the tree page by page, and the largest users of space."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from actors.errors import NotFound
from actors.open_streams import OpenStream
from actors.overseer.rows import Asked, Row, first_line
from api.operations.context import OperationContext
from api.schemas import admin as wire
from storage.records import trail
from storage.records.identity import Seq, id_of, millis_of, rfc3339
from storage.records.states import LOOKS

MARKS = 20
"""Checks of a source that a row shows."""


def row_of(row: Row) -> wire.TreeRow:
    return wire.TreeRow(
        path=row.path,
        name=row.name,
        kind=row.kind,
        state=row.state,
        health=None if row.health is None else round(row.health, 4),
        flag=row.flag,
        restarts=row.restarts,
        since=rfc3339(row.since),
        error=row.error,
        next=None if row.next is None else rfc3339(row.next),
        title=row.title,
        mailbox=row.waiting,
        handled=row.handled,
        pace_s=row.pace,
        marks=marks_of(row.trail),
        below=None if row.below is None else wire.BelowSeen(row.below.total, row.below.worst),
    )


def marks_of(looks: bytes) -> str:
    """Return the last checks of a trail, one mark each, newest last."""
    found = ""
    for row in reversed(trail.read(looks)):
        found += LOOKS[row.verdict].short * min(row.looks, MARKS - len(found))
        if len(found) >= MARKS:
            break
    return found[::-1]


async def tree(call: OperationContext, query: wire.TreeQuery) -> wire.TreePage:
    """Return a page of rows, or the named ones."""
    if query.paths:
        found = call.context.overseer.some(query.paths)
        return wire.TreePage(len(found), 0, await _told(call, found))
    asked = Asked(query.sort, query.filter, query.reverse, query.tree, frozenset(query.open), frozenset(query.troubled))
    rows, total = await call.context.overseer.page(asked, query.start, query.limit)
    return wire.TreePage(total, query.start, await _told(call, rows))


async def _told(call: OperationContext, rows: Sequence[Row]) -> tuple[wire.TreeRow, ...]:
    """Return rows; add the last error and next attempt of failing destinations from storage."""
    outbox = call.context.storage.outbox
    failing = {row.path.partition("/")[2] for row in rows if row.kind == "destination" and row.state == "failing"}
    waiting = await outbox.waiting(sorted(failing)) if failing else {}
    found = []
    for row in rows:
        told, id = row_of(row), row.path.partition("/")[2]
        if id in failing:
            last, due = await outbox.attempts(id, 1), waiting[id].next_due if id in waiting else None
            error = first_line(last[0].error) if last else ""
            told = replace(told, error=told.error or error, next=None if due is None else rfc3339(due))
        found.append(told)
    return tuple(found)


async def sizes(call: OperationContext, limit: int) -> wire.Sizes:
    """Return storage sizes and the largest sources."""
    storage = call.context.storage
    room = await storage.log.room()
    found = []
    for id, held in (await storage.log.heaviest(limit)).items():
        watched = await storage.sources.get(id)
        url, title = (None, "") if watched is None else (watched.source.url, watched.source.name)
        found.append(wire.SourceSize(source_id=id, url=url, title=title, events=held.events, bytes=held.bytes))
    return wire.Sizes(room.whole, room.free, tuple(found))


def streams(call: OperationContext, limit: int) -> wire.StreamsSeen:
    """Return the streams open at this node: furthest behind first, then oldest."""
    context = call.context
    seen = [_stream(one, context.storage.tail.head) for one in context.open_streams.all()]
    seen.sort(key=lambda one: (-one.behind_s, one.number))
    return wire.StreamsSeen(len(seen), context.storage.ownership.me or "", tuple(seen[:limit]))


def _stream(one: OpenStream, head: Seq) -> wire.StreamSeen:
    at = None if one.place is None else one.place.cursor
    behind = 0 if at is None or at >= head else max(0, millis_of(head) - millis_of(at))
    return wire.StreamSeen(
        number=one.number,
        key=one.whose.key,
        name=one.whose.name,
        prefix=one.whose.prefix,
        address=one.address,
        asked=one.asked,
        since=rfc3339(one.since),
        cursor=None if at is None else id_of(at, 0),
        behind_s=behind / 1000,
        bytes=0 if one.place is None else one.place.sent,
    )


def close_stream(call: OperationContext, number: int) -> None:
    """End a stream of this node. Raises NotFound."""
    one = call.context.open_streams.find(number)
    if one is None:
        raise NotFound("There is no such stream at this node; it may have ended.")
    one.close()
