"""A page before a change: reverts the delta of an event.

A reader that applies every delta holds the reported texts (`churn`), so reverting the deltas one by one gives every
earlier state in full. A thread connects the wordings of one paragraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from storage.records.event import Context, Delta, Op

_NOWHERE = Context()


@dataclass(slots=True, eq=False)
class Paragraph:
    """A text in one version. thread: shared by all wordings of a paragraph. context: the last one from an event."""

    text: str
    thread: object = field(default_factory=object)
    context: Context = _NOWHERE


def undone(after: Sequence[Paragraph], delta: Delta) -> list[Paragraph] | None:
    """Return the paragraphs before a change; None if the delta is truncated or does not fit.

    The paragraphs after it get their contexts from it.
    """
    stats = delta.stats
    if delta.truncated or len(after) != stats.unchanged + stats.added + stats.changed:
        return None
    return taken_back(after, delta.ops)


def taken_back(after: Sequence[Paragraph], ops: Sequence[Op]) -> list[Paragraph] | None:
    """Return the paragraphs before these steps; None if they do not fit."""
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
