"""The open streams: their limits, their ends, and the loop that feeds one.

A stream ends when its client disconnects or stops reading, when its key is deleted (within a second), when it falls
behind retention, and when the service stops. One task watches the keys of all streams. It sleeps while none is open,
so an idle service has no timer.

The operator's feed. Each second it sends the figures, the changes since the last tick and the newest events. A tick
has a fixed size: it holds the newest changes and events and reports how many it left out. A slow reader gets fewer
ticks; nothing waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, assert_never

import msgspec
import trio

from actors.app_context import AppContext
from actors.messages.declaring import made_of
from actors.notification.headline import ListedEvent, headline
from actors.observer import Gauge
from actors.settings import Settings
from actors.world import Jail
from api.fields import admin as wire
from api.problems import later
from api.ratelimit import counted, uncount
from api.streams.channels import Channels
from api.streams.export import Exports
from api.streams.keepalives import EARLY, Keepalives, KeepaliveState, Writer
from api.streams.reader import Reader, Texts
from api.streams.sse import RETRY, Form, keepalive
from storage.errors import StorageError
from storage.records.access import ApiKey, Holder, Session
from storage.records.event import EVERYTHING, id_in
from storage.records.identity import Millis, Seq, id_of, millis_of, rfc3339
from storage.records.member import WEB, Member
from storage.sql.storage import Storage

KEY_CHECK = 0.5  # seconds between two checks of the open streams' keys
MOST_HELD = 32 << 20
"""Bytes of the log that all streams with slow clients hold. Further streams drop their pages and read them again."""
MAKING = 8  # Pages of history made at once, at most 1 MiB each. The others wait and hold nothing.
GOLDEN = 0.618_033_988_749_895


class Cancellable(Protocol):
    """An open stream, as far as its limits go."""

    def cancel(self) -> None: ...


class Streams:
    """All open streams. gauge: shows their number. now: ends those of keys that expire."""

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        gauge: Gauge | None = None,
        jail: Jail | None = None,
        now: Callable[[], Millis] = lambda: Millis(0),
    ) -> None:
        self.texts = Texts(jail)
        self.channels = Channels(storage.alerts)
        self.exports = Exports()
        self.keepalives = Keepalives(self._newest_known, settings.keepalive)
        self._storage, self._settings, self._now = storage, settings, now
        self._gauge = gauge or Gauge()
        self._open: dict[str, dict[Cancellable, Holder]] = {}
        """By the hash of their keys, so that a check costs nothing for each stream."""
        self._of_key: Counter[str] = Counter()
        self._some = trio.Event()
        self._newest: tuple[Seq, str] | None = None
        self._place = -GOLDEN
        self._held = 0
        self.pages = trio.CapacityLimiter(MAKING)
        self.ending = False

    def check_room(self, key: Holder) -> None:
        """Raise Refusal if there are too many streams: 503 in total, 429 for this key."""
        if self.ending:
            raise later("unavailable", "The service is stopping.", 5)
        if self._of_key.total() >= self._settings.max_streams:
            raise later("unavailable", f"{self._settings.max_streams} streams are open; there is no room for more.", 10)
        if self._of_key[key.id] >= self._settings.key_streams:
            raise later("rate-limited", f"This key has {self._settings.key_streams} streams open; close one first.", 10)

    @contextmanager
    def place(self, key: Holder) -> Iterator[None]:
        """Take a slot within the block, before sending the answer's head. Raises Refusal."""
        self.check_room(key)
        with counted(self._of_key, key.id):
            yield

    def keep_place(self, key: Holder) -> None:
        """Take one more slot, for a stream that outlives its block."""
        self._of_key[key.id] += 1

    def free_place(self, key: Holder) -> None:
        uncount(self._of_key, key.id)

    def add(self, stream: Cancellable, key: Holder) -> None:
        """List a stream until `drop`. Cancelling it ends it."""
        self._open.setdefault(key.sha256, {})[stream] = key
        self._gauge.value += 1  # the gauge also counts the admin socket's streams
        self._some.set()
        if self.ending:
            stream.cancel()

    def drop(self, stream: Cancellable, key: Holder) -> None:
        del self._open[key.sha256][stream]
        if not self._open[key.sha256]:
            del self._open[key.sha256]
        self._gauge.value -= 1

    def silence(self) -> float:
        """Return the seconds after which a new stream needs a keepalive."""
        return self._settings.keepalive * (1 - EARLY * self.spread())

    def spread(self) -> float:
        """Return the next number of a low-discrepancy sequence in [0, 1).

        One event reaches ten thousand streams at the same moment. Without this, their keepalives would also coincide,
        and after a stop their clients would all reconnect at once.
        """
        self._place = (self._place + GOLDEN) % 1
        return self._place

    def end_all(self) -> None:
        self.ending = True
        for stream in [stream for streams in self._open.values() for stream in streams]:
            stream.cancel()

    async def watch_keys(self) -> None:
        while True:
            await self._some.wait()
            await trio.sleep(KEY_CHECK)
            with suppress(StorageError):  # unknown for now: the next round asks again
                for streams in list(self._open.values()):
                    if streams and await self.has_gone(next(reversed(streams.values()))):
                        for stream in list(streams):
                            stream.cancel()
            if not self._open:
                self._some = trio.Event()

    async def languages(self) -> Sequence[str]:
        alerts = await self._storage.alerts.all()
        return tuple(dict.fromkeys(("en", "simple", *(alert.language for alert in alerts))))

    async def newest_id(self) -> str:
        """Return the id of the newest event that streams may show, or an id for its position if it was deleted."""
        tail = self._storage.tail
        head = tail.head
        if self._newest is None or self._newest[0] != head:
            recent = tail.since(Seq(head - 1))
            if recent:
                body: bytes | None = recent[-1].stored.body
            else:
                page = await self._storage.log.read_back(Seq(head + 1), 1, EVERYTHING)
                body = page.events[0].body if page.events else None
            self._newest = (head, id_in(body) if body else id_of(head, 0))
        return self._newest[1]

    async def feed(self, reader: Reader, pulse: KeepaliveState) -> None:
        """Write a stream: new events as they come, and keepalives. Return at the end of the log if the stream parks.

        Raises the errors of `Writer.send`, and FellBehind. Bytes that a client does not take at once are sent outside
        the scope that a keepalive may cancel, since a send must not end in the middle.
        """
        writer, rest = pulse.writer, pulse.take_rest()
        while True:
            if rest:
                with self._pages_of(reader):
                    await writer.send(rest)
            rest = b""
            with trio.CancelScope() as pulse.scope:
                rest = await _feed_willing(reader, pulse)
            pulse.scope = None
            rest = rest or pulse.take_rest()
            if not rest and pulse.due:
                rest = writer.send_nowait(keepalive(reader.form, await self.newest_id()))
            elif not rest and pulse.parks and reader.at_end():
                return

    @contextmanager
    def _pages_of(self, reader: Reader) -> Iterator[None]:
        held = reader.held()
        if self._held + held > MOST_HELD:
            reader.let_go()
            held = 0
        self._held += held
        try:
            yield
        finally:
            self._held -= held

    async def _newest_known(self) -> str | None:
        try:
            return await self.newest_id()
        except StorageError:
            return None  # send no keepalive that claims all is well

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def __repr__(self) -> str:
        return f"<Streams {len(self)} open of {len(self._of_key)} keys>"

    async def has_gone(self, holder: Holder) -> bool:
        match holder:
            case ApiKey(sha256=hashed):
                key = await self._storage.keys.by_hash(hashed, self._now())
                return key is None or not set(holder.scopes) <= set(key.scopes)
            case Session(sha256=hashed):
                session = await self._storage.people.session(hashed)
                return session is None or session.role != holder.role
            case _:
                assert_never(holder)


async def _feed_willing(reader: Reader, pulse: KeepaliveState) -> bytes:
    """Feed a client while it takes everything at once; return the first rest, or b"" where it can park."""
    while True:
        if reader.at_end():
            if pulse.parks:
                return b""
            pulse.waits = True
            try:
                await reader.wait()
            finally:
                pulse.waits = False
            if pulse.rest:
                return pulse.take_rest()
        else:
            await trio.lowlevel.checkpoint()
        frames = await reader.take()
        reader.sent += len(frames)
        if frames and (rest := pulse.writer.send_nowait(frames)):
            return rest


TICK = 1.0
MOST = 50  # changes, and events, per tick
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
        matching=wire.Matching(behind=lag.events, seconds=round(lag.seconds, 1), says=lag.text()),
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
