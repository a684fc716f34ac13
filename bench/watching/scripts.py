"""The events of a page, check by check, and whether a reader wants them reported.

A step draws its document at each check, because a server draws its churn for each request. `new` marks changes to
report; everything else must stay silent.
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
    """A check: how to draw its page (from randomness, and the time in milliseconds), and its label.

    settled: the content without churn; None while another page replaces it.
    """

    draw: Draw
    new: bool
    settled: Doc | None


class Script(NamedTuple):
    """The checks of a history. selector: of the watched part. grace: checks within which to report a change. spacings:
    possible intervals between checks.
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
    """Return the first document for a few checks, then each of the next: its first check is new, then it stays."""
    rests = chance.choice(((3,), (4,), (2, 5), (3, 1, 4), (6,), (1, 2)))
    steps = still(docs[0], chance.choice((2, 3, 5)))
    for n, doc in enumerate(docs[1:]):
        steps += [fresh(doc), *still(doc, rests[n % len(rests)])]
    return (*steps, *still(docs[-1], 3))
