"""What a source remembers of its page between looks, packed to a few kilobytes.

*Settled* is the state that was last told (the baseline, then each event's new text): a client that applies every delta
holds exactly these texts. *Recent* are keys of blocks that came or went in other looks without being told, and of
furniture; a block found there is no news when it comes back (A-B-A). Keys are 64 bits each; texts are kept to show what
a block was.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.place_codes import pack_places, unpack_places
from actors.content.places import Place
from actors.content.signs import STORED
from actors.content.traits import CELL

KnownKeys: TypeAlias = tuple[dict[str, str], dict[str, str]]
"""Keys by text: of blocks that are no table cells, and of those that are."""

MOST_TEXT = 192 * 1024
"""Characters of settled text that are kept, some 64 KiB deflated; of the blocks beyond it only the keys are."""
MOST_RECENT = 1_500
MOST_STATES = 16
_KEY = 8
_READ = frozenset({3, 4})
"""Versions that are read. What is no longer read costs each page a change: it gets a new baseline."""


class PageMemory(Struct, frozen=True, array_like=True):
    """The packed form. `texts` is deflated, one block a line; `keys`, `recent`, `held` are 8 bytes a key; `traits` 1.

    `held` are the keys of a page that replaced nearly everything and waits for a second look; `shelf` is the encoded
    memory from before such a page was told, for when the old page comes back. `states` are digests of whole looks.
    `places` (see `place_codes`) are where the blocks stand in tables; a memory of version 3 has none.
    """

    version: int = 4
    """Changes with the canonical form of blocks too, because keys are compared across looks."""
    texts: bytes = b""
    keys: bytes = b""
    traits: bytes = b""
    recent: bytes = b""
    held: bytes = b""
    shelf: bytes = b""
    states: bytes = b""
    places: bytes = b""


class Settled(Struct, frozen=True):
    """The told state, unpacked. There may be fewer texts than keys: the rest was beyond `MOST_TEXT`."""

    texts: tuple[str, ...]
    keys: tuple[str, ...]
    traits: tuple[int, ...]
    places: tuple[Place | None, ...] = ()


def pack(settled: Settled, recent: Sequence[str] = (), shelf: bytes = b"", states: bytes = b"") -> PageMemory:
    """Return the memory of a state that has just been told."""
    texts = "\n".join(_bounded(settled.texts)).encode("utf-8", "replace")
    return PageMemory(
        texts=zlib.compress(texts, 4),
        keys=packed(settled.keys),
        traits=bytes([trait & STORED for trait in settled.traits]),
        recent=packed_recent(recent),
        shelf=shelf,
        states=states or state_of(settled),
        places=pack_places(settled.places, texts),
    )


def state_of(settled: Settled) -> bytes:
    """Return 8 bytes that stand for a whole look, whatever the order of its blocks."""
    return hashlib.blake2b(packed(sorted(settled.keys)), digest_size=_KEY).digest()


def with_state(states: bytes, state: bytes) -> bytes:
    """Return the remembered states with one more, the newest last; the same when it is among them."""
    known = {states[i : i + _KEY] for i in range(0, len(states), _KEY)}
    return states if state in known else (states + state)[-_KEY * MOST_STATES :]


def packed(keys: Iterable[str]) -> bytes:
    """Return keys at 8 bytes each."""
    return bytes.fromhex("".join(keys))


def packed_recent(keys: Sequence[str]) -> bytes:
    """Return the newest `MOST_RECENT` different keys (oldest first; a key that comes again is new again)."""
    newest = list(dict.fromkeys(reversed(keys)))[:MOST_RECENT]
    return packed(reversed(newest))


@lru_cache(maxsize=1)
def settled_of(memory: PageMemory) -> Settled:
    """Return the told state of a memory, without places; the last one is kept, for a look needs it twice."""
    keys = unpack_keys(memory.keys)
    plain = zlib.decompressobj().decompress(memory.texts, 8 * MOST_TEXT) if memory.texts else b""
    texts = tuple(plain.decode("utf-8", "replace").split("\n"))[: len(keys)] if keys else ()
    return Settled(texts, keys, tuple(memory.traits))


def placed(memory: PageMemory) -> Settled:
    """Return the told state with the places of its blocks, which only a look that tells something needs."""
    told = settled_of(memory)
    if not memory.places:
        return told
    return replace(told, places=unpack_places(memory.places, "\n".join(told.texts).encode("utf-8", "replace")))


def known_keys(memory: PageMemory) -> KnownKeys:
    """Return the keys of the told texts: of those in cells, and of the others."""
    told = settled_of(memory)
    known: KnownKeys = ({}, {})
    for text, trait, key in zip(told.texts, told.traits, told.keys, strict=False):
        known[1 if trait & CELL else 0][text] = key
    return known


def unpack_keys(packed: bytes) -> tuple[str, ...]:
    """Return keys as 16 hex digits each."""
    digits = packed.hex()
    return tuple(digits[i : i + 2 * _KEY] for i in range(0, len(digits), 2 * _KEY))


def encode(memory: PageMemory) -> bytes:
    """Return the memory as it is stored."""
    return msgspec.msgpack.encode(memory)


def decode_memory(stored: bytes) -> PageMemory | None:
    """Return a stored memory; None for one of another version or a damaged one: the page then gets a new baseline."""
    try:
        memory = msgspec.msgpack.decode(stored, type=PageMemory)
    except msgspec.MsgspecError:
        return None
    return memory if memory.version in _READ else None


def _bounded(texts: Sequence[str]) -> Sequence[str]:
    room = MOST_TEXT
    if sum(map(len, texts)) + len(texts) <= room:
        return texts
    for n, text in enumerate(texts):
        room -= len(text) + 1
        if room < 0:
            return texts[:n]
    return texts
