"""Puts into the log what destinations owe: the notices that they fail or are disabled.

A destination's change of state and the notice that it owes are one write, and the notice and the end of the debt are
another (see `Harvest.debtor`): so each is told once, over any crash. In between this keeps trying. It never waits for
the recorder, since what the recorder commits comes back here as deliveries.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import trio

from actors.messages.recorder import Record
from actors.notices import of_destination
from actors.world import World
from storage.errors import STANDSTILL
from storage.interface import Storage
from storage.records.identity import SERVICE
from storage.records.source import Harvest
from supervision import MailboxFull, Reply

AGAIN = 30.0
"""Seconds after which it is looked whether a notice has been committed, and if not, sent again."""


class NoticePublisher:
    """Knows the debtors. `record` is the recorder's mailbox, and raises MailboxFull."""

    def __init__(self, world: World, storage: Storage, record: Callable[[Record], None], base_url: str) -> None:
        self._world, self._storage, self._record, self._base_url = world, storage, record, base_url
        self._debtors: dict[str, None] = {}
        self._woken = trio.Event()

    def __repr__(self) -> str:
        return f"<NoticePublisher for {len(self._debtors)} destinations>"

    def owes(self, destination: str) -> None:
        """Hear that a destination owes a notice. Never waits."""
        self._debtors[destination] = None
        self._woken.set()

    async def run(self) -> None:
        """Tell what is owed, first what earlier lives left, until cancelled."""
        for destination in await self._storage.alerts.destinations():
            if destination.owes is not None:
                self.owes(destination.id)
        while True:
            self._woken = trio.Event()
            for id in list(self._debtors):
                with suppress(*STANDSTILL):  # it still owes: again in a while
                    await self._cry(id)
            with trio.move_on_after(AGAIN if self._debtors else float("inf")):
                await self._woken.wait()

    async def _cry(self, id: str) -> None:
        debtor = await self._storage.alerts.destination(id)
        if debtor is None or debtor.owes is None:
            self._debtors.pop(id, None)
            return
        lines = await self._storage.outbox.attempts(id, 1)
        told = of_destination(debtor, lines[0] if lines else None, self._base_url, self._world.now())
        with suppress(MailboxFull):
            self._record(Record(Harvest(SERVICE, (told,), None, debtor=id), Reply()))
