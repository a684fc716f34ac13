"""Bugs that show when users change sources during checks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.messages.requests import SourcePatch
from actors.messages.sources import AddSource
from actors.messages.views import AddedSource
from actors.sources.push.actor import Committer
from actors.sources.registry.service import SourceService
from storage.records.identity import SourceId
from storage.records.source import SourceState
from storage.sql.stores import log
from storage.sql.writing import Transaction


def harvests_of_any_version() -> AbstractContextManager[Any]:
    """A harvest is accepted whatever state it began with: a stopped check's, and then the next one's, too."""
    right = log._States.take

    def wrong(self: log._States, transaction: Transaction, state: SourceState) -> Any:
        refused = right(self, transaction, state)
        if isinstance(refused, int) or refused is None:
            return refused
        known = self._rows.get(state.source)
        stored = transaction.execute(log._KEY, (state.source,)).fetchone()[1] if known is None else known[1].version
        return right(self, transaction, replace(state, since=stored))

    return patch.object(log._States, "take", wrong)


def deleted_from_the_table_only() -> AbstractContextManager[Any]:
    """A deleted source leaves every list, but keeps running."""

    async def wrong(self: SourceService, source: SourceId, expected: Any = None) -> None:
        self._table.get(source)
        self._table.drop(source)

    return patch.object(SourceService, "delete", wrong)


def frames_lost_at_a_stop() -> AbstractContextManager[Any]:
    """A stopped push source drops its uncommitted frames."""

    def wrong(self: Committer) -> None:
        self._pipeline.take_pending()

    return patch.object(Committer, "stop", wrong)


def import_forgets_an_edit() -> AbstractContextManager[Any]:
    """An import puts its tags on existing sources, over those of a user."""
    right = SourceService.add

    async def wrong(self: SourceService, message: AddSource) -> AddedSource:
        added = await right(self, message)
        if not added.created and message.new.tags:
            await self.edit(added.view.source.id, SourcePatch(tags=message.new.tags), None)
        return added

    return patch.object(SourceService, "add", wrong)
