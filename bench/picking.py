"""`python -m bench.picking [FOLDER]`: how long a selector lasts that was made of a block of a page.

The benchmark draws blocks of the first version of each page that occur once and are no furniture. It makes a selector
for each and uses it on later versions: the selector is right if it chooses this block and nothing else. Only versions
with the block's text exactly once count, so no person has to match blocks. A selector that chooses nothing is reported
as a vanished part; one that chooses another block is worse, because no report follows. The path from the top of the
page, as tools in browsers copy it, is the limit.

A selector made of the words of its block would do well there, and would choose nothing after a change of the words. So
the benchmark also counts blocks whose text was *altered*, as paired by the product's own diff. Redesigns count
separately: pages that keep less than half of their names in `class` and `id`.

FOLDER holds pairs of pages (`bench.churn_material`); with `--natural`, long histories (`bench.natural`).
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from actors.content.bodies import markup
from actors.content.bodies.encoding import decode
from actors.content.errors import ContentError
from actors.content.messages import PageRequest
from actors.content.pages import selectors
from actors.content.pages.blocks import read_blocks
from actors.content.pages.traits import ASIDE
from actors.content.tasks import look_page
from bench import natural
from bench.churn_material import DEFAULT, halves, histories, pairs_of
from bench.topic import Absent, Figure, Row, Topic, size
from extras.picking.deriving import from_top
from extras.picking.reaching import HtmlReaches, standing_blocks

BLOCKS = 8
"""Blocks drawn per page."""
SHORTEST = 4
GOAL = 0.95
URL = "https://shore.example/"
_NAMES = re.compile(rb'(?:class|id)="([^"]*)"')
WHEN = ("the next version", "half of the history later", "the newest version")
REDESIGNS = "redesigns alone"
PARTS = {0: "looked at", 1: "held out"}
PAGES = size(10_000, 2)
TOPIC = Topic(
    "Picked selectors",
    "The share of selectors that choose the same block, and nothing else, on later versions; the limit is the way from "
    "the top of the page.",
    ("extras/picking", "actors/content/pages"),
    {
        f"{part}, {when}": Figure(f"{part}, {when}", "", "" if when == REDESIGNS else f">= {GOAL}", higher=True)
        for part in (*PARTS.values(), "long histories")
        for when in (*WHEN, REDESIGNS)
    },
)


class Score(NamedTuple):
    """Uses of selectors: total, right, empty, and right for the path from the top."""

    uses: int = 0
    right: int = 0
    nothing: int = 0
    by_place: int = 0

    def plus(self, wanted: str, chosen: Sequence[str], by_place: Sequence[str]) -> Score:
        right = list(chosen) == [wanted]
        return Score(
            self.uses + 1, self.right + right, self.nothing + (not chosen), self.by_place + (list(by_place) == [wanted])
        )

    def __str__(self) -> str:
        right, nothing, by_place = (share / max(1, self.uses) for share in self[1:])
        wrong = 1 - right - nothing
        return f"{right:.3f} of {self.uses} (nothing {nothing:.3f}, wrong {wrong:.3f}; from the top {by_place:.3f})"


def _parsed(body: bytes) -> tuple[str, markup.Element]:
    text = decode(body, "text/html").text
    return text, markup.parse(text)


def _made(body: bytes, chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield texts of blocks, each with its generated selector and its path from the top."""
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


def _altered(before: bytes, after: bytes) -> Mapping[str, str]:
    """Return altered texts, old to new, by the product's own difference."""
    try:
        first = look_page(PageRequest(before, "text/html", URL))
        diff = look_page(PageRequest(after, "text/html", URL, memory=first.memory, number=2)).diff
    except ContentError:
        return {}
    return {} if diff is None else {change.before: change.after for change in diff.changed}


def _is_redesign(before: bytes, after: bytes) -> bool:
    old, new = ({name for names in _NAMES.findall(body) for name in names.split()} for body in (before, after))
    return len(old & new) < len(old) / 2


def _rows(folder: Path, half: int) -> Iterator[tuple[str, list[bytes]]]:
    """Yield each page's versions in a half, the oldest first."""
    for of_page, by_name in histories(
        folder, sorted(halves(pairs_of(folder))[half], key=lambda pair: pair.page)[:PAGES]
    ):
        yield of_page[0].page, [by_name[name] for name in sorted(by_name)]


def _natural(folder: Path, pages: Mapping[str, natural.Page]) -> Iterator[tuple[str, list[bytes]]]:
    for page, by_name in natural.bodies(folder, pages):
        yield page.page, [by_name[look.file] for look in page.looks]


def score(rows: Iterable[tuple[str, Sequence[bytes]]], *, tell: bool = False) -> dict[str, Score]:
    """Return the scores by `WHEN`, for altered blocks and for redesigns. tell: print wrong ones."""
    chance, scores = random.Random(7), defaultdict[str, Score](Score)
    for name, bodies in rows:
        if len(bodies) < 2:
            continue
        try:
            made = list(_made(bodies[0], chance))
            versions = [(body, _parsed(body)[1]) for body in _later(bodies)]
        except ContentError:
            continue
        for when, (body, root) in zip(WHEN, versions, strict=True):
            count, altered = Counter(read_blocks(root).texts), _altered(bodies[0], body)
            is_redesign = when == WHEN[-1] and _is_redesign(bodies[0], body)
            for text, selector, place in made:
                wanted = text if count[text] else altered.get(text, "")
                if count[wanted] != 1:
                    continue
                chosen = _chosen(root, selector)
                kinds = [when if wanted == text else f"{when}, altered blocks", *[REDESIGNS] * is_redesign]
                for kind in kinds:
                    scores[kind] = scores[kind].plus(wanted, chosen, _chosen(root, place))
                if tell and chosen != [wanted]:
                    print(f"{name} {kinds} {wanted[:90]!r} {selector} -> {[one[:60] for one in chosen[:3]]}")
    return scores


def rows() -> Iterator[Row]:
    if not (DEFAULT / "manifest.jsonl").exists() or not (natural.DEFAULT / "manifest.jsonl").exists():
        raise Absent("the shared pages and histories")
    pages = {page.page: page for page in natural.pages_of(natural.DEFAULT)[:PAGES]}
    parts = {name: _rows(DEFAULT, half) for half, name in PARTS.items()}
    for part, versions in (parts | {"long histories": _natural(natural.DEFAULT, pages)}).items():
        found = score(versions)
        for when in (*WHEN, REDESIGNS):
            uses, right, nothing, by_place = found.get(when, Score())
            note = f"of {uses}, {nothing} choose nothing"
            yield Row(f"{part}, {when}", right / max(1, uses), by_place / max(1, uses), note)


def main() -> None:
    """Print the shares for both halves of the pages, or for long histories."""
    parser = argparse.ArgumentParser(prog="python -m bench.picking", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--natural", action="store_true", help="the folder holds long histories")
    parser.add_argument("--pages", default="", help="of long histories only these: p001,p002")
    parser.add_argument("--half", type=int, default=None, help="0 is the half that is read, 1 the one held out")
    parser.add_argument("--tell", action="store_true", help="print what was not right")
    asked = parser.parse_args()
    if asked.natural:
        wanted = set(filter(None, asked.pages.split(",")))
        pages = {page.page: page for page in natural.pages_of(asked.folder) if not wanted or page.page in wanted}
        parts = {"long histories": _natural(asked.folder, pages)}
    else:
        parts = {name: _rows(asked.folder, half) for half, name in PARTS.items() if asked.half in (None, half)}
    for name, rows in parts.items():
        for when, one in sorted(score(rows, tell=asked.tell).items()):
            print(f"{name}, {when}: {one}, goal {GOAL}")


if __name__ == "__main__":
    main()
