"""Which entries of a feed have been seen, in 16 bytes each. Pure.

A record is the 64-bit hash of an entry's identity and the 64-bit fingerprint of what it said. Records lie in the
order in which they were last in the document, the longest absent first, so that an entry that a feed drops and adds
again is still known, while the memory of a feed stays bounded: at least `KEPT` records, at least twice what the
document holds. The stored form starts with a byte that is its version and the feed's manner of changing, so that
"nothing seen yet" (empty) and "an empty feed was seen" differ.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

KEPT = 1_000
_RECORD = struct.Struct(">8s8s")


class Manner(IntEnum):
    """How the feed has changed of late."""

    PLAIN = 1
    HELD = 2
    """Its last change made it new as a whole, and was held."""
    TURNS_OVER = 3
    """It is new as a whole again and again: that is its pace."""


class Comparison(NamedTuple):
    """What a document holds against what was seen: positions in it, and the memory to keep (None: as it is)."""

    new: tuple[int, ...]
    updated: tuple[int, ...]
    memory: bytes | None


def compare(memory: bytes, entries: Sequence[tuple[str, str]]) -> Comparison:
    """Compare a document's entries, as (identity, fingerprint as 16 hex digits), with the memory.

    An identity that occurs twice counts once, at its first place. Raises ValueError for a memory of another version.
    """
    seen = _unpack(memory)
    new: list[int] = []
    updated: list[int] = []
    present: dict[bytes, bytes] = {}
    for position, (identity, fingerprint) in enumerate(entries):
        key, print_ = _key(identity), bytes.fromhex(fingerprint)
        if key in present:
            continue
        present[key] = print_
        if key not in seen:
            new.append(position)
        elif seen[key] != print_:
            updated.append(position)
    if memory and not new and not updated:
        return Comparison((), (), None)
    absent = {key: print_ for key, print_ in seen.items() if key not in present}
    return Comparison(tuple(new), tuple(updated), _pack(absent, present))


def manner_of(memory: bytes) -> Manner:
    """Return the manner that a memory notes. Raises ValueError for a memory of another version."""
    if not memory:
        return Manner.PLAIN
    try:
        return Manner(memory[0])
    except ValueError:
        raise ValueError(f"a memory of entries in an unknown form ({memory[:1]!r})") from None


def with_manner(memory: bytes, manner: Manner) -> bytes:
    """Return a memory that notes a manner."""
    return bytes([manner]) + memory[1:]


def _key(identity: str) -> bytes:
    return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _unpack(memory: bytes) -> dict[bytes, bytes]:
    if not memory:
        return {}
    manner_of(memory)
    return dict(_RECORD.iter_unpack(memory[1:]))


def _pack(absent: dict[bytes, bytes], present: dict[bytes, bytes]) -> bytes:
    room = max(KEPT, 2 * len(present)) - len(present)
    kept = list(absent.items())[-room:] if room else []
    return bytes([Manner.PLAIN]) + b"".join(_RECORD.pack(*record) for record in (*kept, *present.items()))
