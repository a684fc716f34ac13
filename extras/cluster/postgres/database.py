"""Opening the engine: the server's settings, the schema, the master key, a test of every box, this start's number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple
from zlib import crc32

import trio

from extras.cluster.members.membership import SharedOwnership, Sharing
from extras.cluster.postgres import engine
from extras.cluster.postgres.engine import WITHIN
from extras.cluster.postgres.server import SETTINGS, ServerFacts, SharedClock, judge
from storage.append import Lease
from storage.errors import STANDSTILL, Unavailable
from storage.records.identity import START, Seq
from storage.secrets import Vault, examine_boxes
from storage.sql.storage import Places, Storage
from storage.sql.stores import log
from storage.sql.writing import next_turn

READERS = 2
LOOK_UP_WITHIN, READ_WITHIN = 5.0, 65.0
"""Most seconds of a read with its wait for a connection. The server itself limits a page to 60 s."""
DEADLINE = 15.0  # seconds after which a transaction is cut off; its outcome is then unknown
EVERY = 1.0  # seconds after which the log is read even without a notice
_NEWEST = "SELECT coalesce(max(seq), 0) FROM log"
_BUMP = """UPDATE fact SET value=value+1 WHERE name='epoch'
    RETURNING value, left(gen_random_uuid()::text, 8)"""
_RAISE_FENCE = "UPDATE fact SET value=? WHERE name='fence'"
_NOTE_ALONE = "UPDATE fact SET value=? WHERE name='alone'"
_PUT_ALL_OUT = "UPDATE member SET inside=FALSE"


async def open_postgres(
    url: str,
    *,
    vault: Vault,
    clock: Callable[[], float],
    owner: str,
    warn: Callable[[str], None],
    doing: Callable[[str], None] = lambda _says: None,
    safe: Collection[str] = SETTINGS,
    shares: bool = False,
    listen_url: str | None = None,
    shared: SharedClock | None = None,
) -> Storage:
    """Open the engine. Its tables are created or upgraded in the first schema of the role's search path.

    url: in libpq's form. vault: the master key. clock: the wall clock, in seconds. owner: names the process. warn: gets
    sentences for the operator. doing: gets the name of each slow step, from another thread. safe: settings that must
    not be off; only a cluster of the tests allows fewer. shares: other starts may work on the data at the same time;
    otherwise this one fences off all earlier starts. listen_url: the server's own address, if `url` is a pooler's.
    shared: the clock that follows the database's.

    Raises Unavailable (also for a server that is too old, or may lose committed data), NoKey, NewerSchema, Corrupt,
    Unopened.
    """
    begin = partial(_open, url, vault, clock, safe, doing, shares=shares, listens=listen_url is not None)
    opened = await trio.to_thread.run_sync(begin)
    for sentence in opened.warnings:
        warn(sentence)
    lines = _Lines(url, clock, f"{owner}-{opened.chance}", shares, listen_url or url, engine.Lineage())
    return PostgresStorage(lines, opened.known, Lease(0, owner, opened.epoch), vault, warn, shared=shared)


class _Lines(NamedTuple):
    """Makes an engine's connections. me: unique to a start. listen_url: for notices. lineage: where all must lead."""

    url: str
    clock: Callable[[], float]
    me: str
    shares: bool
    listen_url: str
    lineage: engine.Lineage

    def to(self, name: str, url: str = "") -> engine.ThreadConnection:
        """Return a connection; `name` must be unique."""
        return engine.ThreadConnection(
            url or self.url, self.clock, crc32(f"{self.me} {name}".encode()) / (1 << 32), self.lineage
        )


class _Opened(NamedTuple):
    """epoch: this start's number. chance: 8 random hex digits. known: the newest position readers may have seen."""

    epoch: int
    chance: str
    known: Seq
    warnings: Sequence[str]


class PostgresStorage(Storage):
    """One opened engine; see Storage."""

    def __init__(
        self,
        lines: _Lines,
        known: Seq,
        lease: Lease,
        vault: Vault,
        warn: Callable[[str], None],
        *,
        shared: SharedClock | None = None,
    ) -> None:
        self._appender = engine.PostgresWriter(engine.APPENDER, lines.to("append"), warn, vault)
        self._writer = engine.PostgresWriter(engine.WRITER, lines.to("write"), warn, vault)
        self._readers = engine.ReaderPool([lines.to(f"read {number}") for number in range(READERS)], READ_WITHIN)
        self._lookups = engine.GatheredLookups(engine.LinePool([lines.to("look up")], LOOK_UP_WITHIN))
        super().__init__(
            Places(self._appender, self._writer, self._readers, self._lookups), engine.SPACE, lease, known, vault
        )
        self._beats = engine.LinePool([lines.to("beat")], WITHIN)
        self.members = engine.PostgresMembers(
            self._beats, lines.me, lambda: self.tail.head, self.tail.forget, clock=shared
        )
        if lines.shares:
            self.ownership = SharedOwnership(lines.me, Sharing(self._readers, self._lookups, vault))
        writers = (self._appender, self._writer)
        self._watch = engine.Watch(
            lines.to("watch", lines.listen_url), writers, self.log.follower.unknown, lambda: self.tail.awaited
        )
        self._appender.start()
        self._writer.start()
        self._watch.start()

    def __repr__(self) -> str:
        return f"PostgresStorage({self.lease}, {self._appender}, {self._writer}, {self._readers})"

    async def follow(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.log.follower.run)
            nursery.start_soon(self._look_on)
            while True:
                await trio.sleep(EVERY)
                for writer in (self._appender, self._writer):
                    if trio.current_time() - writer.moved_at() > DEADLINE:
                        writer.cut()

    async def _look_on(self) -> None:
        """Read the log if it has grown without a notice."""
        while True:
            await trio.sleep_until(next_turn(EVERY))
            with suppress(*STANDSTILL):
                if (await self._lookups.one(_NEWEST))[0] <= self.tail.head:
                    continue
            self.log.follower.unknown()

    def writer_moved_at(self) -> float:
        return min(self._appender.moved_at(), self._writer.moved_at())

    async def wait_ended(self) -> str:
        ended: list[str] = []

        async def wait(writer: engine.PostgresWriter) -> None:
            ended.append(await writer.wait_ended())
            nursery.cancel_scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait, self._appender)
            nursery.start_soon(wait, self._writer)
        return ended[0]

    async def aclose(self) -> None:
        await self._watch.aclose()
        await self._readers.aclose()
        await self._lookups.aclose()
        await self._beats.aclose()
        await self._appender.aclose()
        await self._writer.aclose()


def _open(
    url: str,
    vault: Vault,
    clock: Callable[[], float],
    safe: Collection[str],
    doing: Callable[[str], None],
    *,
    shares: bool,
    listens: bool,
) -> _Opened:
    with engine.connected(url) as connection:
        warnings = _admitted(engine.facts_of(connection, clock, safe, listens=listens))
        doing("reading the database")
        engine.begin_life(connection, vault)
        examine_boxes(connection, vault)
        epoch, chance = _number_of_start(connection, shares=shares)
        connection.commit()
        return _Opened(epoch, chance, log.bounds(connection, START).newest, warnings)


def _number_of_start(connection: engine.PostgresConnection, *, shares: bool) -> tuple[int, str]:
    """Take a start's number; fence earlier ones, after their writes (shared locks on `FENCE`), unless shared."""
    (alone,) = connection.execute("SELECT value FROM fact WHERE name='alone'").fetchone() or (0,)
    fences = alone or not shares
    if fences:
        connection.run(engine.lock_of(engine.FENCE))
    epoch, chance = connection.execute(_BUMP).fetchone() or (0, "")
    if fences:
        connection.execute(_RAISE_FENCE, (epoch,))
    connection.execute(_NOTE_ALONE, (int(not shares),))
    if not shares:
        connection.execute(_PUT_ALL_OUT)  # all of these members are fenced off
    return int(epoch), str(chance)


def _admitted(facts: ServerFacts) -> Sequence[str]:
    """Return the warnings about an acceptable server. Raises Unavailable for any other."""
    verdicts = list(judge(facts))
    for verdict in verdicts:
        if verdict.refuses:
            raise Unavailable(f"PostgreSQL: {verdict}")
    return [f"PostgreSQL: {verdict}" for verdict in verdicts]
