"""The versions of a page: the told texts as each event left them, from the present ones backwards; and two compared.

Whoever applies every delta holds the told texts (`churn`), so taking the deltas back one by one gives every earlier
state whole. A delta that was cut, or that does not fit, ends the chain: what lies before is not guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from actors.content.changes.diff import ops_of
from actors.content.wording.spans import spans_of
from storage.records.event import Context, Delta, Op, Spans

_NOWHERE = Context()


@dataclass(slots=True, eq=False)
class Paragraph:
    """A text of one or more versions. thread: the same in all wordings that became one another. context: as far as an
    event has told it.
    """

    text: str
    thread: object = field(default_factory=object)
    context: Context = _NOWHERE


class Step(NamedTuple):
    """A paragraph of one version, or of both: None where it is not there."""

    before: str | None
    after: str | None
    context: Context = _NOWHERE

    @property
    def same(self) -> bool:
        return self.before == self.after

    @property
    def spans(self) -> Spans | None:
        """The words that differ; None where that is all of it."""
        return None if self.before is None or self.after is None else spans_of(self.before, self.after)


def undone(after: Sequence[Paragraph], delta: Delta) -> list[Paragraph] | None:
    """Return the paragraphs before a change; None when the delta is cut or does not fit what is there.

    The paragraphs after it learn their contexts from it.
    """
    stats = delta.stats
    if delta.truncated or len(after) != stats.unchanged + stats.added + stats.changed:
        return None
    return _taken_back(after, delta.ops)


def _taken_back(after: Sequence[Paragraph], ops: Sequence[Op]) -> list[Paragraph] | None:
    kept: list[Paragraph] = []
    done = 0
    for op in sorted((op for op in ops if op.op != "delete"), key=_para):
        written = op.text if op.op == "insert" else op.after
        if not done <= op.para < len(after) or after[op.para].text != written:
            return None
        paragraph = after[op.para]
        paragraph.context = op.context or _NOWHERE
        kept += after[done : op.para]
        if op.op == "replace":
            kept.append(Paragraph(str(op.before), paragraph.thread, paragraph.context))
        done = op.para + 1
    kept += after[done:]
    before: list[Paragraph] = []
    done = 0
    for op in sorted((op for op in ops if op.op == "delete"), key=_para):
        stretch = op.para - len(before)
        if not 0 <= stretch <= len(kept) - done:
            return None
        before += kept[done : done + stretch]
        before.append(Paragraph(str(op.text), context=op.context or _NOWHERE))
        done += stretch
    return before + kept[done:]


def _para(op: Op) -> int:
    return op.para


def aligned(before: Sequence[str], after: Sequence[str]) -> tuple[list[Paragraph], list[Paragraph]]:
    """Return two texts of which no event tells how one became the other, as versions of which a comparison does."""
    new = [Paragraph(text) for text in after]
    old = _taken_back(new, ops_of(before, after))
    assert old is not None, "a difference fits what it was made of"
    return old, new


def compared(before: Sequence[Paragraph], after: Sequence[Paragraph]) -> list[Step]:
    """Return both versions in the order of the later one, what went in its place; what only moved is the same."""
    old = {paragraph.thread: paragraph for paragraph in before}
    new = {paragraph.thread for paragraph in after}
    came = Counter(paragraph.text for paragraph in after if paragraph.thread not in old)
    went = Counter(paragraph.text for paragraph in before if paragraph.thread not in new)
    moved = came & went
    hidden = Counter(moved)
    steps: list[Step] = []
    left = 0
    for paragraph in after:
        was = old.get(paragraph.thread)
        if was is None:
            is_moved = moved[paragraph.text] > 0
            moved[paragraph.text] -= is_moved
            steps.append(Step(paragraph.text if is_moved else None, paragraph.text, paragraph.context))
            continue
        left = _went(before, left, new, hidden, steps)
        steps.append(Step(was.text, paragraph.text, paragraph.context))
        left += 1
    _went(before, left, new, hidden, steps)
    return steps


def _went(before: Sequence[Paragraph], at: int, new: set[object], hidden: Counter[str], steps: list[Step]) -> int:
    """Add the paragraphs that went, up to the next one that stayed; return its place."""
    while at < len(before) and before[at].thread not in new:
        if hidden[before[at].text]:
            hidden[before[at].text] -= 1
        else:
            steps.append(Step(before[at].text, None, before[at].context))
        at += 1
    return at
