"""The defaults of tags, as all sources of this node follow them: read at start, and when somebody has changed one."""

from __future__ import annotations

import trio
from msgspec.structs import replace

from actors.errors import Conflict, NotFound, Stale
from actors.messages.requests import defaults_of
from actors.messages.sources import SetTagDefaults
from actors.sources.index import SourceIndex
from actors.sources.page.preview import Narrowing, check_selectors
from actors.sources.ports import Ports
from actors.sources.registry.checks import check_hours
from storage.records.identity import Millis
from storage.records.revision import NOTHING, Expected, is_expected
from storage.records.tag_defaults import MOST_TAGGED, TagDefaults


class Inheriting:
    """Keeps the table of tags (`Ports.tags`) as it is stored, and the sources by it."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self._ports, self._table = ports, table
        self._revision = -1
        self._reading = trio.Lock()

    def __repr__(self) -> str:
        return f"<Inheriting at revision {self._revision}>"

    async def begin(self) -> None:
        """Read them before the sources are. Raises StorageError."""
        await self.read()

    async def set(self, wish: SetTagDefaults) -> TagDefaults | None:
        """Store what a tag has from now on, and have its sources follow. Raises as SetTagDefaults says, StorageError.

        Whoever asks again after a failure has the sources follow, even if nothing is to be stored any more.
        """
        asked, store = wish.settings, self._ports.storage.tag_defaults
        if asked is not None:
            check_hours(asked.hours)
            await check_selectors(self._ports, Narrowing(asked.selector, asked.ignore))
            if len(await store.all()) >= MOST_TAGGED and await store.get(wish.tag) is None:
                raise Conflict(f"{MOST_TAGGED} tags have defaults, which is the most: take those of another one away")
        now = self._ports.world.now()
        made = await store.edit(wish.tag, lambda old: changed(old, wish, now))
        await self.read()
        return made

    async def follow(self, revision: int) -> None:
        """Read them again if some node has changed one: they are at this revision now. Raises StorageError."""
        if revision != self._revision:
            await self.read()

    async def read(self) -> int:
        """Read them and have all sources follow; return how many are watched otherwise. Raises StorageError."""
        async with self._reading:
            stored = self._ports.storage.tag_defaults
            revision = await stored.revision()  # before: what is changed meanwhile is read once more
            found = await stored.all()
            if not self._ports.tags.take(found):
                changed = 0
            else:
                changed = await self._table.inherit_anew()
                self._ports.world.log("registry.inherits_anew", tags=len(found), sources=changed)
            self._revision = revision
            return changed


def changed(old: TagDefaults | None, wish: SetTagDefaults, now: Millis) -> TagDefaults | None:
    """Return what a tag is to have; what changes nothing leaves it of the age it had. Raises Stale, NotFound."""
    if not _is_expected(old, wish.expected):
        raise Stale
    if wish.settings is None:
        if old is None:
            raise NotFound(f"the tag {wish.tag} has no defaults")
        return None
    kept = {} if old is None else {"managed": old.managed}
    made = TagDefaults(wish.tag, now, updated_by=wish.by, **kept | defaults_of(wish.settings))
    same = old is not None and replace(made, updated_at=old.updated_at, updated_by=old.updated_by) == old
    return old if same else made


def _is_expected(old: TagDefaults | None, expected: Expected) -> bool:
    return expected in (None, NOTHING) if old is None else is_expected(old, expected)
