"""Authentication by an API key in a header, and the times of last use.

Keys are 256 random bits, found by their SHA-256, so no comparison leaks timing. Each refusal explains the fix, never
which part of a key was wrong.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from urllib.parse import parse_qsl

import trio
from werkzeug.datastructures import Headers

from api.problems import Refusal
from storage.errors import StorageError
from storage.records.access import ApiKey
from storage.records.identity import Millis
from storage.sql.stores.people import Keys

_KEY = re.compile(r"svc_[A-Za-z0-9_-]{43}", re.ASCII)
_QUERY_NAMES = frozenset(("api_key", "apikey", "api-key", "x-api-key", "key", "token", "access_token", "authorization"))
THROUGH = "sanderling.through"
"""The ASGI scope entry of a request from within: the path of the request that it helps to answer."""


def unauthorized(detail: str) -> Refusal:
    """Return a 401 with the challenge that RFC 9110 requires."""
    return Refusal("unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})


def credential(headers: Headers) -> str | None:
    """Return the key from the headers, or None. Raises Refusal if they contradict each other."""
    found = headers.getlist("X-API-Key")
    for value in headers.getlist("Authorization"):
        scheme, _, word = value.partition(" ")
        if scheme.lower() != "bearer":
            raise unauthorized("The Authorization header must be: Bearer <key>.")
        found.append(word.strip())
    if len(set(found)) > 1:
        raise unauthorized("Two different keys were sent.")
    return found[0] if found else None


def hash_of(key: str) -> str | None:
    """Return the SHA-256 (hex) that a key is stored under, or None if the text cannot be a key."""
    return sha256(key.encode()).hexdigest() if _KEY.fullmatch(key) else None


async def identify(headers: Headers, query: bytes, keys: Keys, now: Millis, path: str) -> ApiKey | None:
    """Return the valid key of a request, or None without a key. Raises Refusal (401), also for a key of other paths."""
    text = credential(headers)
    if text is None:
        if any(name.lower() in _QUERY_NAMES for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)):
            raise unauthorized("A key is read from a header only, never from a query parameter.")
        return None
    hashed = hash_of(text)
    key = await keys.by_hash(hashed, now) if hashed else None
    if key is None:
        raise unauthorized("The key is malformed, unknown, expired or deleted.")
    if path != key.resource and not path.startswith(f"{key.resource}/"):
        raise unauthorized(f"This token opens {key.resource} only.")
    return key


def challenge(metadata: str, *, sent: bool = False, scopes: Sequence[str] = ()) -> str:
    """Return the challenge for OAuth clients (RFC 6750, 3; RFC 9728, 5.1). metadata: a URL or "". sent: with a key."""
    error = "insufficient_scope" if scopes else "invalid_token" if sent else ""
    fields = {"error": error, "scope": " ".join(scopes), "resource_metadata": metadata}
    said = ", ".join(f'{name}="{value}"' for name, value in fields.items() if value)
    return f"Bearer {said}".strip()


EVERY = 60.0  # seconds between saves


class LastUsed:
    """The uses since the last save. Sleeps while there are none."""

    def __init__(self, save: Callable[[Mapping[str, Millis]], Awaitable[None]]) -> None:
        self._save_all = save
        self._used: dict[str, Millis] = {}
        self._some = trio.Event()

    def mark(self, name: str, at: Millis) -> None:
        self._used[name] = at
        self._some.set()

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await trio.sleep(EVERY)
            await self.save()

    async def save(self) -> None:
        """Save the collected times. Losing them is harmless."""
        used, self._used, self._some = self._used, {}, trio.Event()
        if used:
            with trio.move_on_after(1, shield=True), suppress(StorageError):
                await self._save_all(used)
