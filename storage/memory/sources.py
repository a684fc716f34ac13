"""The watched sources in memory."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from storage.errors import Duplicate
from storage.interface import Lease
from storage.memory.disk import Apply, Disk
from storage.memory.writer import Writer
from storage.records.identity import SourceId
from storage.records.source import Source, SourceState, Watched


class MemorySources:
    """See `storage.interface.Sources`."""

    def __init__(self, disk: Disk, writer: Writer) -> None:
        self._disk, self._writer = disk, writer

    async def add(self, source: Source, state: SourceState, lease: Lease) -> None:
        """Add a source; see Sources."""

        def job() -> tuple[None, Apply]:
            existing = self._by_url(source.url)
            if existing is not None:
                raise Duplicate(existing)

            def apply() -> None:
                self._disk.sources[source.id] = Watched(source, state.hot, state.base or b"")
                insort(self._disk.source_ids, source.id)
                self._disk.urls[source.url] = source.id

            return None, apply

        await self._writer.commit(lease, job)

    async def update(self, source: Source, lease: Lease) -> None:
        """Replace what the user asked for; see Sources."""

        def job() -> tuple[None, Apply]:
            existing = self._by_url(source.url)
            if existing is not None and existing.id != source.id:
                raise Duplicate(existing)
            return None, lambda: self._replace(source)

        await self._writer.commit(lease, job)

    def _replace(self, source: Source) -> None:
        old = self._disk.sources.get(source.id)
        if old is not None:
            self._disk.urls.pop(old.source.url, None)
            self._disk.urls[source.url] = source.id
            self._disk.sources[source.id] = Watched(source, old.hot, old.base)

    async def delete(self, source: SourceId, lease: Lease) -> None:
        """Forget a source and its state; see Sources."""

        def apply() -> None:
            old = self._disk.sources.pop(source, None)
            if old is not None:
                del self._disk.urls[old.source.url]
                self._disk.source_ids.remove(source)

        await self._writer.commit(lease, lambda: (None, apply))

    async def get(self, source: SourceId) -> Watched | None:
        """Return one source; see Sources."""
        return self._disk.sources.get(source)

    async def by_url(self, url: str) -> Source | None:
        """Return the source of a URL; see Sources."""
        return self._by_url(url)

    async def page(self, after: SourceId | None, limit: int) -> Sequence[Watched]:
        """Return sources in id order; see Sources."""
        ids = self._disk.source_ids
        start = 0 if after is None else bisect_right(ids, after)
        return [self._disk.sources[source] for source in ids[start : start + limit]]

    def _by_url(self, url: str) -> Source | None:
        source = self._disk.urls.get(url)
        return None if source is None else self._disk.sources[source].source
