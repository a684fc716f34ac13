"""The entries of a feed that have been seen, in 20 bytes each. Pure.

A record is the 64-bit hash of an entry's key, 32 bits of where its link leads and the 64-bit fingerprint of what it
said. Records lie in the order in which they were last in the document, the longest absent first, so that an entry
that a feed drops and adds again is still known, while the memory of a feed stays bounded: at least `KEPT` records, at
least twice what the document holds. The stored form starts with a byte that is its version, the feed's manner of
changing and whether it was empty at the last look, so that "nothing seen yet" (no bytes) and "an empty feed was seen"
differ.

An entry with an unknown key may still be known. Its key depends on its neighbours (a guid that two entries share is
no name), so it has aliases; and some feeds give an entry a new guid with each revision, or all of them at a move. So
an unknown entry is taken for a known one that has left the document, when an alias or its link says so: for the link
to say so, the links of the document must tell its entries apart, or the words must be the same and the date not new.
"""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

KEPT = 1_000
_EMPTY = 0x80
"""Bit of the first byte."""
FEWEST = 3
"""Entries below which it says nothing that their links differ."""
DISTINCT = 0.9
_RECORD = struct.Struct(">8s4s8s")
_NO_LINK = bytes(4)


class Manner(IntEnum):
    """How the feed has changed of late."""

    PLAIN = 4
    HELD = 5
    """Its last change made it new as a whole, and was held."""
    TURNS_OVER = 6
    """It is new as a whole again and again: that is its pace."""


class Mark(NamedTuple):
    """What of an entry is compared. fingerprint: 16 hex digits; fresh: it is dated since the last good look."""

    key: str
    fingerprint: str
    link: str = ""
    aliases: tuple[str, ...] = ()
    fresh: bool = False


class Comparison(NamedTuple):
    """What a document holds against what was seen: positions in it, and the memory to keep (None: as it is)."""

    new: tuple[int, ...]
    updated: tuple[int, ...]
    memory: bytes | None


class _Known(NamedTuple):
    link: bytes
    print: bytes


def compare(memory: bytes, entries: Sequence[Mark]) -> Comparison:
    """Compare a document's entries with the memory.

    A key that occurs twice counts once, at its first place. Raises ValueError for a memory of another version.
    """
    seen = _unpack(memory)
    document = _Document(entries)
    old = _Old(seen, document)
    new: list[int] = []
    updated: list[int] = []
    renamed = False
    for position, key, now in document.rows:
        before = seen.get(key)
        if before is None and memory:
            before = old.find(entries[position], now)
            renamed |= before is not None
        if before is None:
            new.append(position)
        elif before.print != now.print:
            updated.append(position)
    if memory and not new and not updated and not renamed:
        return Comparison((), (), None)
    absent = {key: known for key, known in seen.items() if key not in document.present and key not in old.taken}
    return Comparison(tuple(new), tuple(updated), _pack(absent, document.present))


class _Document:
    """The entries of a document, hashed. rows: (position, key, what is to be known) of the first with each key."""

    def __init__(self, entries: Sequence[Mark]) -> None:
        self.present: dict[bytes, _Known] = {}
        self.rows: list[tuple[int, bytes, _Known]] = []
        for position, entry in enumerate(entries):
            key = _key(entry.key)
            if key not in self.present:
                known = _Known(_link(entry.link), bytes.fromhex(entry.fingerprint))
                self.present[key] = known
                self.rows.append((position, key, known))
        links = Counter(known.link for known in self.present.values())
        self._links = links
        named = len(links) - (_NO_LINK in links)
        self.told_apart = len(self.rows) >= FEWEST and named >= DISTINCT * len(self.rows)

    def is_sole(self, link: bytes) -> bool:
        """Return whether one entry of the document alone has this link."""
        return link != _NO_LINK and self._links[link] == 1


class _Old:
    """The known entries that have left the document, each of which may be what an unknown one was before."""

    def __init__(self, seen: dict[bytes, _Known], document: _Document) -> None:
        self._seen = seen
        self._document = document
        self._by_link: dict[bytes, list[bytes]] | None = None
        self.taken: set[bytes] = set()

    def find(self, entry: Mark, now: _Known) -> _Known | None:
        """Return what an entry of unknown key was known as; it then belongs to that entry."""
        for alias in map(_key, entry.aliases):
            known = self._seen.get(alias)
            if known is not None and self._is_free(alias) and self._is_same(known, now):
                return self._take(alias)
        if not self._document.is_sole(now.link):
            return None
        free = [key for key in self._with_link(now.link) if self._is_free(key)]
        if self._document.told_apart and len(free) == 1:
            return self._take(free[0])
        alike = (key for key in free if self._seen[key].print == now.print)
        same = None if entry.fresh else next(alike, None)
        return None if same is None else self._take(same)

    def _is_same(self, known: _Known, now: _Known) -> bool:
        return known.print == now.print or (known.link == now.link and self._document.is_sole(now.link))

    def _is_free(self, key: bytes) -> bool:
        return key not in self._document.present and key not in self.taken

    def _take(self, key: bytes) -> _Known:
        self.taken.add(key)
        return self._seen[key]

    def _with_link(self, link: bytes) -> Sequence[bytes]:
        if self._by_link is None:
            self._by_link = {}
            for key, known in self._seen.items():
                self._by_link.setdefault(known.link, []).append(key)
        return self._by_link.get(link, ())


def manner_of(memory: bytes) -> Manner:
    """Return the manner that a memory notes. Raises ValueError for a memory of another version."""
    if not memory:
        return Manner.PLAIN
    try:
        return Manner(memory[0] & ~_EMPTY)
    except ValueError:
        raise ValueError(f"a memory of entries in an unknown form ({memory[:1]!r})") from None


def was_empty(memory: bytes) -> bool:
    """Return whether the document that a memory is of held no entry."""
    return len(memory) == 1 or bool(memory and memory[0] & _EMPTY)


def with_emptiness(memory: bytes, *, empty: bool) -> bytes:
    """Return a memory that notes whether the document is empty now."""
    return bytes([memory[0] | _EMPTY if empty else memory[0] & ~_EMPTY]) + memory[1:]


def with_manner(memory: bytes, manner: Manner) -> bytes:
    return bytes([manner]) + memory[1:]


def _key(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _link(form: str) -> bytes:
    if not form:
        return _NO_LINK
    return hashlib.blake2b(form.encode("utf-8", "surrogatepass"), digest_size=4).digest()


def _unpack(memory: bytes) -> dict[bytes, _Known]:
    if not memory:
        return {}
    manner_of(memory)
    return {key: _Known(link, print_) for key, link, print_ in _RECORD.iter_unpack(memory[1:])}


def _pack(absent: dict[bytes, _Known], present: dict[bytes, _Known]) -> bytes:
    room = max(KEPT, 2 * len(present)) - len(present)
    kept = list(absent.items())[-room:] if room else []
    # Documents list the newest first, and what is oldest will be absent first.
    rows = (*kept, *reversed(present.items()))
    return bytes([Manner.PLAIN]) + b"".join(_RECORD.pack(key, *known) for key, known in rows)
