"""A page as it was before a change: the delta that an event has is taken back.

Whoever applies every delta holds the told texts (`churn`), so taking the deltas back one by one gives every earlier
state whole. Paragraphs that became one another are followed by their threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from storage.records.event import Context, Delta, Op

_NOWHERE = Context()


@dataclass(slots=True, eq=False)
class Paragraph:
    """A text of one or more versions. thread: the same in all wordings that became one another. context: as far as an
    event has told it.
    """

    text: str
    thread: object = field(default_factory=object)
    context: Context = _NOWHERE


def undone(after: Sequence[Paragraph], delta: Delta) -> list[Paragraph] | None:
    """Return the paragraphs before a change; None when the delta is cut or does not fit what is there.

    The paragraphs after it learn their contexts from it.
    """
    stats = delta.stats
    if delta.truncated or len(after) != stats.unchanged + stats.added + stats.changed:
        return None
    return taken_back(after, delta.ops)


def taken_back(after: Sequence[Paragraph], ops: Sequence[Op]) -> list[Paragraph] | None:
    """Return the paragraphs before these steps; None when they do not fit."""
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
