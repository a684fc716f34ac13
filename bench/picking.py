"""`python -m bench.picking [FOLDER]`: how long a selector lasts that was made of a block of a page.

On the first version of each page blocks are drawn that are there once and no furniture. The selector of each is made
there, and used on later versions: it is right where it chooses this block and nothing else. Only versions count that
have the block's text exactly once, so that nobody has to say which block is the same. Beside it stands the way from the
top of the page, as tools in browsers copy it.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actors.content.bodies import markup
from actors.content.bodies.encoding import decode
from actors.content.errors import ContentError
from actors.content.pages import selectors
from actors.content.pages.blocks import read_blocks
from actors.content.pages.traits import ASIDE
from actors.content.picking.deriving import from_top
from actors.content.picking.reaching import HtmlReaches
from actors.content.picking.standing import standing_blocks
from bench.churn_material import DEFAULT, halves, histories, pairs_of

BLOCKS = 8
"""Blocks of a page."""
SHORTEST = 4
GOAL = 0.95
WHEN = ("the next version", "half of the history later", "the newest version")


class Score(NamedTuple):
    """How many uses of selectors there were, how many were right, and how many of those from the top."""

    uses: int = 0
    right: int = 0
    by_place: int = 0

    def plus(self, *, right: bool, by_place: bool) -> Score:
        return Score(self.uses + 1, self.right + right, self.by_place + by_place)


def _parsed(body: bytes) -> tuple[str, markup.Element]:
    text = decode(body, "text/html").text
    return text, markup.parse(text)


def _made(body: bytes, chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield texts of blocks with the selector that is made of each, and the way to it from the top."""
    text, root = _parsed(body)
    page, reaches = standing_blocks(root, text), HtmlReaches(root, text)
    count = Counter(page.blocks.texts)
    there = [
        at
        for at, (said, trait, standing) in enumerate(
            zip(page.blocks.texts, page.blocks.traits, page.standing, strict=True)
        )
        if count[said] == 1 and len(said) >= SHORTEST and not trait & ASIDE and standing
        if page.held[standing.element] == 1
    ]
    for at in chance.sample(there, min(BLOCKS, len(there))):
        standing = page.standing[at]
        assert standing is not None, "it was drawn of those that stand somewhere"
        yield page.blocks.texts[at], reaches.this(at), from_top(standing.element).css


def _chosen(root: markup.Element, selector: str) -> list[str]:
    found = selectors.select(root, selector)
    return [text for element in found for text in read_blocks(element, judge_furniture=False).texts]


def _later(bodies: Sequence[bytes]) -> list[bytes]:
    return [bodies[1], bodies[len(bodies) // 2], bodies[-1]]


def score(folder: Path, pairs: Sequence[Any]) -> list[Score]:
    """Return the score for each of `WHEN`."""
    chance, scores = random.Random(7), [Score()] * len(WHEN)
    for _, by_name in histories(folder, pairs):
        bodies = [by_name[name] for name in sorted(by_name)]
        if len(bodies) < 2:
            continue
        try:
            made = list(_made(bodies[0], chance))
            versions = [_parsed(body)[1] for body in _later(bodies)]
        except ContentError:
            continue
        for number, root in enumerate(versions):
            count = Counter(read_blocks(root).texts)
            for text, selector, place in made:
                if count[text] == 1:
                    right, by_place = _chosen(root, selector) == [text], _chosen(root, place) == [text]
                    scores[number] = scores[number].plus(right=right, by_place=by_place)
    return scores


def main() -> None:
    """Print the shares for both halves of the pages."""
    parser = argparse.ArgumentParser(prog="python -m bench.picking", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    asked = parser.parse_args()
    for half, pairs in zip(("looked at", "held out"), halves(pairs_of(asked.folder)), strict=True):
        for when, one in zip(WHEN, score(asked.folder, pairs), strict=True):
            right, by_place = one.right / max(1, one.uses), one.by_place / max(1, one.uses)
            print(f"{half}, {when}: {right:.3f} of {one.uses} (from the top: {by_place:.3f}), goal {GOAL}")


if __name__ == "__main__":
    main()
