"""Rows that each have a date, such as files or appointments. There a new date is a change.

A lone past date only says when a page was edited, and is not reported. If several entries have one each, the date
belongs to its entry: if one date changes and its entry stays, that entry has changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from actors.content.changes.memory import SettledState
from actors.content.changes.news import COPIES, COPY, Difference, Known, WeighedBlock
from actors.content.changes.sides import Apart
from actors.content.changes.weights import FIGURE, LONGEST_LABEL, NUMBER
from actors.content.wording.canonical import canonical
from actors.content.wording.stamps import is_only_date

_ROWS = 3
"""Lone dates that make a list of dated rows."""
_MOST = 0.5
"""The share of dates that may change at once; if all do, they show the page's current day."""
_GONE = 0.6
"""Weight of a removed date relative to the added one."""
_RULES = frozenset({"", "only a date", "a date by itself", COPY, COPIES})


def weighed_anew(
    difference: Difference, before: SettledState, now: SettledState, apart: Apart, known: Known
) -> Difference:
    """Return the difference with weight for a row's changed date."""
    dates = (one for one in difference.replaced if one.what == "dates" and one.slot not in known.restless)
    found = [one for one in dates if is_only_date(one.before) and is_only_date(one.after)]
    if not found:
        return difference
    dated = _dates(now)
    if len(dated) < _ROWS or len(found) > _MOST * len(dated):
        return difference
    rows = list(difference.blocks)
    at = {(True, i): n for n, i in enumerate(apart.came.positions)}
    at |= {(False, i): n for n, i in enumerate(apart.went.positions, len(at))}
    told = frozenset(before.keys)
    for one in found:
        # The entry is before or after its date, and has stayed.
        beside = (i for i in (one.new - 1, one.new + 1) if 0 <= i < len(now.keys) and i not in dated)
        if any(now.keys[i] in told for i in beside):
            for place, least in (((True, one.new), FIGURE), ((False, one.old), _GONE * FIGURE)):
                rows[at[place]] = _at_least(rows[at[place]], least)
    return replace(difference, blocks=tuple(rows))


def _at_least(block: WeighedBlock, least: float) -> WeighedBlock:
    if block.rule in _RULES:
        return replace(block, score=max(block.score, least), rule="")
    return block


def _dates(now: SettledState) -> Sequence[int]:
    """Return the positions of blocks that are only a date."""
    short = (i for i, text in enumerate(now.texts) if len(text) <= LONGEST_LABEL and NUMBER.search(text))
    return [i for i in short if is_only_date(canonical(now.texts[i]))]
