"""Places whose block changes on nearly every check: counters, tickers, tips of the day, advertisements.

Words do not tell a counter from a limit: "12 readers" and "12 users" are alike. Their duration does. A place is
restless if several new blocks in a row stayed only briefly. A later block there is reported only once it stays.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from actors.content.changes.memory import MOST_SLOTS, PageMemory, Slot, unpack_keys
from actors.content.changes.replacements import Replacement

BRIEF = 2
"""A stay of at most this many checks is brief."""
MOST_BRIEF = 2
"""Brief stays in a row that make a place restless."""


def restless(slots: Iterable[Slot]) -> frozenset[str]:
    return frozenset(slot.key for slot in slots if slot.brief >= MOST_BRIEF)


def remark_of(memory: PageMemory) -> str:
    """Return a sentence on the page's restless places, "" if it has none."""
    count = len(restless(memory.slots))
    if not count:
        return ""
    places = "One place on the page shows" if count == 1 else f"{count} places on the page show"
    return f"{places} something else at nearly every look: what comes there is told when it stays."


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
