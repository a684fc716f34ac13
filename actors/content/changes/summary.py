"""An event in one line of plain text, for lists, messages and feeds: the heaviest change with its context.

Signs instead of words, to be readable in any language: "Plans and pricing › Team · Seats: 10 → 12 (+2 more)". With
right-to-left letters, the parts of a change are put in isolates (Unicode Bidirectional Algorithm, 6.3); without them
"10 → 12" would appear as "12 → 10".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from actors.content.changes.withheld import LONGEST
from actors.content.messages.requests import Withheld
from actors.content.wording.spans import CUT, cut, line, of_text
from storage.records.event import MOST_SUMMARY, Context, Diff, Spans

_LABEL, _PART = 72, 40
"""Maximum characters of a context, and of each of its parts."""
_LEAD = 16
"""Characters before the first word that differs."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_LTR, _FIRST_STRONG, _POP = "\u2066", "\u2068", "\u2069"


class _Entry(NamedTuple):
    """A candidate for the summary. before, after: None for added and removed texts."""

    before: str | None
    after: str | None
    context: Context | UnsetType
    spans: Spans | UnsetType = UNSET


def of_change(diff: Diff, weighed: Sequence[Withheld], title: str) -> str:
    """Summarise a page's change in one line. weighed: the blocks behind it. title: the page's."""
    entries = list(_entries(diff))
    if not entries:
        return of_text(title)
    weights = {(row.came, row.text): row.score for row in reversed(weighed)}
    told = max(entries, key=lambda entry: _weight(entry, weights))
    more = f" (+{len(entries) - 1} more)" if len(entries) > 1 else ""
    label = _label(told.context, title)
    isolates = _RIGHT_TO_LEFT.search("".join((label, told.before or "", told.after or ""))) is not None
    room = MOST_SUMMARY - len(label) - len(more) - (8 if isolates else 0)
    return f"{_isolated(label, isolates)}{_change(told, room, isolates)}{more}"


def _entries(diff: Diff) -> Iterator[_Entry]:
    contexts = diff.context or None
    for change in diff.changed:
        yield _Entry(change.before, change.after, change.context, change.spans)
    for i, text in enumerate(diff.added):
        yield _Entry(None, text, contexts.added[i] if contexts else UNSET)
    for i, text in enumerate(diff.removed):
        yield _Entry(text, None, contexts.removed[i] if contexts else UNSET)


def _weight(entry: _Entry, weights: dict[tuple[bool, str], float]) -> float:
    came = weights.get((True, entry.after[:LONGEST]), 0.0) if entry.after is not None else 0.0
    went = weights.get((False, entry.before[:LONGEST]), 0.0) if entry.before is not None else 0.0
    return came + went


def _label(context: Context | UnsetType, title: str) -> str:
    """Return the place of a change, with a colon; the page's title if no closer place is known."""
    if context is UNSET:
        context = Context()
    heading, row, column = (cut(line(part), _PART) for part in (context.heading, context.row, context.column))
    cell = " · ".join(filter(None, (row, column)))
    label = " › ".join(filter(None, (heading, cell))) or cut(line(title), _PART)
    if len(label) > _LABEL and cell:
        label = cut(heading, max(_LEAD, _LABEL - len(cell))) + " › " + cell if heading else label
    return f"{cut(label, _LABEL)}: " if label else ""


def _change(entry: _Entry, room: int, isolates: bool) -> str:
    if entry.before is None or entry.after is None:
        sign, text = ("+", entry.after) if entry.before is None else ("−", entry.before)
        return _directed(f"{sign} {_isolated(cut(line(text or ''), room - 2), isolates)}", isolates)
    before, after = line(entry.before), line(entry.after)
    room -= 3
    if len(before) + len(after) > room:
        start = _start(entry.before, entry.spans)
        before, after = _from(entry.before, start), _from(entry.after, start)
        before = cut(before, max(room // 2, room - len(after)))
        after = cut(after, room - len(before))
    return _directed(f"{_isolated(before, isolates)} → {_isolated(after, isolates)}", isolates)


def _start(before: str, spans: Spans | UnsetType) -> int:
    """Return the start of the shown part: shortly before the first word that differs."""
    if spans is UNSET:
        return 0
    first = min(side[0][0] for side in (spans.before, spans.after) if side)
    space = before.find(" ", max(0, first - _LEAD), max(0, first - 1))
    return 0 if first <= _LEAD else space + 1 if space >= 0 else first


def _from(text: str, start: int) -> str:
    return (CUT if start else "") + line(text[start:])


def _isolated(text: str, isolates: bool) -> str:
    return f"{_FIRST_STRONG}{text}{_POP}" if isolates and text else text


def _directed(text: str, isolates: bool) -> str:
    return f"{_LTR}{text}{_POP}" if isolates else text
