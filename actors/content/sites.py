"""What the pages of one host have in common: their furniture, whatever mark-up it wears.

A block that stands on several different pages of a host is a menu, a banner or a footer. (What comes between two such
blocks is not always: on news fronts it cost more changes than it kept alarms away.) Who watches a host gathers the keys
of its pages' memories (`told_keys`), makes the shared ones of them now and then (`shared_keys`) and sends them along
with each look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from actors.content.memory import decode_memory, unpack_keys
from actors.content.pages import PageReading
from actors.content.traits import ASIDE, FURNITURE, TOP

MOST_SHARED = 1_000
_TWINS = 0.5
_SHARE = 0.5
_MOST = 0.9


def told_keys(memory: bytes) -> tuple[str, ...]:
    """Return the keys of the blocks that a stored page memory has as content; () for one that cannot be read."""
    decoded = decode_memory(memory)
    return unpack_keys(decoded.keys) if decoded is not None else ()


def shared_keys(pages: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the keys that at least two pages, and half of them, have in common, of pages that are different ones.

    Two addresses of one page share its content, so of pages that are half the same only one counts.
    """
    different: list[frozenset[str]] = []
    for keys in map(frozenset, pages):
        if keys and all(len(keys & other) < _TWINS * len(keys | other) for other in different):
            different.append(keys)
    counts = Counter(key for keys in different for key in keys)
    least = max(2, _SHARE * len(different))
    return tuple(sorted(key for key, count in counts.most_common(MOST_SHARED) if count >= least))


def with_shared(reading: PageReading, shared: Sequence[str]) -> PageReading:
    """Return the reading with what the host's pages share marked as furniture; as it is where that is nearly all."""
    known = frozenset(shared)
    rows = list(zip(reading.keys, reading.traits, reading.blocks, strict=True))
    words = [0, 0]
    for key, trait, text in rows:
        if not trait & ASIDE:
            words[key in known] += text.count(" ") + 1
    if words[True] > _MOST * sum(words):
        return reading
    traits = (trait | FURNITURE if key in known and not trait & TOP else trait for key, trait, _ in rows)
    return replace(reading, traits=tuple(traits))
