"""The versions of a page: the told texts as each event left them, from the present ones backwards; and two compared.

Each earlier state is had by taking its delta back (`content/pages/earlier.py`). A delta that was cut, or that does not
fit, ends the chain: what lies before is not guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from actors.content.changes.diff import ops_of
from actors.content.pages.earlier import Paragraph, taken_back, undone
from actors.content.wording.spans import spans_of
from storage.records.event import Context, Spans

__all__ = ["Paragraph", "Step", "aligned", "compared", "undone"]


class Step(NamedTuple):
    """A paragraph of one version, or of both: None where it is not there."""

    before: str | None
    after: str | None
    context: Context = Context()

    @property
    def same(self) -> bool:
        return self.before == self.after

    @property
    def spans(self) -> Spans | None:
        """The words that differ; None where that is all of it."""
        return None if self.before is None or self.after is None else spans_of(self.before, self.after)


def aligned(before: Sequence[str], after: Sequence[str]) -> tuple[list[Paragraph], list[Paragraph]]:
    """Return two texts of which no event tells how one became the other, as versions of which a comparison does."""
    new = [Paragraph(text) for text in after]
    old = taken_back(new, ops_of(before, after))
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
