"""The versions of a page: the reported texts at each event, from the current one backwards; and two compared.

A reader that applies every delta holds the reported texts (`content/changes/churn.py`), so undoing the deltas one by
one gives every earlier state in full. A thread connects the wordings of one paragraph. A delta that was cut, or that
does not fit, ends the chain: earlier versions are not guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from msgspec import UnsetType

from actors.content.changes.diff import ops_of
from actors.content.wording.words import spans_of
from storage.records.event import Context, Delta, Op, Spans

_NOWHERE = Context()
_para = attrgetter("para")


@dataclass(slots=True, eq=False)
class Paragraph:
    """A text in one version. thread: shared by all wordings of a paragraph. context: the last one from an event."""

    text: str
    thread: object = field(default_factory=object)
    context: Context = _NOWHERE


def undo(after: Sequence[Paragraph], delta: Delta) -> list[Paragraph] | None:
    """Return the paragraphs before a change, and set contexts in `after`; None if the delta is cut or does not fit."""
    stats = delta.stats
    if delta.truncated or len(after) != stats.unchanged + stats.added + stats.changed:
        return None
    return undo_ops(after, delta.ops)


def undo_ops(after: Sequence[Paragraph], ops: Sequence[Op]) -> list[Paragraph] | None:
    remaining: list[Paragraph] = []
    done = 0
    for op in sorted((op for op in ops if op.op != "delete"), key=_para):
        written = op.text if op.op == "insert" else op.after
        if not done <= op.para < len(after) or after[op.para].text != written:
            return None
        paragraph = after[op.para]
        paragraph.context = op.context or _NOWHERE
        remaining += after[done : op.para]
        if op.op == "replace":
            remaining.append(Paragraph(str(op.before), paragraph.thread, paragraph.context))
        done = op.para + 1
    remaining += after[done:]
    before: list[Paragraph] = []
    done = 0
    for op in sorted((op for op in ops if op.op == "delete"), key=_para):
        stretch = op.para - len(before)
        if not 0 <= stretch <= len(remaining) - done:
            return None
        before += remaining[done : done + stretch]
        before.append(Paragraph(str(op.text), context=op.context or _NOWHERE))
        done += stretch
    return before + remaining[done:]


class DiffParagraph(NamedTuple):
    """A paragraph of one version, or of both; None where it is missing."""

    before: str | None
    after: str | None
    context: Context = Context()

    @property
    def same(self) -> bool:
        return self.before == self.after

    @property
    def spans(self) -> Spans | None:
        """The words that differ; None if the paragraph is in one version only."""
        return None if self.before is None or self.after is None else spans_of(self.before, self.after)


class Arrivals:
    """Since when each text of a page has been there, from the differences that led to it, newest first. at: for each
    text the moment of the difference that inserted or altered it; None while unknown. Moved texts keep their age.
    `broken`: a difference was cut or does not fit; each text still unknown is at least as old.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.at: list[int | None] = [None] * len(texts)
        self.broken = False
        self._state = [Paragraph(text) for text in texts]
        self._left = {paragraph: place for place, paragraph in enumerate(self._state)}

    @property
    def is_done(self) -> bool:
        """Whether earlier differences can add nothing."""
        return self.broken or not self._left

    def undo(self, at: int, delta: Delta) -> None:
        before = undo(self._state, delta)
        if before is None:
            self.broken = True
            for place in self._left.values():
                self.at[place] = at
            return
        deleted: dict[str | UnsetType, list[Paragraph]] = {}
        for op in delta.ops:
            if op.op == "delete":
                deleted.setdefault(op.text, []).append(before[op.para])
        for op in delta.ops:
            if op.op == "delete" or self._state[op.para] not in self._left:
                continue
            place = self._left.pop(self._state[op.para])
            if op.op == "insert" and (same := deleted.get(op.text)):
                self._left[same.pop()] = place
            else:
                self.at[place] = at
        self._state = before


def aligned(before: Sequence[str], after: Sequence[str]) -> tuple[list[Paragraph], list[Paragraph]]:
    new = [Paragraph(text) for text in after]
    old = undo_ops(new, ops_of(before, after))
    assert old is not None, "a difference fits what it was made of"
    return old, new


def compared(before: Sequence[Paragraph], after: Sequence[Paragraph]) -> list[DiffParagraph]:
    """Return both versions in the later one's order, with deleted paragraphs in place; moved ones count as the same."""
    old = {paragraph.thread: paragraph for paragraph in before}
    new = {paragraph.thread for paragraph in after}
    added = Counter(paragraph.text for paragraph in after if paragraph.thread not in old)
    moved = added & Counter(paragraph.text for paragraph in before if paragraph.thread not in new)
    hidden = Counter(moved)
    steps: list[DiffParagraph] = []
    left = 0
    for paragraph in after:
        was = old.get(paragraph.thread)
        if was is None:
            is_moved = moved[paragraph.text] > 0
            moved[paragraph.text] -= is_moved
            steps.append(DiffParagraph(paragraph.text if is_moved else None, paragraph.text, paragraph.context))
            continue
        left = _append_removed(before, left, new, hidden, steps)
        steps.append(DiffParagraph(was.text, paragraph.text, paragraph.context))
        left += 1
    _append_removed(before, left, new, hidden, steps)
    return steps


def _append_removed(
    before: Sequence[Paragraph], at: int, new: set[object], hidden: Counter[str], steps: list[DiffParagraph]
) -> int:
    """Add the deleted paragraphs up to the next remaining one; return its place."""
    while at < len(before) and before[at].thread not in new:
        if hidden[before[at].text]:
            hidden[before[at].text] -= 1
        else:
            steps.append(DiffParagraph(before[at].text, None, before[at].context))
        at += 1
    return at
