"""Readiness of the service: checks by name, the step of its start, and the watch on its storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import trio

from actors.messages.workers import Record, RecorderMessage
from actors.notices import RESTORE, damage_notice
from actors.overseer.overseer import Overseer
from actors.recorder.actor import Recorder
from actors.sources.registry.actor import Registry
from actors.world import World
from storage.records.identity import SERVICE
from storage.records.source import Harvest
from storage.sql.storage import Storage
from supervision import Child, Mailbox, MailboxFull, Reply, State

_STARTING = {
    "log": "opening the log of events",
    "parsers": "starting the workers",
    "deliveries": "reading the destinations",
    "matcher": "reading the alerts",
}
"""The current task of a part until it is ready, for users."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Called, it returns the checks by name, "" where all is well. stopping: whether the service stops."""

    storage: Storage
    recorder: Recorder
    registry: Registry
    overseer: Overseer
    children: Callable[[], Sequence[Child]]
    stopping: Callable[[], bool]

    def __call__(self) -> Mapping[str, str]:
        down = [child.path for child in self.children() if child.state is not State.RUNNING]
        return {
            "storage": self._storage_fault(),
            "recorder": self.recorder.fault(),
            "watching": self.registry.overdue_monitor.fault(),
            "members": self.storage.ownership.isolation(),
            "tree": "" if not down else f"not running: {', '.join(down)}",
            "draining": self._draining(),
        }

    def starting(self) -> str:
        part = next((child.spec.id for child in self.children() if child.state is not State.RUNNING), "")
        if part == "registry":
            return f"reading the sources, {len(self.registry.table):,} so far"
        return _STARTING.get(part, "starting its parts")

    def _storage_fault(self) -> str:
        if self.storage.damage.says:
            return f"{self.storage.damage.says}. {RESTORE}"
        if not self.storage.stands():
            return "the data folder was deleted or replaced while it was in use: put it back, or all since then is lost"
        idle = trio.current_time() - self.storage.writer_moved_at()
        return "" if idle < 30 else f"the writer has not moved for {idle:.0f} s"

    def _draining(self) -> str:
        if self.stopping():
            return "the service is stopping"
        # Nodes drain together: requests and streams must still find a ready one.
        drained = self.overseer.pause_switch.is_drained and not self.storage.ownership.shared
        return "checks are stopped until a person resumes them" if drained else ""


class StorageWatch:
    """`stop` ends the tree, as only a new process can write again; `loss` says why, "" while storage works."""

    def __init__(
        self,
        world: World,
        storage: Storage,
        recorder: Mailbox[RecorderMessage],
        base_url: str,
        stop: Callable[[], None],
    ) -> None:
        self._world, self._storage, self._recorder = world, storage, recorder
        self._base_url, self._stop = base_url, stop
        self._damage_reported = False
        self.loss = ""

    async def run(self, child: Child) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._storage.follow)
            nursery.start_soon(self._report_damage)
            self.loss = await self._storage.wait_ended()
            if self.loss:
                self._world.log("storage.lost", level="error", why=self.loss)
                self._stop()
            await trio.sleep_forever()

    async def _report_damage(self) -> None:
        """Report damage once: in the log lines and, if the log still works, as an event."""
        says = await self._storage.damage.wait()
        if self._damage_reported:
            return
        self._damage_reported = True
        self._world.log("storage.damaged", level="error", says=f"{says}. {RESTORE}")
        report = damage_notice(says, self._base_url, self._world.now())
        with suppress(MailboxFull):  # the line and /readyz must do
            self._recorder.send_nowait(Record(Harvest(SERVICE, (report,), None), Reply()))
