"""The epilogue of a world at rest: a database page is damaged, a backup is restored, or a standby takes over.

Earlier promises ignore it; it has its own (`oracle.epilogues`).
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import trio

from storage.records.identity import Millis
from storage.sqlite.engine import DATABASE
from tests.simulation.afterwards import Afterwards
from tests.simulation.bending import bend
from tests.simulation.clients import Caller, CutOff, Frames
from tests.simulation.origins.texts import EPOCH
from tests.simulation.standby import AWAY, Standby, put_in_place
from tests.simulation.trace import Trace
from tests.simulation.world import REFUSED, Machine
from tests.support.in_loop import Disk

SOON = 60.0
AFTERWARDS = 1800.0
DAMAGED = "is damaged"
DARK = 900.0
"""Seconds without a replica before the service dies and its standby takes over."""
FENCED = 60.0
"""Seconds after a take-over within which the other service has stopped writing."""


@dataclass(slots=True)
class Epilogue:
    """An operator in trouble. reborn: ends the life, does something, and waits for the next one to answer. kill: ends
    the life for some seconds.
    """

    machine: Machine
    caller: Caller
    trace: Trace
    dice: random.Random
    reborn: Callable[[Callable[[], None]], Awaitable[None]]
    kill: Callable[[float], None]
    stands: Callable[[], bool]
    standby: Standby | None = None
    copy: sqlite3.Connection | None = None

    async def play(self, kind: str) -> Afterwards:
        disk = self.machine.disk
        seen = Afterwards(kind, _bodies(disk))
        if kind == "restore":
            await self._restore(seen)
        elif kind.startswith("take over"):
            await self._take_over(seen, is_alive=kind.endswith("alive"))
        else:
            table = kind.rsplit(maxsplit=1)[-1]
            if kind.startswith("at rest"):
                await self.reborn(lambda: self._bend(table))
            else:
                self._bend(table)
            await self._look_around(seen)
        return seen

    def back_up(self) -> None:
        self.copy = sqlite3.connect(":memory:")
        self.machine.disk.connection.backup(self.copy)

    def _bend(self, table: str) -> None:
        number = bend(self.machine.disk.connection, table, self.dice)
        self.trace.note("disk", "has a bent page", page=number, table=table)

    async def _look_around(self, seen: Afterwards) -> None:
        """Read everything and collect the reports of damage; wait, and check whether the service keeps running."""
        await self._read_all(seen)
        await trio.sleep(SOON)
        seen.ready = await self._ask("/readyz")
        loud = [event for _, event in self.machine.told]
        if "storage.damaged" in loud:
            seen.told["log"] = "storage.damaged"
        if REFUSED in loud:
            seen.told["start"] = REFUSED
        await trio.sleep(AFTERWARDS)
        status, _ = await self._ask("/healthz")
        seen.stood = self.stands() and status == 200

    async def _read_all(self, seen: Afterwards) -> None:
        since = ""
        while True:
            status, text = await self._ask(f"/v1/events?limit=20&order=asc{since}")
            if not status:
                return
            if status != 200:
                if DAMAGED in text:
                    seen.told["history"] = text
                return
            page = json.loads(text)
            for event in page["events"]:
                seen.read.append((event["id"], event))
            if page["next_cursor"] is None:
                seen.whole = True
                return
            since = f"&cursor={page['next_cursor']}"

    async def _restore(self, seen: Afterwards) -> None:
        """Restore the backup; resume after a lost event."""
        newest = max(seen.known)
        await self.reborn(self._put_back)
        await self._resume(seen, newest)

    async def _take_over(self, seen: Afterwards, *, is_alive: bool) -> None:
        """Let the standby take over from a live service, or from one that died without reaching the replica."""
        disk, standby = self.machine.disk, self.standby
        assert standby is not None
        standby.following.cancel()
        if not is_alive:
            standby.host.suffer(AWAY, DARK)
            await trio.sleep(DARK - 1)
            self.kill(SOON)
            await trio.sleep(2)
        taken = await standby.take_over(Millis(int(1000 * self.machine.wall())))
        seen.owed = standby.committed(taken.at / 1000 - EPOCH)
        if is_alive:
            await trio.sleep(FENCED)
            seen.known = _bodies(disk)
            await trio.sleep(AFTERWARDS)
            seen.unfenced = len(_bodies(disk).keys() - seen.known.keys())
        seen.known = _bodies(disk)
        await self.reborn(lambda: put_in_place(disk, standby.data / DATABASE))
        await self._resume(seen, max(seen.known))

    async def _resume(self, seen: Afterwards, newest: str) -> None:
        disk = self.machine.disk
        seen.kept = _bodies(disk)
        with trio.move_on_after(AFTERWARDS * 4):
            await self._stream(seen, newest)
        seen.new = {id: body for id, body in _bodies(disk).items() if id not in seen.kept}
        seen.stood = self.stands()

    def _put_back(self) -> None:
        disk = self.machine.disk
        epoch = disk.epoch
        assert self.copy is not None, "the program was too short for a backup"
        self.copy.backup(disk.connection)
        self.copy.close()
        disk.connection.execute("UPDATE fact SET value=? WHERE name='epoch'", (epoch,))
        self.machine.step_clock(-2 * 3600.0)
        self.trace.note("operator", "puts a backup back")

    async def _stream(self, seen: Afterwards, newest: str) -> None:
        while True:
            since = seen.streamed[-1][0] if seen.streamed else newest
            try:
                async with self.caller.stream(f"/v1/stream?since={since}", {}) as response:
                    headers = {name.lower(): value for name, value in response.headers}
                    seen.replay_from = seen.replay_from or headers.get(b"sanderling-replay-from", b"").decode()
                    frames = Frames("sse")
                    async for chunk in response.aiter_stream():
                        seen.streamed += frames.feed(chunk)
            except CutOff:
                pass
            await trio.sleep(3)

    async def _ask(self, path: str) -> tuple[int, str]:
        for _ in range(20):
            try:
                status, content = await self.caller.ask("GET", path)
            except CutOff:
                await trio.sleep(5)
            else:
                return status, content.decode()
        return 0, ""


def _bodies(disk: Disk) -> dict[str, bytes]:
    """Return the log, by id."""
    return {json.loads(event.body)["id"]: event.body for event in disk.events()}
