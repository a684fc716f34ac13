"""Adds whole lists of sources in the background: a few at a time, alternating hosts, each classified as usual.

One list at a time, in memory: a restart loses the rest. Importing the same list again adds the missing sources, since
URLs identify them. A durable queue would need a table and a clean-up for something rare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, assert_never
from urllib.parse import urlsplit

import trio
from msgspec.structs import replace

from actors.errors import Busy, Conflict, DomainError, LibraryFull, UrlRefused
from actors.messages.requests import NewSource
from actors.messages.sources import AddSource, RegistryMessage
from actors.messages.views import AddedSource
from actors.messages.workers import BeginImport, Imported, Importing, ImportMessage, ShowImport, StopImport
from actors.sources.ordering import in_turns
from actors.world import World
from storage.errors import StorageError
from supervision import Child, Mailbox, Reply, Stopping, Unanswered

AT_ONCE: Final = 8  # concurrent lines: a quarter of the registry's concurrency
STOPPED: Final = "the import was stopped before its turn came"


@dataclass(slots=True)
class _Running:
    """The current or the last list. Cancel `scope` to stop it."""

    progress: Importing
    rows: list[Imported]
    scope: trio.CancelScope

    def snapshot(self) -> Importing:
        return replace(self.progress, rows=tuple(self.rows))


class Importer:
    """The actor that adds lists of sources."""

    def __init__(self, world: World, registry: Mailbox[RegistryMessage], mailbox: Mailbox[ImportMessage]) -> None:
        self._world, self._registry, self._mailbox = world, registry, mailbox
        self._current: _Running | None = None

    async def run(self, child: Child) -> None:
        child.ready()
        async with trio.open_nursery() as nursery:
            while True:
                message = await self._mailbox.receive()
                with message.reply:
                    self._serve(message, nursery)

    def _serve(self, message: ImportMessage, nursery: trio.Nursery) -> None:
        match message:
            case BeginImport():
                if self._current is not None and self._current.progress.ended_at is None:
                    message.reply.fail(Conflict("A list is being imported: wait for its end, or stop it."))
                    return
                progress = Importing(self._world.new_id(), self._world.now())
                self._current = _Running(progress, [Imported(line) for line in message.lines], trio.CancelScope())
                nursery.start_soon(self._import, self._current)
                message.reply.answer(self._current.snapshot())
            case ShowImport():
                message.reply.answer(None if self._current is None else self._current.snapshot())
            case StopImport():
                if self._current is not None:
                    self._current.scope.cancel()
                message.reply.answer(None)
            case _:
                assert_never(message)

    async def _import(self, running: _Running) -> None:
        rows = running.rows
        waiting = in_turns(range(len(rows)), lambda number: urlsplit(rows[number].line.url).netloc)
        try:
            with running.scope:
                async with trio.open_nursery() as nursery:
                    for _ in range(min(AT_ONCE, len(rows))):
                        nursery.start_soon(self._work, running, waiting)
        finally:
            for number, row in enumerate(rows):
                if row.status == "waiting":
                    rows[number] = replace(row, status="failed", says=STOPPED)
            running.progress = replace(running.progress, ended_at=self._world.now())
            self._world.log("import.ended", lines=len(rows), **running.snapshot().counts())

    async def _work(self, running: _Running, waiting: Iterator[int]) -> None:
        for number in waiting:
            running.rows[number] = row = await self._add(running.rows[number])
            if row.full:
                running.scope.cancel()

    async def _add(self, row: Imported) -> Imported:
        line = row.line

        def message(reply: Reply[AddedSource]) -> AddSource:
            new = NewSource(line.url, tags=line.tags, title=line.title, verify="later")
            return AddSource(new, reply, reads=True)  # only the dashboard imports

        try:
            while True:
                try:
                    added = await self._registry.ask(message)
                    break
                except Busy as busy:  # other requests come first
                    await trio.sleep(busy.retry_after)
        except (DomainError, StorageError, Unanswered, Stopping) as error:
            return replace(row, status="failed", says=reason_of(error), full=isinstance(error, LibraryFull))
        source, status = added.view.source, "new" if added.created else "there"
        return replace(row, status=status, source=source.id, says=source.detection.evidence)


def reason_of(error: Exception) -> str:
    match error:
        case UrlRefused():
            return error.words
        case DomainError():
            return error.detail
        case Unanswered() | Stopping():
            return "the service is busy or stopping, and it is not known whether it was done: call again"
    return "the storage accepts no writes now: call again"
