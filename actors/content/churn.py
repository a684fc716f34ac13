"""Whether a page has really changed: a look against the page's memory. (First form.)"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from actors.content.diff import compare
from actors.content.pages import PageReading
from storage.records.event import Delta, Diff


class PageMemory(Struct, frozen=True, array_like=True):
    """What a page looked like when it last settled."""

    texts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


class Verdict(Struct, frozen=True):
    """What a look is worth."""

    kind: Literal["baseline", "unchanged", "churn", "held", "changed"]
    memory: PageMemory
    diff: Diff | None
    delta: Delta | None
    score: float
    reason: str


def encode(memory: PageMemory) -> bytes:
    """Return the memory as it is stored."""
    return msgspec.msgpack.encode(memory)


def decode_memory(stored: bytes) -> PageMemory:
    """Return a stored memory."""
    return msgspec.msgpack.decode(stored, type=PageMemory)


def judge(memory: PageMemory | None, reading: PageReading) -> Verdict:
    """Return the verdict on a look."""
    now = PageMemory(reading.blocks, reading.keys)
    if memory is None:
        return Verdict("baseline", now, None, None, 0.0, "first look")
    if sorted(memory.keys) == sorted(now.keys):
        return Verdict("unchanged", memory, None, None, 0.0, "the same blocks")
    diff, delta = compare(memory.texts, now.texts)
    return Verdict("changed", now, diff, delta, 1.0, "different blocks")
