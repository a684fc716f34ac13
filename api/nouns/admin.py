"""Operating the service: the tree as rows, one part in full, the figures, sizes, deliveries, the log.

The public listener serves these routes for keys with the scope `admin`; the admin socket serves them too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from actors.messages.declaring import made_of
from actors.messages.requests import SourcePatch
from actors.overseer.rows import Row, RowQuery, first_line
from actors.setting_table import declared
from api.fields import admin as wire
from api.fields.sources import HeldEvents
from api.nouns import keys, sources
from api.nouns import why as coverage
from api.nouns.context import OperationContext, existing
from api.nouns.sources import time_or_null
from api.route import Answer, Call, Route
from api.streams.sse import MEDIA
from api.streams.streams import Feed, overview_of
from storage.records.checks import read_rows
from storage.records.destination import Destination
from storage.records.identity import id_of, millis_of, rfc3339
from storage.records.source import LOOKS, Source, SourceRuntime

MARKS = 20  # checks of a source that a row, and its details, show


def row_of(row: Row) -> wire.TreeRow:
    health = None if row.health is None else round(row.health, 4)
    return made_of(wire.TreeRow, row, health=health, mailbox=row.waiting, pace_s=row.pace, marks=marks_of(row.trail))


def marks_of(looks: bytes) -> str:
    found = ""
    for row in reversed(read_rows(looks)):
        found += LOOKS[row.verdict].short * min(row.looks, MARKS - len(found))
        if len(found) >= MARKS:
            break
    return found[::-1]


async def tree(call: OperationContext, query: wire.TreeQuery) -> wire.TreePage:
    if query.paths:
        found = call.context.overseer.rows(query.paths)
        return wire.TreePage(len(found), 0, await _tree_rows(call, found))
    opened, troubled = frozenset(query.open), frozenset(query.troubled)
    asked = RowQuery(query.sort, query.filter, query.reverse, query.tree, opened, troubled)
    rows, total = await call.context.overseer.page(asked, query.start, query.limit)
    return wire.TreePage(total, query.start, await _tree_rows(call, rows))


async def _tree_rows(call: OperationContext, rows: Sequence[Row]) -> tuple[wire.TreeRow, ...]:
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
    storage = call.context.storage
    room = await storage.log.room()
    found = []
    for id, held in (await storage.log.heaviest(limit)).items():
        watched = await storage.sources.get(id)
        url, title = (None, "") if watched is None else (watched.source.url, watched.source.name)
        found.append(made_of(wire.SourceSize, held, source_id=id, url=url, title=title))
    return wire.Sizes(room.whole, room.free, tuple(found))


_RANK: dict[wire.DeliveryState, int] = {"failing": 0, "disabled": 1, "active": 2, "paused": 3}


async def deliveries(call: Call) -> Answer:
    query: wire.DeliveriesPageQuery = call.query
    storage = call.context.storage
    every = await storage.alerts.destinations()
    waiting = await storage.outbox.waiting([each.id for each in every])

    def place(each: Destination) -> tuple[int, int, str]:
        backlog = waiting.get(each.id)
        return _RANK[_state(each)], -backlog.count if backlog else 0, each.id

    page = sorted(every, key=place)[query.start : query.start + query.limit]
    rates = await storage.outbox.rates([each.id for each in page])
    rows = []
    for each in page:
        lines = await storage.outbox.attempts(each.id, 1)
        found, last = waiting.get(each.id), lines[0] if lines else None
        row = made_of(
            wire.DeliveryRow,
            each,
            state=_state(each),
            waiting=0 if found is None else found.count,
            oldest=None if found is None else rfc3339(found.oldest),
            next=None if found is None else time_or_null(found.next_due),
            failure_rate=round(rates[each.id].failure if each.id in rates else 0.0, 4),
            last=None if last is None else made_of(wire.LastAttempt, last, error=first_line(last.error) or None),
        )
        rows.append(row)
    return Answer(wire.DeliveriesPage(len(every), query.start, tuple(rows)))


def _state(each: Destination) -> wire.DeliveryState:
    return each.state if each.enabled else "paused"


async def _tree(call: Call) -> Answer:
    return Answer(await tree(call, call.query))


async def _sizes(call: Call) -> Answer:
    return Answer(await sizes(call, call.query.limit))


async def part(call: Call) -> Answer:
    whole = call.context.overseer.details(call.path["path"])
    status, source = whole.status, None
    if whole.source is not None and whole.hot is not None:
        source = await _watching(call, whole.source, whole.hot)
    mailbox, crash, steps = (None, None, None) if status is None else (status.mailbox, status.crash, status.steps)
    found = wire.TreePart(
        row=row_of(whole.row),
        task=None if status is None else str(status.state),
        note="" if status is None else status.note,
        awaiting="" if status is None else status.awaiting,
        crash="" if crash is None else str(crash),
        places=() if crash is None else crash.frames,
        crashes=tuple(made_of(wire.CrashSeen, turn) for turn in whole.crashes[:-11:-1]),
        mailbox=None if mailbox is None else made_of(wire.MailboxSeen, mailbox),
        slowest_step_s=None if steps is None else round(steps.slowest, 3),
        idle_s=None if steps is None else round(steps.idle, 3),
        source=source,
    )
    return Answer(found)


async def _watching(call: Call, source: Source, hot: SourceRuntime) -> wire.Watching:
    rows = read_rows(hot.trail)[: -MARKS - 1 : -1]
    looks = ((r, {"at": rfc3339(r.last_at), "verdict": r.verdict.name.lower(), "bytes": r.size}) for r in rows)
    judged = call.context.overseer.table.examine(source.id)
    return made_of(
        wire.Watching,
        source,
        hot,
        hot.breaker,
        reason=hot.health.reason,
        health=tuple(wire.HealthSeen(part.cause, round(part.left, 4), str(part.says)) for part in judged.health),
        interval_s=hot.interval,
        next_look=str(judged.next_look),
        breaker=hot.breaker.state,
        trail=tuple(made_of(wire.LookSeen, row, **more) for row, more in looks),
        held=made_of(HeldEvents, await call.context.storage.log.held(source.id)),
        covered=(await coverage.coverage_of(call, source, hot.tally)).receipt.says,
    )


async def overview(call: Call) -> Answer:
    return Answer(overview_of(call.context))


async def settings(call: Call) -> Answer:
    found = call.context.settings
    return Answer(wire.SettingsSeen({name: setting.shown(found) for name, setting in declared().items()}))


async def feed(call: Call) -> Answer:
    assert call.key is not None
    call.streams.check_room(call.key)
    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    return Answer(b"", media=MEDIA["sse"], headers=headers, stream=Feed(call.context))


async def log(call: Call) -> Answer:
    query: wire.LogQuery = call.query
    journal = call.context.overseer.journal
    lines = journal.lines_of(query.actor, query.after, query.limit)
    named, found = ("ts", "level", "event", "actor"), []
    for number, line in lines:
        rest = {name: value for name, value in line.items() if name not in named}
        ts, level, event, actor = (str(line.get(name, "")) for name in named)
        found.append(wire.LogLine(number, ts, level, event, actor, rest))
    return Answer(wire.LogPage(journal.lines.last, tuple(found)))


async def streams(call: Call) -> Answer:
    storage, seen = call.context.storage, list[wire.StreamSeen]()
    for stream in call.context.open_streams.all():
        head, at, sent = storage.tail.head, None, 0
        if stream.progress is not None:
            at, sent = stream.progress.cursor, stream.progress.sent
        behind = 0 if at is None or at >= head else max(0, millis_of(head) - millis_of(at))
        cursor = None if at is None else id_of(at, 0)
        seen.append(made_of(wire.StreamSeen, stream, stream.owner, cursor=cursor, behind_s=behind / 1000, bytes=sent))
    seen.sort(key=lambda row: (-row.behind_s, row.number))
    return Answer(wire.StreamsSeen(len(seen), storage.ownership.me or "", tuple(seen[: call.query.limit])))


async def every_key(call: Call) -> Answer:
    found = await call.context.storage.keys.all()
    of = Counter(stream.owner.key for stream in call.context.open_streams.all())
    return Answer(wire.KeysSeen(tuple(made_of(wire.KeySeen, key, streams=of[key.id]) for key in reversed(found))))


# --- actions ---------------------------------------------------------------------------------------------------------


async def _do(call: Call, act: str, target: str) -> None:
    overseer = call.context.overseer
    match act:
        case "close":
            number = int(target) if target.isdecimal() and len(target) < 16 else 0
            says = "There is no such stream at this node; it may have ended."
            stream = existing(call.context.open_streams.find(number), says)
            stream.close()
        case "revoke":
            await keys.revoke(call, target)
        case "check":
            await sources.check(call, overseer.source_of(target).id)
        case "restart":
            overseer.restart(target)
        case "release":
            overseer.release(target)
        case "disable" | "enable":
            await sources.change(call, overseer.source_of(target).id, SourcePatch(enabled=act == "enable"))
            overseer.forget_orders()
        case "drain" | "resume":
            await overseer.drain(act == "drain")


async def _act(act: str, of: str, call: Call) -> Answer:
    """Run an action, and log its success or failure. of: "" for a part of the tree."""
    target, who, done = next(iter(call.path.values()), ""), call.key, False
    assert who is not None
    try:
        await _do(call, act, target)
        done = True
    finally:
        call.context.world.log(
            "admin.act", act=act, actor=of + target, by=who.prefix, name=who.name, done=done, request_id=call.request_id
        )
    return Answer(wire.Done(act, of + target), 202)


def _read(path: str, run: Any, says: str, answer: Any, **more: Any) -> Route:
    path, answers = f"/v1/admin{path}", {200: answer}
    return Route(method="GET", path=path, scope="admin", run=run, says=says, answers=answers, **more)


_PART, _STATES = "/tree/{path}", "Read the state of destinations, failing ones first."


def _write(path: str, says: str, *refuses: str) -> Route:
    """Return the route of an action. The log names its target by place; a part by its path in the tree."""
    before, brace, _ = path[1:].partition("{")
    of = before if brace and not path.startswith(_PART) else ""
    run, path = partial(_act, path.rpartition("/")[2], of), f"/v1/admin{path}"
    answers = {202: wire.Done}
    return Route(method="POST", path=path, scope="admin", run=run, says=says, answers=answers, refuses=refuses)


ROUTES = (
    _read("/overview", overview, "Read the figures of the service.", wire.Overview),
    _read("/settings", settings, "Read the settings in force.", wire.SettingsSeen),
    _read("/tree", _tree, "Read a page of the tree, worst first.", wire.TreePage, query=wire.TreeQuery),
    _read(_PART, part, "Read the details of one part.", wire.TreePart),
    _read("/feed", feed, "Follow figures, state changes and events.", str, media="text/event-stream"),
    _read("/deliveries", deliveries, _STATES, wire.DeliveriesPage, query=wire.DeliveriesPageQuery),
    _read("/sizes", _sizes, "Read the sizes, largest sources first.", wire.Sizes, query=wire.SizesQuery),
    _read("/log", log, "Read the newest log lines.", wire.LogPage, query=wire.LogQuery),
    _read("/streams", streams, "List the open streams of this node.", wire.StreamsSeen, query=wire.StreamsQuery),
    _read("/keys", every_key, "List the API keys.", wire.KeysSeen),
    _write("/streams/{number}/close", "Close a stream."),
    _write("/keys/{id}/revoke", "Delete an API key."),
    _write(f"{_PART}/check", "Check a source now, if politeness allows.", "conflict"),
    _write(f"{_PART}/restart", "Restart a part.", "conflict"),
    _write(f"{_PART}/release", "End a quarantine, or the wait after a crash.", "conflict"),
    _write(f"{_PART}/disable", "Pause a source.", "conflict"),
    _write(f"{_PART}/enable", "Resume a source.", "conflict"),
    _write("/drain", "Stop all checks; pending events are still delivered."),
    _write("/resume", "Resume all checks."),
)
