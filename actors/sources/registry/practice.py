"""The registry's part in practice: adds the practice sources, changes one and requests a check, removes them.

Their record says "practice": this process makes their bodies (`looks.looking`), no limit counts them (`SourceIndex`),
and only alerts that name them get their events. Otherwise they are checked like any source. The record decides, never
the URL: a redirect, a feed link or a key holder may name that URL, and then the guard judges it. No API sets the mark;
only this module does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from actors.egress.failures import CheckFailed
from actors.errors import Conflict, NotFound, TooSoon
from actors.messages.requests import NewSource
from actors.messages.views import PracticeChange, SourceView
from actors.practice import DOCUMENTS, PRACTICE_KINDS, PracticeKind, address, kind_of_url
from actors.sources.checks.fetch import NO_VALIDATORS, practice_response
from actors.sources.detection import Classification, detect_body, detection_of, domain_error
from actors.sources.index import SourceIndex
from actors.sources.ports import LiveSource, Ports, new_version
from actors.sources.registry.service import SourceService
from storage.records.identity import Millis
from storage.records.tiers import SourceType

PACE: Final = 3_000  # milliseconds between changes of one document
PATIENCE: Final = 30_000
"""Milliseconds that a change waits for the check of the previous one, so that each gets an event."""


class PracticeService:
    """Handles the messages about practice."""

    def __init__(self, ports: Ports, table: SourceIndex, service: SourceService) -> None:
        self._ports, self._table, self._service = ports, table, service

    async def show(self, *, start: bool) -> Sequence[SourceView]:
        """Return the practice sources at this address; with `start`, make both. Raises Conflict, StorageError."""
        if start:
            lives = [await self._ready(what) for what in PRACTICE_KINDS]
        else:
            found = {live.source.url: live for live in self._table.practice()}
            lives = [found[url] for url in map(self._address, PRACTICE_KINDS) if url in found]
        return [self._table.describe(live.source.id) for live in lives]

    async def change(self, what: PracticeKind) -> PracticeChange:
        """Change a document and request a check. Raises TooSoon, Conflict, StorageError."""
        live = await self._ready(what)
        async with self._service.locks.hold(live.source.url):
            live = self._table.get(live.source.id)
            now = self._ports.world.now()
            _check(live, now)
            step = (live.source.practice or 0) + 1
            after = replace(live.source, practice=step, updated_at=now)
            version = new_version(self._ports.world)
            await self._ports.storage.sources.update(after, self._ports.storage.lease, version, before=live.source)
            live.source, live.requested_at, live.version = after, now, version
            self._table.request_check(live)
            return PracticeChange(self._table.describe(after.id), DOCUMENTS[what].says(step))

    async def end(self) -> None:
        """Delete the practice sources, including those of a former address of the service."""
        for live in self._table.practice():
            await self._drop(live)

    async def _drop(self, live: LiveSource) -> None:
        with suppress(NotFound):  # another caller was quicker
            await self._service.delete(live.source.id)

    def _address(self, what: PracticeKind) -> str:
        return address(self._ports.settings.public_url(), what)

    async def _ready(self, what: PracticeKind) -> LiveSource:
        """Return the practice source of a document; make it if missing. Raises Conflict, Unprocessable."""
        url = self._address(what)
        for live in self._table.practice():
            if live.source.url == url:
                return live
            if kind_of_url(live.source.url) == what:
                await self._drop(live)  # of another address
        async with self._service.locks.hold(url):
            existing = await self._ports.storage.sources.by_url(url)
            if existing is None:
                return await self._make(url)
            if existing.practice is None:
                raise Conflict(f"{url} is watched as an ordinary source: delete that first")
            return self._table.get(existing.id)

    async def _make(self, url: str) -> LiveSource:
        now, fetched = self._ports.world.now(), practice_response(url, 0, NO_VALIDATORS)
        try:
            finding = await detect_body(self._ports, fetched)
        except CheckFailed as failure:
            raise domain_error(failure, url) from None
        type: SourceType = "feed" if finding.type == "feed" else "html"
        detection = detection_of(type, None, finding, fetched)
        classification = Classification(type, detection, url, fetched, now, feed=finding.feed)
        new = NewSource(url, tags=(f"practice:{kind_of_url(url)}",), schedule="7d")
        live = self._service.make(url, new, classification)
        live.source = replace(live.source, practice=0)
        await self._service.begin(live, classification)
        self._table.put(live)
        return live


def _check(live: LiveSource, now: Millis) -> None:
    """Raise Conflict for a paused source; TooSoon after the last change, and while that waits for its check."""
    if not live.source.enabled:
        raise Conflict("the practice source is paused: resume it first")
    if now < live.requested_at + PACE:
        wait = -((now - live.requested_at - PACE) // 1000)
        raise TooSoon(f"it can be changed once in {PACE // 1000} s: try again in {wait} s", wait)
    if (live.hot.last_look_at or 0) < live.requested_at and now < live.requested_at + PATIENCE:
        raise TooSoon("its last change is still being checked", 2)
