"""What stands in the place of what: blocks that went, each with the block that came where it was.

A place is known by what stands around it and did not change, never by a number: the gaps between two states (patience
diff over keys) give it. In a gap with as many blocks before as after each has its place; elsewhere only blocks that
differ in figures do. So "Operational, Outage, Operational" to three times "Operational" has its change in the middle,
and a new entry above a list moves nothing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from actors.content.diff import Gap
from actors.content.fingerprint import digest16
from actors.content.memory import Settled
from actors.content.weights import NUMBER
from actors.content.wording import words_in

LONGEST_GAP = 4
_LONGEST_SHAPE = 40
"""Words of a block that is sought by its shape where a gap has more blocks on one side."""


class Replacement(Struct, frozen=True):
    """A block and what came in its place: positions before and now, the key of what came, canonical texts,
    and the key of the place.

    figures: only figures differ.
    """

    old: int
    new: int
    key: str
    before: str
    after: str
    slot: str
    figures: bool


def shape(canonical: str) -> str:
    """Return a canonical text with 0 for each figure."""
    return NUMBER.sub("0", canonical)


def replacements(
    before: Settled, now: Settled, spans: Iterable[Gap], went: dict[int, str], came: dict[int, str]
) -> Iterator[Replacement]:
    """Yield what was replaced. `went` and `came` are canonical texts of what is only in one of the two, by position.

    Both may lack blocks that a gap has: those that moved, and stand elsewhere on the other side.
    """
    for a, b, c, d in spans:
        old = [i for i in range(a, b) if i in went]
        new = [j for j in range(c, d) if j in came]
        for i, j in _paired(before, now, old, new, went, came):
            figures = shape(went[i]) == shape(came[j])
            left = before.keys[i - 1] if i else ""
            slot = digest16(f"slot {left} {shape(came[j]) if figures else ''}")
            yield Replacement(i, j, now.keys[j], went[i], came[j], slot, figures)


def _paired(  # noqa: PLR0917  both sides of one gap
    before: Settled, now: Settled, old: Sequence[int], new: Sequence[int], went: dict[int, str], came: dict[int, str]
) -> Iterator[tuple[int, int]]:
    if len(old) == len(new) <= LONGEST_GAP:
        yield from (pair for pair in zip(old, new, strict=True) if before.traits[pair[0]] == now.traits[pair[1]])
        return
    by_shape: dict[tuple[str, int], deque[int]] = defaultdict(deque)
    for i in old:
        if words_in(went[i]) <= _LONGEST_SHAPE:
            by_shape[shape(went[i]), before.traits[i]].append(i)
    for j in new:
        if alike := by_shape.get((shape(came[j]), now.traits[j])):
            yield alike.popleft(), j
