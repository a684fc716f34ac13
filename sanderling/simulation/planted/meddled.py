"""Bugs that show when users change sources while they are looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any
from unittest.mock import patch

import trio
from msgspec.structs import replace

from actors.egress.hosts import Hosts
from actors.egress.turns import ASKED, Claim
from actors.messages.sources import AddSource, SourceEdit
from actors.messages.views import Added
from actors.source.actor import PolledSource
from actors.source.desk import Desk
from actors.source.keeper import Keeper
from storage.records.identity import SourceId
from storage.records.source import Harvest, HotState, SourceState
from storage.sqlite import log
from storage.sqlite.writer import Transaction


def harvests_of_any_version() -> AbstractContextManager[Any]:
    """A harvest is taken whatever the state is that it was computed from: a stopped look's, and the next one's too."""
    right = log._States.take

    def wrong(self: log._States, transaction: Transaction, state: SourceState) -> Any:
        refused = right(self, transaction, state)
        if isinstance(refused, int) or refused is None:
            return refused
        known = self._rows.get(state.source)
        stored = transaction.execute(log._KEY, (state.source,)).fetchone()[1] if known is None else known[1].version
        return right(self, transaction, replace(state, since=stored))

    return patch.object(log._States, "take", wrong)


def version_read_after_the_look() -> AbstractContextManager[Any]:
    """A harvest names the version that is stored when it is handed in, not the one that its look began with."""
    right = PolledSource._send

    async def wrong(self: PolledSource, harvest: Harvest) -> None:
        stored = await self._ports.storage.sources.get(harvest.source)
        if stored is not None and harvest.state is not None:
            harvest = replace(harvest, state=replace(harvest.state, since=stored.version))
        await right(self, harvest)

    return patch.object(PolledSource, "_send", wrong)


def lazy_states_never_saved() -> AbstractContextManager[Any]:
    """What a look without news has learnt is kept in memory, and nobody saves it."""

    def wrong(self: PolledSource, hot: HotState) -> None:
        right(self, hot)
        self._live.unsaved = False

    right = PolledSource._keep
    return patch.object(PolledSource, "_keep", wrong)


def probes_left_half_open() -> AbstractContextManager[Any]:
    """A probe that is called off in the middle is waited for for ever."""

    @asynccontextmanager
    async def wrong(self: Hosts, host: str, claim: Claim = Claim()) -> AsyncIterator[None]:  # noqa: B008  # frozen
        state = self._of(host)
        self._known.move_to_end(self._twins.one(host))
        probing = self._admit(host, state)
        await self._wait_turn(host, state, ASKED if probing else claim, probing)
        try:
            yield
        finally:
            state = state.now()
            state.busy -= 1
            self._call(state)
            state.used_at = trio.current_time()

    return patch.object(Hosts, "turn", wrong)


def deleted_from_the_table_only() -> AbstractContextManager[Any]:
    """A deleted source is on no list any more, and goes on."""

    async def wrong(self: Desk, source: SourceId, expected: Any = None) -> None:
        self._table.get(source)
        self._table.drop(source)

    return patch.object(Desk, "delete", wrong)


def frames_lost_at_a_stop() -> AbstractContextManager[Any]:
    """What a push source that is stopped had not had committed is left to nobody."""

    def wrong(self: Keeper) -> None:
        self._intake.drop()

    return patch.object(Keeper, "leave", wrong)


def import_forgets_an_edit() -> AbstractContextManager[Any]:
    """A list that is imported gives its tags to what is there already, over those that its user has given."""
    right = Desk.add

    async def wrong(self: Desk, wish: AddSource) -> Added:
        added = await right(self, wish)
        if not added.created and wish.tags:
            await self.edit(added.view.source.id, SourceEdit(tags=wish.tags), None)
        return added

    return patch.object(Desk, "add", wrong)
