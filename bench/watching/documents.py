"""A page without its markup: content in parts, and pieces around it that are not content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Where = Literal["banner", "lead", "within", "aside", "after", "foot", "hidden", "menu"]


class Entry(Struct, frozen=True):
    """An item of a list or a row of a table: its name, and facts in the order of the part's heads."""

    name: str
    facts: tuple[str, ...] = ()


class Part(Struct, frozen=True):
    """A section of content: its heading, lines of text, and entries.

    show: as a list of links, rows of values, a card, or prose.
    """

    show: Literal["list", "rows", "card", "prose"]
    heading: str = ""
    lines: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    heads: tuple[str, ...] = ()
    id: str = ""


class Piece(Struct, frozen=True):
    """A piece outside the content: its role (cookie, promo, quote, clock, ...), texts, and place."""

    role: str
    texts: tuple[str, ...]
    where: Where
    tag: str = ""


class Doc(Struct, frozen=True):
    """A page at one moment. bare: without the rest of the site. frame: rendered in another frame than usual. lang: of
    the frame's own words. extra: raw invisible markup (tokens, scripts, attributes).
    """

    lang: str
    title: str
    heading: str
    parts: tuple[Part, ...]
    pieces: tuple[Piece, ...] = ()
    bare: bool = False
    frame: str = ""
    extra: str = ""
    year: int = 2026

    def part(self, number: int) -> Part:
        return self.parts[number]

    def having(self, *pieces: Piece) -> Doc:
        """Return the document with more pieces."""
        return replace(self, pieces=(*self.pieces, *pieces))

    def at(self, where: Where) -> tuple[Piece, ...]:
        return tuple(piece for piece in self.pieces if piece.where == where)


def lines_of(doc: Doc) -> Iterator[str]:
    """Yield the content's text, without the pieces around it."""
    yield doc.heading
    for part in doc.parts:
        yield part.heading
        yield from part.lines
        for entry in part.entries:
            yield " ".join((entry.name, *entry.facts))


def with_part(doc: Doc, number: int, part: Part) -> Doc:
    """Return the document with one part replaced."""
    return replace(doc, parts=(*doc.parts[:number], part, *doc.parts[number + 1 :]))


def entries(names: Sequence[str], *facts: Sequence[str]) -> tuple[Entry, ...]:
    """Return entries of names and columns of facts."""
    return tuple(Entry(name, tuple(column[n] for column in facts)) for n, name in enumerate(names))
