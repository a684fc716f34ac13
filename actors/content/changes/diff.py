"""The change from one sequence of paragraphs to another: for readers (`Diff`) and for programs (`Delta`).

`gaps` finds the paragraphs that differ. Two in one gap are one changed paragraph if alike or in one table cell.

`of_change` is an event in one line of plain text: the heaviest change with its context. `summarised` finds that change
again in an event, for its headline. Signs instead of words, to be readable in any language: "Plans and pricing › Team
· Seats: 10 → 12 (+2 more)". With right-to-left letters, the parts of a change are put in isolates (Unicode
Bidirectional Algorithm, 6.3); without them "10 → 12" would appear as "12 → 10".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from operator import eq
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from actors.content.messages import LONGEST_TEXT, Withheld
from actors.content.wording.words import CUT, Gap, cut, gaps, line, of_text, spans_of, surplus
from storage.records.event import (
    MOST_SUMMARY,
    Change,
    Context,
    Contexts,
    Delta,
    DeltaStats,
    Diff,
    Op,
    Spans,
    TypedChange,
    Value,
    with_unit,
)

MOST_OPS, MOST_SOUGHT = 400, 60
MOST_CHARACTERS = 32 * 1024
"""Caps of a delta and of a diff; beyond them `truncated` is set and the rest is only counted. Sought: for a summary."""

_SHOWN, _WINDOW, _ALIKE = 8 * 1024, 4, 0.4
_NOWHERE = Context()
_OFFERED = re.compile(r"(\d{1,12}(?:\.\d{1,4})?) ([A-Z]{3})")


class DiffContexts(Struct, frozen=True):
    """The context of each paragraph of both sides; those missing at the end are unknown."""

    before: Sequence[Context] = ()
    after: Sequence[Context] = ()


class OmittedTexts(Struct, frozen=True):
    """Texts that a diff omits: removed or added without weight, and moved; `moved` has the steps shown instead."""

    went: frozenset[str] = frozenset()
    came: frozenset[str] = frozenset()
    moved: tuple[Op, ...] = ()


def compare(
    before: Sequence[str], after: Sequence[str], where: DiffContexts | None = None, unsaid: OmittedTexts | None = None
) -> tuple[Diff, Delta]:
    """Return the diff and the delta. Applied to `before`, the delta gives `after` unless it is truncated."""
    ops = ops_of(before, after, where)
    counts = Counter(op.op for op in ops)
    added, removed, changed = counts["insert"], counts["delete"], counts["replace"]
    stats = DeltaStats(added, removed, changed, len(before) - removed - changed)
    kept, cut = _capped(ops)
    unsaid = unsaid or OmittedTexts()
    return _diff(_said(ops, unsaid), unsaid.moved), Delta(tuple(kept), stats, truncated=cut)


def ops_of(before: Sequence[str], after: Sequence[str], where: DiffContexts | None = None) -> list[Op]:
    ops: list[Op] = []
    where = where or DiffContexts()
    for gap in gaps(before, after):
        a, b, c, d = gap
        matched = _pair(before[a:b], after[c:d], where.before[a:b], where.after[c:d])
        ops += _ops(before, after, gap, matched, where)
    return ops


def _pair(
    old: Sequence[str], new: Sequence[str], was: Sequence[Context], is_now: Sequence[Context]
) -> list[tuple[int, int]]:
    """Pair old and new paragraphs of a gap, in order: by table cell, else alike ones within a small window."""
    words = [Counter(text.split()) for text in old]
    cells, own = _cells(was), _cells(is_now)
    pairs, first = list[tuple[int, int]](), 0
    for j, text in enumerate(new):
        here = is_now[j] if j < len(is_now) else _NOWHERE
        best: int | None = cells.get(here, -1) if own.get(here) == j else -1
        if best is None or best < first:
            mine = Counter(text.split())
            window = [i for i in range(first, min(first + _WINDOW, len(old))) if not _apart(was, i, here)]
            best = max(window, key=lambda i: _likeness(words[i], mine), default=None)
            if best is None or _likeness(words[best], mine) < _ALIKE:
                continue
        pairs.append((best, j))
        first = best + 1
    is_alone = not pairs and len(old) == len(new) == 1
    if is_alone and not (_apart(was, 0, is_now[0] if is_now else _NOWHERE) or _one_is_in_a_list(was, is_now)):
        pairs.append((0, 0))
    return pairs


def _one_is_in_a_list(was: Sequence[Context], is_now: Sequence[Context]) -> bool:
    """Whether one paragraph is an item of a JSON list and the other a member outside it: one of them moved."""
    pair = [side[0] if side else _NOWHERE for side in (was, is_now)]
    rows = [place.row for place in pair if not (place.column or place.heading)]
    return _NOWHERE in pair and any(row.endswith("]") and not row.endswith("']") for row in rows)


def _cells(contexts: Sequence[Context]) -> dict[Context, int]:
    placed = [(context, i) for i, context in enumerate(contexts) if context.row]
    counts = Counter(context for context, _ in placed)
    return {context: i for context, i in placed if counts[context] == 1}


def _apart(contexts: Sequence[Context], i: int, other: Context) -> bool:
    """Whether two paragraphs are in different table cells, which makes them distinct whatever their text."""
    own = contexts[i] if i < len(contexts) else _NOWHERE
    if not (own.row or own.column) or not (other.row or other.column):
        return False
    return (own.row, own.column) != (other.row, other.column)


def _likeness(left: Counter[str], right: Counter[str]) -> float:
    return 2 * (left & right).total() / max(1, left.total() + right.total())


def _ops(
    before: Sequence[str], after: Sequence[str], gap: Gap, pairs: list[tuple[int, int]], where: DiffContexts
) -> list[Op]:
    (a, b, c, d), ops = gap, list[Op]()
    i, j = a, c
    for k, m in [*((a + x, c + y) for x, y in pairs), (b, d)]:
        ops += [Op("delete", n, text=before[n], context=_at(where.before, n)) for n in range(i, k)]
        ops += [Op("insert", n, text=after[n], context=_at(where.after, n)) for n in range(j, m)]
        if k < b and before[k] != after[m]:  # copies of a repeated text can fall into a gap unchanged
            context = _at(where.after, m) if m < len(where.after) else _at(where.before, k)
            ops.append(Op("replace", m, before=before[k], after=after[m], context=context))
        i, j = k + 1, m + 1
    return ops


def _at(contexts: Sequence[Context], place: int) -> Context | UnsetType:
    context = contexts[place] if place < len(contexts) else _NOWHERE
    return UNSET if context == _NOWHERE else context


def _capped(ops: list[Op]) -> tuple[list[Op], bool]:
    room = MOST_CHARACTERS
    for n, op in enumerate(ops):
        room -= sum(len(text) for text in (op.text, op.before, op.after) if isinstance(text, str))
        if room < 0 or n >= MOST_OPS:
            # A change of one enormous paragraph still shows its beginning.
            return ops[:n] or [_cut(op)], True
    return ops, False


def _cut(op: Op) -> Op:
    if op.op == "replace":
        return replace(op, before=str(op.before)[:_SHOWN], after=str(op.after)[:_SHOWN])
    return replace(op, text=str(op.text)[:_SHOWN])


def _said(ops: list[Op], unsaid: OmittedTexts) -> list[Op]:
    """Return the steps a reader sees; of a replacement, the side that counts."""
    moved = {text for op in unsaid.moved for text in (op.text, op.before, op.after)}
    found = []
    for op in ops:
        gone = op.before if op.op == "replace" else op.text if op.op == "delete" else None
        new = op.after if op.op == "replace" else op.text if op.op == "insert" else None
        goes = gone is not None and gone not in unsaid.went and gone not in moved
        comes = new is not None and new not in unsaid.came and new not in moved
        if goes and comes:
            found.append(op)
        elif goes:
            found.append(Op("delete", op.para, text=gone, context=op.context))  # type: ignore[arg-type]  # not None
        elif comes:
            found.append(Op("insert", op.para, text=new, context=op.context))  # type: ignore[arg-type]  # not None
    return found


def _diff(ops: list[Op], elsewhere: Sequence[Op] = ()) -> Diff:
    """Return the reader's diff: omit paragraphs that only moved; one that changed while its row moved is changed."""
    inserted = [op for op in ops if op.op == "insert"]
    deleted = [op for op in ops if op.op == "delete"]
    came, went = (surplus(*sides, lambda op: op.text) for sides in ((inserted, deleted), (deleted, inserted)))
    moved = _moved(went, came)
    arrived = set(moved.values())
    came = [*(op for op in came if op not in arrived), *(op for op in elsewhere if op.op == "insert")]
    went = [*(op for op in went if op not in moved), *(op for op in elsewhere if op.op == "delete")]
    shown = _DiffBudget()
    altered = [op for op in (*ops, *elsewhere) if op.op == "replace"]
    altered += [Op("replace", to.para, before=op.text, after=to.text, context=to.context) for op, to in moved.items()]
    changed = _changed(
        (shown.cut(str(op.before)), shown.cut(str(op.after)), op.context) for op in altered if shown.room()
    )
    added = [(shown.cut(str(op.text)), op.context) for op in came if shown.room()]
    removed = [(shown.cut(str(op.text)), op.context) for op in went if shown.room()]
    contexts = Contexts(*(tuple(context or _NOWHERE for _, context in side) for side in (added, removed)))
    return Diff(
        tuple(text for text, _ in added),
        tuple(text for text, _ in removed),
        changed,
        shown.truncated,
        contexts if any(context != _NOWHERE for context in (*contexts.added, *contexts.removed)) else UNSET,
    )


def with_prices(diff: Diff, changes: Sequence[TypedChange]) -> tuple[Diff, tuple[TypedChange, ...]]:
    """Return a difference that writes the prices of offers as people do: "349.00 GBP" is £349."""
    sides = (side for change in diff.changed for side in (change.before, change.after))
    shown = {text: priced(text) for text in (*sides, *diff.added, *diff.removed)}

    def typed(value: Value | UnsetType) -> Value | UnsetType:
        return replace(value, text=shown.get(value.text, value.text)) if value else value

    changed = _changed((shown[change.before], shown[change.after], change.context) for change in diff.changed)
    added, removed = (tuple(shown[text] for text in side) for side in (diff.added, diff.removed))
    kinds = (replace(change, before=typed(change.before), after=typed(change.after)) for change in changes)
    return replace(diff, changed=changed, added=added, removed=removed), tuple(kinds)


def _changed(pairs: Iterable[tuple[str, str, Context | UnsetType]]) -> tuple[Change, ...]:
    return tuple(Change(old, new, context, spans_of(old, new) or UNSET) for old, new, context in pairs)


def priced(text: str) -> str:
    return with_unit(*found.groups()) if (found := _OFFERED.fullmatch(text)) else text


def _moved(went: Sequence[Op], came: Sequence[Op]) -> dict[Op, Op]:
    """Map removed paragraphs to successors in the same (reordered) row, if alike or the only ones there."""
    found: dict[Op, Op] = {}
    left, new = _by_row(went), _by_row(came)
    for place, ones in new.items():
        old = left.get(place, [])
        alone = len(ones) == len(old) == 1
        for op in ones:
            words = Counter(str(op.text).split())
            likeness = {op: _likeness(Counter(str(op.text).split()), words) for op in old if op not in found}
            best = max(likeness, key=likeness.__getitem__, default=None)
            if best is not None and (alone or likeness[best] >= _ALIKE):
                found[best] = op
    return found


def _by_row(ops: Sequence[Op]) -> dict[tuple[str, str], list[Op]]:
    """Group paragraphs by table cell or document path; places with many are dropped, as they allow no pairs."""
    found: dict[tuple[str, str], list[Op]] = {}
    for op in ops:
        if isinstance(op.context, Context) and op.context.row:
            found.setdefault((op.context.row, op.context.column), []).append(op)
    return {place: ones for place, ones in found.items() if len(ones) <= _WINDOW}


class _DiffBudget:
    """The space left in a diff, and whether anything did not fit."""

    def __init__(self) -> None:
        self.characters, self.texts, self.truncated = MOST_CHARACTERS, MOST_OPS, False

    def room(self) -> bool:
        has = self.characters > 0 and self.texts > 0
        self.truncated |= not has
        return has

    def cut(self, text: str) -> str:
        kept = text[: min(_SHOWN, max(1, self.characters))]
        self.truncated |= len(kept) < len(text)
        self.characters -= len(kept)
        self.texts -= 1
        return kept


_LABEL, _PART = 72, 40  # maximum characters of a context, and of each of its parts
_LEAD = 16  # characters before the first word that differs
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_LTR, _FIRST_STRONG, _POP = "\u2066", "\u2068", "\u2069"


class SummaryCandidate(NamedTuple):
    """A candidate for the summary. before, after: None for added and removed texts."""

    before: str | None
    after: str | None
    context: Context | UnsetType = UNSET
    spans: Spans | UnsetType = UNSET

    def said(self, room: int, *, isolates: bool) -> str:
        """Return its texts with signs, at most `room` characters besides isolates."""
        if self.before is None or self.after is None:
            sign, text = ("+", self.after) if self.before is None else ("−", self.before)
            return _directed(f"{sign} {isolated(cut(line(text or ''), room - 2), isolates)}", isolates)
        before, after = line(self.before), line(self.after)
        room -= 3
        if len(before) + len(after) > room:
            start = _start(self.before, self.after, self.spans, _LEAD if room > _LABEL else 0)
            before, after = ((CUT if start else "") + line(side[start:]) for side in (self.before, self.after))
            before = cut(before, max(room // 2, room - len(after)))
            after = cut(after, room - len(before))
        return _directed(f"{isolated(before, isolates)} → {isolated(after, isolates)}", isolates)


def of_change(diff: Diff, weighed: Sequence[Withheld], title: str) -> str:
    """Summarise a page's change in one line. weighed: the blocks behind it. title: the page's."""
    entries = list(_entries(diff))
    if not entries:
        return of_text(title)
    weights = {(row.came, priced(row.text)): row.score for row in reversed(weighed)}
    return _summary(max(entries, key=lambda entry: _weight(entry, weights)), len(entries), title)


def summarised(summary: str, diff: Diff, title: str) -> SummaryCandidate | None:
    """Return the change that a summary tells; None if it tells another thing, such as where a page has moved."""
    entries = list(islice(_entries(diff), MOST_SOUGHT))
    count = len(diff.changed) + len(diff.added) + len(diff.removed)
    return next((entry for entry in entries if _summary(entry, count, title) == summary), None)


def _summary(entry: SummaryCandidate, count: int, title: str) -> str:
    more = f" (+{count - 1} more)" if count > 1 else ""
    label = _label(entry.context, title)
    isolates = RIGHT_TO_LEFT.search("".join((label, entry.before or "", entry.after or ""))) is not None
    room = MOST_SUMMARY - len(label) - len(more) - (8 if isolates else 0)
    return f"{isolated(label, isolates)}{entry.said(room, isolates=isolates)}{more}"


def _entries(diff: Diff) -> Iterator[SummaryCandidate]:
    for change in diff.changed:
        yield SummaryCandidate(change.before, change.after, change.context, change.spans)
    for came, text, context in diff.singles():
        yield SummaryCandidate(None, text, context) if came else SummaryCandidate(text, None, context)


def _weight(entry: SummaryCandidate, weights: dict[tuple[bool, str], float]) -> float:
    came = weights.get((True, entry.after[:LONGEST_TEXT]), 0.0) if entry.after is not None else 0.0
    went = weights.get((False, entry.before[:LONGEST_TEXT]), 0.0) if entry.before is not None else 0.0
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


def _start(before: str, after: str, spans: Spans | UnsetType, lead: int) -> int:
    """Return the start of the shown part: shortly before the first word that differs."""
    common = before.rfind(" ", 0, sum(takewhile(bool, map(eq, before, after)))) + 1
    marked = () if spans is UNSET else (spans.before, spans.after)
    first = min((side[0][0] for side in marked if side), default=common)
    space = before.find(" ", max(0, first - lead), max(0, first - 1))
    return 0 if first <= lead else space + 1 if space >= 0 else first


def isolated(text: str, isolates: bool) -> str:
    return f"{_FIRST_STRONG}{text}{_POP}" if isolates and text else text


def _directed(text: str, isolates: bool) -> str:
    return f"{_LTR}{text}{_POP}" if isolates else text
