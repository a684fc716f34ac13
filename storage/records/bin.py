"""Webhook bins: an address that takes any request, and what was sent to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from storage.records.identity import Millis

_OVERHEAD = 256
"""Bytes that even an empty capture takes."""


class Bin(Struct, frozen=True):
    """A bin. Who knows its `token`, the unguessable part of its address, may send to it."""

    id: str
    token: str
    created_at: Millis
    expires_at: Millis

    def __repr__(self) -> str:
        """Name the bin without its token."""
        return f"Bin({self.id!r}, expires_at={self.expires_at})"


class Capture(Struct, frozen=True):
    """A request as it arrived. headers: in order, names in lower case, as Latin-1. body: what of it is kept.

    size: bytes of the body that arrived. truncated: there was, or was to come, more than is kept.
    """

    id: str
    received_at: Millis
    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    size: int
    truncated: bool = False

    @property
    def weight(self) -> int:
        """Return the bytes that it counts for in the room of all captures."""
        named = sum(len(name) + len(value) for name, value in self.headers)
        return _OVERHEAD + len(self.body) + len(self.path) + len(self.query) + named


class StoredCapture(NamedTuple):
    """A capture and its number, by which a list goes on."""

    number: int
    capture: Capture


class CapturePage(NamedTuple):
    """Captures, newest first, and whether there are older ones."""

    captures: Sequence[StoredCapture]
    more: bool
