"""Webhook bins: an address that accepts any request, and the requests it received."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from storage.records.identity import Millis

_OVERHEAD = 256  # bytes that an empty capture counts for


class Bin(Struct, frozen=True):
    """A bin. token: the unguessable part of its address; anyone with it can send to the bin."""

    id: str
    token: str
    created_at: Millis
    expires_at: Millis

    def __repr__(self) -> str:
        return f"Bin({self.id!r}, expires_at={self.expires_at})"


class Capture(Struct, frozen=True):
    """headers: in order, lower-case, Latin-1. body: the stored part. size: bytes received. truncated: body is cut."""

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
        """Bytes that count towards the limit on all captures."""
        named = sum(len(name) + len(value) for name, value in self.headers)
        return _OVERHEAD + len(self.body) + len(self.path) + len(self.query) + named


class StoredCapture(NamedTuple):
    """A capture and its number, which is also its list cursor."""

    number: int
    capture: Capture


class CapturePage(NamedTuple):
    """Captures, newest first. more: there are older ones."""

    captures: Sequence[StoredCapture]
    more: bool
