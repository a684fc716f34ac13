"""Furniture that the pages of one host share, whatever mark-up it wears.

Measured on 80 hosts with several pages: what *two* pages share is most often the news itself, a headline on the front
and in its section, a release on three pages of a project, and taking it for furniture cost ten changes for each alarm
it kept away. Only what stands on nearly all of at least four different pages is furniture, and never a table cell or a
page's own heading. It then weighs nothing when it comes or goes; it is not cut out of the page, whose shape it may be.

Who watches a host gathers the keys of its pages' memories (`told_keys`), and sends what the others share
(`shared_keys`) along with a look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from actors.content.changes.memory import decode_memory, unpack_keys
from actors.content.pages.traits import CELL, TOP

LEAST_OTHERS = 3
MOST_TOLD = 600
"""Keys of a page that are compared: furniture stands at its beginning and its end."""
_TWINS = 0.5
_SHARE = 0.8


def told_keys(memory: bytes) -> tuple[str, ...]:
    """Return the keys of the blocks that a stored page memory has as content, without cells and the page's heading.

    At most `MOST_TOLD`, from both ends of the page; () for a memory that cannot be read.
    """
    decoded = decode_memory(memory)
    if decoded is None:
        return ()
    rows = zip(unpack_keys(decoded.keys), decoded.traits, strict=False)
    keys = tuple(key for key, trait in rows if not trait & (CELL | TOP))
    return keys if len(keys) <= MOST_TOLD else keys[: MOST_TOLD // 2] + keys[-MOST_TOLD // 2 :]


def shared_keys(others: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the keys that nearly all the other pages of a page's host have in common, if there are enough of those.

    Two addresses of one page share its content, so of pages that are half the same only one counts.
    """
    different: list[frozenset[str]] = []
    for keys in map(frozenset, others):
        if keys and all(len(keys & other) < _TWINS * len(keys | other) for other in different):
            different.append(keys)
    if len(different) < LEAST_OTHERS:
        return ()
    counts = Counter(key for keys in different for key in keys)
    return tuple(sorted(key for key, count in counts.items() if count >= _SHARE * len(different)))
