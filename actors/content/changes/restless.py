"""Places whose block is another one at nearly every look: counters, tickers, tips of the day, advertisements.

No word tells a counter from a limit: "12 readers" and "12 users" are alike. How long they stay tells them apart. A
place is restless when something new stood there several times in a row and each time only briefly. What then comes
there is no news until it stays.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from actors.content.changes.memory import MOST_SLOTS, PageMemory, Slot, unpack_keys
from actors.content.changes.replacements import Replacement

BRIEF = 2
"""Looks within which a stay is brief."""
MOST_BRIEF = 2
"""Brief stays in a row that make a place restless."""


def restless(slots: Iterable[Slot]) -> frozenset[str]:
    """Return the keys of the restless places."""
    return frozenset(slot.key for slot in slots if slot.brief >= MOST_BRIEF)


def remark_of(memory: PageMemory) -> str:
    """Return in a sentence that a page has restless places, "" when it has none."""
    count = len(restless(memory.slots))
    if not count:
        return ""
    places = "One place on the page shows" if count == 1 else f"{count} places on the page show"
    return f"{places} something else at nearly every look: what comes there is told when it stays."


def after(memory: PageMemory, replaced: Iterable[Replacement], came: Container[str], number: int) -> tuple[Slot, ...]:
    """Return what is known of places after the look of this number. came: keys of blocks that came at this very look.

    Something that was told there once is nothing new, but its coming back ends a stay as well.
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
