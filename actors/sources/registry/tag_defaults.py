"""The defaults of tags for all sources of this node: read at the start, and after each change."""

from __future__ import annotations

import trio
from msgspec.structs import replace

from actors.errors import Conflict, NotFound, Stale
from actors.messages.requests import defaults_of
from actors.messages.sources import SetTagDefaults
from actors.sources.index import SourceIndex
from actors.sources.page.preview import PagePart, check_selectors
from actors.sources.ports import Ports
from actors.sources.registry.validation import check_hours
from storage.records.identity import Millis
from storage.records.revision import NOTHING, is_expected
from storage.records.source import MOST_TAGGED, TagDefaults


class TagDefaultsService:
    """Keeps the table of tags (`Ports.tags`) equal to storage, and applies it to the sources."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self._ports, self._table = ports, table
        self._revision = -1
        self._reading = trio.Lock()

    async def set(self, message: SetTagDefaults) -> TagDefaults | None:
        """Store a tag's defaults and apply them, even if there is nothing left to store: a retry may need that. Raises
        as SetTagDefaults does, StorageError.
        """
        settings, store = message.settings, self._ports.storage.tag_defaults
        if settings is not None:
            check_hours(settings.hours)
            await check_selectors(self._ports, PagePart(settings.selector, settings.ignore))
            if len(await store.all()) >= MOST_TAGGED and await store.get(message.tag) is None:
                raise Conflict(f"{MOST_TAGGED} tags have defaults, the most possible: delete those of another tag")
        defaults = await store.edit(message.tag, lambda old: changed(old, message, self._ports.world.now()))
        await self.read()
        return defaults

    async def follow(self, revision: int) -> None:
        """Read them again if any node has changed one since `revision`. Raises StorageError."""
        if revision != self._revision:
            await self.read()

    async def read(self) -> int:
        """Read them and apply them to all sources; return how many changed. Raises StorageError."""
        async with self._reading:
            stored = self._ports.storage.tag_defaults
            revision = await stored.revision()  # first, so that a change during the reading is read again
            defaults = await stored.all()
            if not self._ports.tag_table.replace_all(defaults):
                changed = 0
            else:
                changed = await self._table.reapply_defaults()
                self._ports.world.log("registry.inherits_anew", tags=len(defaults), sources=changed)
            self._revision = revision
            return changed


def changed(old: TagDefaults | None, message: SetTagDefaults, now: Millis) -> TagDefaults | None:
    """Return a tag's new defaults; without a difference the old ones, with their time. Raises Stale, NotFound."""
    if not (message.expected in (None, NOTHING) if old is None else is_expected(old, message.expected)):
        raise Stale
    if message.settings is None:
        if old is None:
            raise NotFound(f"the tag {message.tag} has no defaults")
        return None
    managed = {} if old is None else {"managed": old.managed}
    defaults = TagDefaults(message.tag, now, updated_by=message.by, **managed | defaults_of(message.settings))
    is_same = old is not None and replace(defaults, updated_at=old.updated_at, updated_by=old.updated_by) == old
    return old if is_same else defaults
