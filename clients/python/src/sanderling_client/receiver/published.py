"""The published keys to check events with: from a file, or from the signing service."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import trio

from sanderling_client.receiver.terminal import UNREACHABLE, USAGE, Failed
from sanderling_client.verify import Keys, key_set

WELL_KNOWN = "/.well-known/jwks.json"
SET_LIMIT = 1 << 20
AGAIN_AFTER = 10.0
"""Minimum seconds between two reads for unknown keys: anyone can name one."""


class Published:
    """A key set from a file, its URL, or the address of a service, which has it at the well-known path.

    Read at the start, and again when an event names an unknown key, because keys are rotated.
    """

    def __init__(self, place: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._place = _completed(place)
        self._transport = transport
        self._looked_at = -AGAIN_AFTER
        self._looking = trio.Lock()
        self.keys: Keys = {"keys": []}

    async def read(self) -> Keys:
        """Raises Failed."""
        encoded = await self._fetch() if self._place.startswith(("http://", "https://")) else self._load()
        try:
            self.keys = key_set(encoded)
        except ValueError as error:
            raise Failed(f"{self._place}: {error}.", USAGE) from None
        return self.keys

    async def look_for(self, key_ids: Iterable[str]) -> None:
        """Read the set again for missing keys, unless that just happened.

        Concurrent callers wait for one read: after a rotation several deliveries arrive together.
        """
        async with self._looking:
            now = trio.current_time()
            if now - self._looked_at < AGAIN_AFTER or not any(self._lacks(key_id) for key_id in key_ids):
                return
            self._looked_at = now
            with suppress(Failed):  # keep the known keys; the verdict then reports the missing one
                await self.read()

    def _lacks(self, key_id: str) -> bool:
        return all(each.get("kid") != key_id for each in self.keys["keys"])

    async def _fetch(self) -> bytes:
        try:
            async with httpx.AsyncClient(timeout=10.0, transport=self._transport) as client:
                answer = await client.get(self._place)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = str(error) or type(error).__name__
            raise Failed(f"{self._place} can't be reached: {why}.", UNREACHABLE) from None
        if answer.status_code != 200 or len(answer.content) > SET_LIMIT:
            raise Failed(f"{self._place} says {answer.status_code}; a key set was expected.", UNREACHABLE)
        return answer.content

    def _load(self) -> bytes:
        try:
            with Path(self._place).open("rb") as file:
                return file.read(SET_LIMIT)
        except OSError as error:
            raise Failed(f"{self._place}: can't be read: {error.strerror or error}.", USAGE) from None


def _completed(place: str) -> str:
    """Return the set's location; a URL without a path is a service's.

    >>> _completed("http://127.0.0.1:8080"), _completed("keys.json")
    ('http://127.0.0.1:8080/.well-known/jwks.json', 'keys.json')
    """
    if place.startswith(("http://", "https://")) and urlsplit(place).path in ("", "/"):
        return place.rstrip("/") + WELL_KNOWN
    return place
