"""Restless places of a page, and furniture that the pages of one host share.

Words do not tell a counter from a limit: "12 readers" and "12 users" are alike. Their duration does. A place is
restless if several new blocks in a row stayed only briefly. A later block there is reported only once it stays.

Measured on 80 hosts with several pages: *two* pages usually share real changes (a headline on the front page and in its
section, a release on three project pages). Ignoring those lost ten changes for each false alarm avoided. So furniture
must be on nearly all of at least four different pages, and is never a table cell or a page's own heading. It then
weighs nothing when it comes or goes; it stays in the page, as it may be part of its structure. The watcher of a host
collects the keys of its pages' memories (`stored_keys`) and sends those the others share (`shared_keys`) with a check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence

from actors.content.changes.difference import Replacement
from actors.content.changes.memory import MOST_SLOTS, PageMemory, Slot, decode_memory, unpack_keys
from actors.content.pages.traits import CELL, TOP

BRIEF = 2
"""A stay of at most this many checks is brief."""
MOST_BRIEF = 2
"""Brief stays in a row that make a place restless."""


def restless(slots: Iterable[Slot]) -> frozenset[str]:
    return frozenset(slot.key for slot in slots if slot.brief >= MOST_BRIEF)


def nearly(slots: Iterable[Slot], number: int) -> frozenset[str]:
    """Return the places that become restless if their block is replaced at the check with this number."""
    return frozenset(slot.key for slot in slots if slot.brief == MOST_BRIEF - 1 and number - slot.since <= BRIEF)


def remark_of(memory: PageMemory) -> str:
    """Return a sentence on the page's restless places, "" if it has none."""
    count = len(restless(memory.slots))
    if not count:
        return ""
    places = "One place on the page shows" if count == 1 else f"{count} places on the page show"
    return f"{places} another text at nearly every check, which is reported if it stays."


def after(memory: PageMemory, replaced: Iterable[Replacement], came: Container[str], number: int) -> tuple[Slot, ...]:
    """Return the slots after the check with this number. came: keys of blocks added in this check.

    A block that was reported there before is not new, but its return ends a stay as well.
    """
    slots = {slot.key: slot for slot in memory.slots}
    gone = frozenset(unpack_keys(memory.gone))
    for one in replaced:
        if one.key in came and (one.key not in gone or one.slot in slots):
            last = slots.pop(one.slot, Slot(one.slot, 0, memory.told))
            brief = last.brief
            if one.key not in gone:
                brief = last.brief + 1 if number - last.since <= BRIEF else 0
            slots[one.slot] = Slot(one.slot, brief, number)
    return tuple(slots.values())[-MOST_SLOTS:]


LEAST_OTHERS = 3
MOST_TOLD = 600
"""Keys of a page that are compared, from its beginning and its end, where furniture is."""
_TWINS = 0.5
_SHARE = 0.8


def stored_keys(memory: bytes) -> tuple[str, ...]:
    """Return the keys of a stored memory's content blocks, without cells and the page's heading.

    At most `MOST_TOLD`, from both ends of the page; () for an unreadable memory.
    """
    decoded = decode_memory(memory)
    if decoded is None:
        return ()
    rows = zip(unpack_keys(decoded.keys), decoded.traits, strict=False)
    keys = tuple(key for key, trait in rows if not trait & (CELL | TOP))
    return keys if len(keys) <= MOST_TOLD else keys[: MOST_TOLD // 2] + keys[-MOST_TOLD // 2 :]


def shared_keys(others: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the keys that nearly all other pages of the host have in common, if there are enough pages.

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
