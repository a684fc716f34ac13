"""What happens to a page, look by look, and whether a reader wants to hear of it.

A step draws its document when it is looked at, for a server draws its noise anew at each request. `new` is what a
reader wants to hear of; all else is silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from bench.watching.documents import Doc
from bench.watching.tongues import Tongue

GRACE = 3
MINUTE = 60_000
OFTEN, USUAL, SELDOM = 2 * MINUTE, 20 * MINUTE, 360 * MINUTE
Draw = Callable[[Random, int], Doc]


class Step(NamedTuple):
    """A look: how its page is drawn (from chance, and the time in milliseconds), and its label.

    settled: what the content is, without noise; None while another page stands in its place.
    """

    draw: Draw
    new: bool
    settled: Doc | None


class Script(NamedTuple):
    """The looks of a history. selector: of the part that is watched. grace: looks within which a change is to be told.

    spacings: the times between looks that it may be dealt.
    """

    steps: tuple[Step, ...]
    selector: str | None = None
    grace: int = GRACE
    spacings: tuple[int, ...] = (USUAL, USUAL, USUAL, OFTEN, SELDOM)


Kind = Callable[[Tongue, Random], Script]


def still(doc: Doc, looks: int) -> list[Step]:
    return [Step(lambda _chance, _at: doc, False, doc)] * looks


def fresh(doc: Doc) -> Step:
    return Step(lambda _chance, _at: doc, True, doc)


def walk(docs: Sequence[Doc], chance: Random) -> tuple[Step, ...]:
    """Return the first document for a few looks, then each of the next: its first look is new, then it stands."""
    rests = chance.choice(((3,), (4,), (2, 5), (3, 1, 4), (6,), (1, 2)))
    steps = still(docs[0], chance.choice((2, 3, 5)))
    for n, doc in enumerate(docs[1:]):
        steps += [fresh(doc), *still(doc, rests[n % len(rests)])]
    return (*steps, *still(docs[-1], 3))
