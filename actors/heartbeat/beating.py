"""Writes heartbeats to the log, on request: `beat` decides when, and their content.

As with the monitor, none is written while the service does not work: silence is the alarm. The log decides, never
memory: after a missing answer, and where another node may have written, the newest heartbeat is read again. A new one
is committed only as its successor, so none comes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import trio

from actors.heartbeat.beat import Last, Moment, Work, draft_of, due_in, last_of
from actors.messages.recorder import Record, RecorderMessage
from actors.world import World
from storage.errors import STANDSTILL
from storage.interface import Storage
from storage.records.body import id_in
from storage.records.cursor import EVERYTHING
from storage.records.event import Stored
from storage.records.identity import SERVICE, Millis, Seq
from storage.records.source import Harvest
from supervision import Child, Mailbox, Unanswered

AGAIN = 5.0
"""Seconds until readiness is tested again, and after a write that may have failed."""
ANSWERS_WITHIN = 30.0
"""Seconds for one write."""


class HeartbeatWriter:
    """Writes heartbeats. every: seconds. readiness: checks by name; "" means healthy. sources: watched, failing,
    paused."""

    def __init__(
        self,
        world: World,
        storage: Storage,
        recorder: Mailbox[RecorderMessage],
        readiness: Callable[[], Mapping[str, str]],
        sources: Callable[[], tuple[int, int, int]],
        *,
        every: float,
        base_url: str,
    ) -> None:
        self._world, self._storage, self._recorder = world, storage, recorder
        self._readiness, self._sources = readiness, sources
        self._every, self._base_url = Millis(round(1000 * every)), base_url
        self._began = self._counted_at = world.now()
        self._counted = 0.0

    def __repr__(self) -> str:
        return f"<HeartbeatWriter every {self._every / 1000:g} s>"

    async def run(self, child: Child) -> None:
        while True:
            try:
                last = last_of(await self._storage.log.heartbeat())
                await trio.sleep(due_in(last, self._every, self._world.now()) / 1000)
                await self._on_from(child, last)
            except (*STANDSTILL, Unanswered, trio.TooSlowError) as error:
                child.note(f"not written: {error}"[:200])
                await trio.sleep(AGAIN)

    async def _on_from(self, child: Child, last: Last) -> None:
        """Write a due heartbeat, and the next ones by a monotonic clock, until another node has written one.

        Raises StorageError, Unanswered, trio.TooSlowError.
        """
        due = trio.current_time()
        while True:
            await trio.sleep_until(due)
            if withheld := next((says for says in self._readiness().values() if says), ""):
                child.note(f"withheld: {withheld}"[:200])
                due = trio.current_time() + AGAIN
                continue
            # No heartbeat is written later for a time when the process was suspended.
            skipped = int((trio.current_time() - due) / (self._every / 1000))
            due += skipped * self._every / 1000
            late = round(1000 * (trio.current_time() - due))
            written = await self._write(last, Millis(self._world.now() - late), skipped)
            if written is None:
                return
            last = written
            child.note(f"wrote the one of number {last.number:,}")
            due += self._every / 1000

    async def _write(self, last: Last, due: Millis, skipped: int) -> Last | None:
        """Commit the next heartbeat and return it; None if `last` is no longer the newest one in the log."""
        looks, now = self._world.metrics.looks.total(), self._world.now()
        work = Work(self._began, round(looks - self._counted), self._counted_at, *self._sources())
        moment = Moment(due, now, self._every, await self._head(), skipped)
        told = draft_of(last, moment, work, self._base_url)
        harvest = Harvest(SERVICE, (told,), None, follows=last.seq)
        with trio.fail_after(ANSWERS_WITHIN):
            events: Sequence[Stored] = await self._recorder.ask(lambda reply: Record(harvest, reply))
        if not events:
            return None
        self._counted, self._counted_at = looks, now
        return last_of(events[0])

    async def _head(self) -> str | None:
        log = self._storage.log
        page = await log.read_back(Seq((await log.bounds()).newest + 1), 1, EVERYTHING)
        return id_in(page.events[0].body) if page.events else None
