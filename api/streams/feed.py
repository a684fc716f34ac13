"""The operator's feed. Each second it sends the figures, the changes since the last tick and the newest events.

A tick has a fixed size: it holds the newest changes and events and reports how many it left out. A slow reader gets
fewer ticks; nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import trio

from actors.app_context import AppContext
from actors.messages.declaring import made_of
from actors.notification.headline import ListedEvent, headline
from api.fields import admin as wire
from api.streams.keepalives import Writer
from api.streams.sse import RETRY, Form
from storage.records.event import id_in
from storage.records.identity import Seq, millis_of, rfc3339
from storage.records.member import WEB, Member

TICK = 1.0
MOST = 50
"""Changes, and events, per tick."""
_listed = msgspec.json.Decoder(ListedEvent)


def _brief(body: bytes) -> dict[str, str]:
    event = _listed.decode(body)
    names = ("id", "source_type", "source_id", "source_url", "emitted_at", "alert_type")
    return {name: getattr(event, name) for name in names} | {"headline": headline(event)}


def overview_of(context: AppContext) -> wire.Overview:
    """Return the current figures. The cost does not depend on the number of sources."""
    overseer, states, flags = context.overseer, context.overseer.states(), context.overseer.table.flag_counts()
    failing = {name: says for name, says in context.readiness().items() if says}
    of_sources, of_destinations = states["sources"], states["destinations"]
    newest = context.storage.tail.since(Seq(context.storage.tail.head - 1))
    metrics, lag, spent, nodes = context.world.metrics, context.lag(), context.spent(), context.storage.ownership
    return wire.Overview(
        at=rfc3339(context.world.now()),
        started_at=rfc3339(overseer.started_at),
        version=overseer.version,
        url=context.settings.public_url(),
        local_url=context.settings.local_url(),
        ready=not failing,
        draining=overseer.pause_switch.is_drained,
        failing=failing,
        sources=wire.Sources(
            total=len(overseer.table),
            ok=flags["ok"],
            degraded=flags["degraded"],
            rotten=flags["rotten"],
            running=of_sources["running"],
            backoff=of_sources["backoff"],
            quarantined=of_sources["quarantined"],
            overdue=context.overdue(),
            states=dict(overseer.table.states()),
        ),
        destinations=wire.Destinations(
            total=sum(of_destinations[name] for name in ("starting", "running", "backoff", "quarantined", "stopping")),
            running=of_destinations["running"],
            backoff=of_destinations["backoff"],
            quarantined=of_destinations["quarantined"],
        ),
        matching=wire.Matching(behind=lag.events, seconds=round(lag.seconds, 1), says=lag.says()),
        newest_event=id_in(newest[-1].stored.body) if newest else None,
        queues=dict(overseer.queues()),
        streams=int(metrics.streams.value),
        looks=wire.LookRate(
            round(spent.rate, 2), context.settings.looks_per_second, round(spent.passed, 1), says=spent.text()
        ),
        loop_lag_s=round(metrics.loop_lag.value, 4),
        totals={name: int(counter.total()) for name, counter in metrics.counters().items()},
        nodes=[_node(member, nodes.me) for member in nodes.view.members if not member.left],
        replica=None if context.storage.replica is None else made_of(wire.Replica, context.storage.replica),
    )


def _node(member: Member, me: str | None) -> wire.Node:
    says, missing = member.says, None
    if says.shown > says.ends:
        missing = wire.MissingEvents(rfc3339(millis_of(says.ends)), rfc3339(millis_of(says.shown)))
    named = {"name": member.id, "this": member.id == me, "url": says.address, "missing": missing}
    return made_of(wire.Node, member, says, **named, role="web" if says.role == WEB else "all")


class Feed:
    """One reader's place in the changes and the log. Begins at the current end."""

    form: Form = "sse"

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._changed = context.overseer.journal.changes.last
        self._seen = context.storage.tail.head

    async def feed(self, writer: Writer) -> None:
        await writer.send(writer.send_nowait(RETRY))
        while True:
            await writer.send(writer.send_nowait(self.tick()))
            await trio.sleep(TICK)

    def tick(self) -> bytes:
        frames = [_frame("counts", overview_of(self._context)), *self._changes(), *self._events()]
        return b"".join(frames)

    def _changes(self) -> list[bytes]:
        found = self._context.overseer.journal.changes.after(self._changed)
        self._changed = self._context.overseer.journal.changes.last
        told = [
            {"at": rfc3339(turn.at), "path": turn.path, "was": turn.was, "now": turn.now, "error": turn.error}
            for _, turn in found[-MOST:]
        ]
        return _frames("change", told, len(found))

    def _events(self) -> list[bytes]:
        tail = self._context.storage.tail
        found = tail.since(self._seen) or ()
        self._seen = tail.head
        return _frames("event", [_brief(recent.stored.body) for recent in found[-MOST:]], len(found))

    def __repr__(self) -> str:
        return f"<Feed after change {self._changed} and event {self._seen}>"


def _frame(name: str, data: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(data))


def _frames(name: str, told: Sequence[object], count: int) -> list[bytes]:
    """Return the frames of the newest of so many, after one that counts the skipped ones."""
    skipped = [_frame("skipped", {"of": name, "count": count - MOST})] if count > MOST else []
    return [*skipped, *(_frame(name, one) for one in told)]
