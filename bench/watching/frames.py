"""The frames: a shell, styles of lists, rows and cards, a naming of classes, a heading, and a size.

`FRAMES` are dealt into two halves by a seed: rules are made on one and judged on the other.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import cycle

from msgspec import Struct

from bench.watching.documents import Doc, Part
from bench.watching.ink import Ink, Naming
from bench.watching.shells import SHELLS, Inside
from bench.watching.styles import CARDS, LISTS, ROWS, Style
from bench.watching.tongues import Tongue, tongue

SEED = 20_261_122
LARGEST = 360


class Frame(Struct, frozen=True):
    """One way to build pages. heading: the tag of the page's heading. filler: number of stable links that make it long.
    dressed: as in `shells.Inside`.
    """

    name: str
    shell: str
    lists: str
    rows: str
    cards: str
    naming: Naming
    heading: str
    filler: int
    dressed: bool

    def render(self, doc: Doc) -> str:
        words, ink = tongue(doc.lang), Ink(self.naming, self.name)
        if doc.bare:
            return _bare(doc, ink)
        inside = Inside(doc, words, ink, self.content(doc, ink), _filler(words)[: self.filler], self.dressed)
        return SHELLS[self.shell](inside)

    def content(self, doc: Doc, ink: Ink) -> str:
        empty = Inside(doc, tongue(doc.lang), ink, "", ())
        parts = [self.part(ink, part) for part in doc.parts]
        parts.insert(min(1, len(parts)), empty.pieces("within"))
        more = 'class="title"' if self.heading in ("div", "p") and ink.naming != "none" else ""
        return ink.text(self.heading, doc.heading, "", more) + empty.pieces("lead") + "".join(parts)

    def part(self, ink: Ink, part: Part) -> str:
        if part.show == "card":
            return CARDS[self.cards](ink, part)
        below = {"h1": "h2", "h2": "h3"}.get(self.heading, "h2")
        lines = "".join(ink.text("p", line) for line in part.lines)
        style: Style = LISTS[self.lists] if part.show == "list" else ROWS[self.rows]
        shown = ink.text(below, part.heading) + lines + (style(ink, part) if part.entries else "")
        return ink.el("div", shown, "", f'id="{part.id}"') if part.id else shown


def _bare(doc: Doc, ink: Ink) -> str:
    """Return a page without the rest of the site, like the response of a proxy, a guard or an empty shell."""
    empty = Inside(doc, tongue(doc.lang), ink, "", ())
    lines = "".join(f"<p>{line}</p>" for part in doc.parts for line in part.lines)
    heading = f"<h1>{doc.heading}</h1>" if doc.heading else '<div id="app"></div>'
    return f"{empty.head()}<body>{heading}{lines}</body></html>"


@cache
def _filler(words: Tongue) -> tuple[str, ...]:
    """Return stable names, enough to make any page long."""
    firsts, seconds = (
        (*words.products, *words.jobs, *words.files),
        (*words.places, *words.services, *words.rooms, *words.stops),
    )
    names = dict.fromkeys(f"{first} – {second}" for first in firsts for second in seconds)
    drawn = sorted(names)
    random.Random(SEED).shuffle(drawn)
    return tuple(drawn[:LARGEST])


def _frames() -> tuple[Frame, ...]:
    """Deal styles to shells: each shell three or four times, never the same pair twice."""
    lists, rows, cards = cycle(LISTS), cycle(ROWS), cycle(CARDS)
    namings: tuple[Naming, ...] = ("plain", "bem", "utility", "hashed", "theme", "ids")
    sizes = cycle((0, 6, 0, 24, 0, 60, 12, 0, 150, 8, LARGEST))
    heads = cycle(("h1", "h1", "h2", "h1", "div", "h1", "p"))
    naming_of, frames = cycle(namings), []
    for turn in range(4):
        for shell in SHELLS:
            if turn == 3 and shell in ("fragment", "sheet", "status_host", "mobile"):
                continue
            naming: Naming = "none" if shell in ("unnamed", "fragment", "old_table", "roles") else next(naming_of)
            look = next(lists), next(rows), next(cards)
            if turn % 2:
                next(lists)
            frames.append(
                Frame(f"{shell}-{turn + 1}", shell, *look, naming, next(heads), next(sizes), len(frames) % 2 == 1)
            )
    return tuple(frames)


FRAMES = _frames()
BY_NAME = {frame.name: frame for frame in FRAMES}


def tuning() -> frozenset[str]:
    """Return the names of the frames whose misses may be read; the rest is the test."""
    names = [frame.name for frame in FRAMES]
    random.Random(SEED + 1).shuffle(names)
    return frozenset(names[: len(names) // 2])
