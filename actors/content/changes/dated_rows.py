"""Rows that each have a date: of a list of files, of dates to meet. There another date is what changed.

A date alone that is past says when a page was edited, and is no news. Where several entries have one each, the date
belongs to its entry: when one of them gives way to another date and its entry stays, that entry is another one.
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
"""Dates alone that make a list of dated rows."""
_MOST = 0.5
"""The share of them that may change at once: where all do, it is the day of the page."""
_GONE = 0.6
"""What a date that went weighs beside the one that came."""
_RULES = frozenset({"", "only a date", "a date by itself", COPY, COPIES})


def weighed_anew(
    difference: Difference, before: SettledState, now: SettledState, apart: Apart, known: Known
) -> Difference:
    """Return a difference in which the date of a row that is another one counts."""
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
        # The entry itself stands before its date or after it, and has stayed.
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
    """Return the positions of blocks that are a date alone."""
    short = (i for i, text in enumerate(now.texts) if len(text) <= LONGEST_LABEL and NUMBER.search(text))
    return [i for i in short if is_only_date(canonical(now.texts[i]))]
