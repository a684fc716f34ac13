"""A choice tried on earlier versions of a page: whether a selector would have chosen the same place in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from actors.content.errors import ContentError
from actors.content.pages.earlier import Paragraph, undone
from actors.content.wording.patience_diff import gaps
from actors.picks import PastPage, PickHeld
from storage.records.identity import Millis

_MOST_WAYS: Final = 6
_MOST_VERSIONS: Final = 10
_WORK: Final = 80_000
"""Blocks times selectors times versions: a long page gets fewer trials."""


class Earlier(Protocol):
    """A document that goes back version by version. Its blocks keep their given names, or have threads as names."""

    def back(self, after: Sequence[Paragraph], before: Sequence[Paragraph]) -> None:
        """Go back one version; both versions are given as paragraphs."""

    def chosen(self, selector: str) -> frozenset[object]:
        """Return the names of the blocks that a selector chooses. Raises ContentError."""


def room_of(blocks: int) -> tuple[int, int]:
    """Return how many ways to a block are tried, and on how many versions.

    >>> room_of(100), room_of(3_000), room_of(10_000)
    ((6, 10), (2, 6), (1, 2))
    """
    room = _WORK // max(1, blocks)
    ways = min(max(room // 10, 1), _MOST_WAYS)
    return ways, min(max(room // (ways + 2), 1), _MOST_VERSIONS)


def names_of(texts: Sequence[str], told: Sequence[Paragraph]) -> list[object]:
    """Name each block of a page: by the thread of its reported paragraph, else by a new object."""
    names: list[object] = [object() for _ in texts]
    old, new = 0, 0
    for _, old_end, came, new_end in (*gaps([one.text for one in told], texts), (len(told), 0, len(texts), 0)):
        for at in range(came - new):
            names[new + at] = told[old + at].thread
        old, new = old_end, new_end
    return names


class Trial:
    """The earlier versions of a page that contain one block, to try selectors on."""

    def __init__(self, earlier: Earlier, past: PastPage, told: Sequence[Paragraph], block: object) -> None:
        self._earlier, self._past, self._told, self._block = earlier, past, told, block

    def held(self, wanted: Sequence[str], alone: frozenset[str]) -> dict[str, PickHeld]:
        """Return how each selector held; {} if no version has the block.

        alone: selectors that now choose nothing else, and so should not have before.
        """
        same, nothing = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, 0)
        versions, since = 0, Millis(0)
        for at in self._versions():
            versions, since = versions + 1, at
            for selector in wanted:
                chosen = self._chosen(selector)
                same[selector] += chosen == {self._block} if selector in alone else self._block in chosen
                nothing[selector] += not chosen
        if not versions:
            return {}
        return {one: PickHeld(versions, same[one], nothing[one], since) for one in wanted}

    def _versions(self) -> Iterator[Millis]:
        """Go back, and yield the start time of each version that has the block."""
        after: Sequence[Paragraph] = self._told
        for change in self._past.changes[: room_of(len(after))[1]]:
            before = undone(after, change.delta)
            if before is None or all(paragraph.thread is not self._block for paragraph in before):
                return
            self._earlier.back(after, before)
            yield change.at
            after = before

    def _chosen(self, selector: str) -> frozenset[object]:
        try:
            return self._earlier.chosen(selector)
        except ContentError:
            return frozenset()
