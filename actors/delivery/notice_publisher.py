"""Writes the notices that destinations owe to the log: failing or disabled.

A destination's change of state and its owed notice are one write; the notice and the end of the debt are another (see
`Harvest.debtor`). So each is reported once, over any crash; in between this keeps trying. It never waits for the
recorder, because the recorder's commits come back here as deliveries.
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
"""Seconds until an uncommitted notice is sent again."""


class NoticePublisher:
    """Tracks the debtors. `record` is the recorder's mailbox, and raises MailboxFull."""

    def __init__(self, world: World, storage: Storage, record: Callable[[Record], None], base_url: str) -> None:
        self._world, self._storage, self._record, self._base_url = world, storage, record, base_url
        self._debtors: dict[str, None] = {}
        self._woken = trio.Event()

    def __repr__(self) -> str:
        return f"<NoticePublisher for {len(self._debtors)} destinations>"

    def owes(self, destination: str) -> None:
        """Mark a destination as owing a notice. Never waits."""
        self._debtors[destination] = None
        self._woken.set()

    async def run(self) -> None:
        """Send owed notices, those of earlier runs first, until cancelled."""
        for destination in await self._storage.alerts.destinations():
            if destination.owes is not None:
                self.owes(destination.id)
        while True:
            self._woken = trio.Event()
            for id in list(self._debtors):
                with suppress(*STANDSTILL):  # it still owes: retry later
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
