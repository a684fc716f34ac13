"""The change from one sequence of paragraphs to another: for readers (`Diff`) and for programs (`Delta`).

Patience diff (Bram Cohen): paragraphs that occur once on both sides are anchors, their longest increasing
subsequence is kept, and the gaps between are done again. Each level is O(n log n) and the number of levels is bounded,
so a hostile page costs no more than a long one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from storage.records.event import Change, Delta, DeltaStats, Diff, Op

MOST_OPS = 400
MOST_CHARACTERS = 32 * 1024
"""Caps of a delta and of a diff; beyond them `truncated` is set and the rest is only counted."""

_SHOWN = 8 * 1024
_LEVELS = 12
_WINDOW = 4
_ALIKE = 0.4

Gap: TypeAlias = tuple[int, int, int, int]
"""A span of old paragraphs [a, b) that became a span of new ones [c, d)."""


def compare(before: Sequence[str], after: Sequence[str]) -> tuple[Diff, Delta]:
    """Return the diff and the delta. `apply(before, delta)` gives `after` unless the delta is truncated."""
    pairs, ops = [], []
    for gap in gaps(before, after):
        matched = _pair(before[gap[0] : gap[1]], after[gap[2] : gap[3]])
        ops += _ops(before, after, gap, matched)
        pairs += [(before[gap[0] + i], after[gap[2] + j]) for i, j in matched]
    counts = Counter(op.op for op in ops)
    added, removed, changed = counts["insert"], counts["delete"], counts["replace"]
    stats = DeltaStats(added, removed, changed, len(before) - removed - changed)
    kept, cut = _capped(ops)
    return _diff(ops, pairs), Delta(tuple(kept), stats, truncated=cut)


def apply(before: Sequence[str], delta: Delta) -> list[str]:
    """Return the new paragraphs. Raises ValueError when the delta is truncated or does not fit the old ones."""
    if delta.truncated:
        raise ValueError("a truncated delta cannot be applied")
    deleted = {op.para for op in delta.ops if op.op == "delete"}
    kept = [text for i, text in enumerate(before) if i not in deleted]
    written = {op.para: op for op in delta.ops if op.op != "delete"}
    after: list[str] = []
    position = 0
    while position < len(kept) or len(after) in written:
        op = written.get(len(after))
        if op is None or op.op == "replace":
            if position >= len(kept):
                raise ValueError(f"nothing is left to replace at paragraph {len(after)}")
            after.append(kept[position] if op is None else str(op.after))
            position += 1
        else:
            after.append(str(op.text))
    return after


def gaps(before: Sequence[str], after: Sequence[str]) -> list[Gap]:
    """Return what is left between kept paragraphs, in reading order; no gap is empty on both sides."""
    done: list[Gap] = []
    waiting = [(0, len(before), 0, len(after), _LEVELS)]
    while waiting:
        a, b, c, d, levels = waiting.pop()
        while a < b and c < d and before[a] == after[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and before[b - 1] == after[d - 1]:
            b, d = b - 1, d - 1
        anchors = _anchors(before, after, (a, b, c, d)) if levels and a < b and c < d else []
        if not anchors:
            if a < b or c < d:
                done.append((a, b, c, d))
            continue
        edges = [(a - 1, c - 1), *anchors, (b, d)]
        waiting += [(i + 1, k, j + 1, m, levels - 1) for (i, j), (k, m) in pairwise(edges) if k > i + 1 or m > j + 1]
    return sorted(done)


def _anchors(before: Sequence[str], after: Sequence[str], gap: Gap) -> list[tuple[int, int]]:
    """Return the longest run, in order on both sides, of paragraphs that are unique on both sides of a gap."""
    a, b, c, d = gap
    old, new = Counter(before[a:b]), Counter(after[c:d])
    place = {text: j for j, text in enumerate(after[c:d], c) if new[text] == 1}
    common = [(i, place[text]) for i, text in enumerate(before[a:b], a) if old[text] == 1 and text in place]
    tails: list[int] = []
    ends: list[int] = []
    back: list[int] = []
    for n, (_, j) in enumerate(common):
        at = bisect_left(tails, j)
        back.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            ends.append(n)
        else:
            tails[at], ends[at] = j, n
    run: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        run.append(common[n])
        n = back[n]
    return run[::-1]


def _pair(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return which old paragraph of a gap became which new one: in order, alike, found within a small window."""
    words = [Counter(text.split()) for text in old]
    pairs: list[tuple[int, int]] = []
    first = 0
    for j, text in enumerate(new):
        mine = Counter(text.split())
        window = range(first, min(first + _WINDOW, len(old)))
        best = max(window, key=lambda i: _likeness(words[i], mine), default=None)
        if best is not None and _likeness(words[best], mine) >= _ALIKE:
            pairs.append((best, j))
            first = best + 1
    if not pairs and len(old) == len(new) == 1:
        pairs.append((0, 0))
    return pairs


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def _ops(before: Sequence[str], after: Sequence[str], gap: Gap, pairs: list[tuple[int, int]]) -> list[Op]:
    a, b, c, d = gap
    ops: list[Op] = []
    i, j = a, c
    for k, m in [*((a + x, c + y) for x, y in pairs), (b, d)]:
        ops += [Op("delete", n, text=before[n]) for n in range(i, k)]
        ops += [Op("insert", n, text=after[n]) for n in range(j, m)]
        if k < b:
            ops.append(Op("replace", m, before=before[k], after=after[m]))
        i, j = k + 1, m + 1
    return ops


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
        return Op("replace", op.para, before=str(op.before)[:_SHOWN], after=str(op.after)[:_SHOWN])
    return Op(op.op, op.para, text=str(op.text)[:_SHOWN])


def _diff(ops: list[Op], pairs: list[tuple[str, str]]) -> Diff:
    """Return what a reader wants to see: a paragraph that only moved is neither added nor removed."""
    inserted = [str(op.text) for op in ops if op.op == "insert"]
    deleted = [str(op.text) for op in ops if op.op == "delete"]
    shown = _Shown()
    changed = tuple(Change(shown.cut(one), shown.cut(other)) for one, other in pairs if shown.room())
    added = tuple(shown.cut(text) for text in _beyond(inserted, Counter(deleted)) if shown.room())
    removed = tuple(shown.cut(text) for text in _beyond(deleted, Counter(inserted)) if shown.room())
    return Diff(added, removed, changed, shown.truncated)


class _Shown:
    """The room that a diff has left, and whether anything did not fit."""

    def __init__(self) -> None:
        self.characters = MOST_CHARACTERS
        self.texts = MOST_OPS
        self.truncated = False

    def room(self) -> bool:
        """Return whether another text may be shown."""
        has = self.characters > 0 and self.texts > 0
        self.truncated |= not has
        return has

    def cut(self, text: str) -> str:
        """Take room for a text and return what fits of it."""
        kept = text[: min(_SHOWN, max(1, self.characters))]
        self.truncated |= len(kept) < len(text)
        self.characters -= len(kept)
        self.texts -= 1
        return kept


def _beyond(texts: list[str], elsewhere: Counter[str]) -> list[str]:
    left = Counter(elsewhere)
    kept = []
    for text in texts:
        if left[text]:
            left[text] -= 1
        else:
            kept.append(text)
    return kept
