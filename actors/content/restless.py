"""Places whose block is another one at nearly every look: counters, tickers, tips of the day, advertisements.

No word tells a counter from a limit: "12 readers" and "12 users" are alike. How long they stay tells them apart. A
place is restless when something new stood there several times in a row and each time only briefly. What then comes
there is no news until it stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from actors.content.memory import MOST_SLOTS, PageMemory, Slot
from actors.content.replacements import Replacement

BRIEF = 2
"""Looks within which a stay is brief."""
MOST_BRIEF = 2
"""Brief stays in a row that make a place restless."""


def restless(slots: Iterable[Slot]) -> frozenset[str]:
    """Return the keys of the restless places."""
    return frozenset(slot.key for slot in slots if slot.brief >= MOST_BRIEF)


def after(memory: PageMemory, replaced: Iterable[Replacement], fresh: frozenset[str], number: int) -> tuple[Slot, ...]:
    """Return what is known of places after the look of this number.

    fresh: the keys of blocks that came and are new: neither pending from an earlier look nor told once before.
    """
    slots = {slot.key: slot for slot in memory.slots}
    for one in replaced:
        if one.key in fresh:
            last = slots.pop(one.slot, Slot(one.slot, 0, memory.told))
            brief = last.brief + 1 if number - last.since <= BRIEF else 0
            slots[one.slot] = Slot(one.slot, brief, number)
    return tuple(slots.values())[-MOST_SLOTS:]
