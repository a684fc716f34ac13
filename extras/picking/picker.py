"""A page to choose from: its blocks with their values, and the effect of pressing one. Runs in a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from actors.content.bodies.encoding import decode, unpacked
from actors.content.bodies.text import absolute, normalise
from actors.content.errors import ContentError
from actors.content.messages import CHOSEN_BY, NO_PARTS, item_form, selector_kind
from actors.content.pages.listing import items_of
from actors.content.pages.page import OpenedPage, PageReading, blocks_in, open_page, reading_of, writing_of
from actors.content.pages.plain import format_of, xml_holders
from actors.content.pages.traits import ASIDE, CELL, CONTROL, FURNITURE, HEADING, ITEM, TOP, CellLabels
from actors.content.tasks import task_of
from actors.content.values.kinds import ROOT, path_at
from actors.content.values.reading import ValueSpan, Writing, values_in
from actors.content.wording import json_text
from actors.content.wording.words import digest16, folded, line
from extras.picking import reaching, records
from extras.picking.deriving import Kind
from extras.picking.in_documents import DocumentReaches, JsonReaches, LineReaches, XmlReaches
from extras.picking.records import BLOCK_EXCERPT as EXCERPT

MOST: Final = 12
_SUBJECTS: Final[Mapping[str, str]] = {
    "money": "price", "number": "number", "percent": "percent", "date": "date", "version": "version",
    "availability": "availability",
}  # fmt: skip
"""The subject of a condition, by the value's type; a time of day has none."""


def values_of(text: str, place: CellLabels | None, writing: Writing) -> tuple[records.PickedValue, ...]:
    label = "" if place is None else f"{place.row} {place.column}".strip()
    found = [one for one in values_in(text, writing, label) if one.value.type in _SUBJECTS][:MOST]
    return tuple(
        records.PickedValue(one.value, _SUBJECTS[str(one.value.type)], _place(text, one, place, writing))
        for one in found
    )


def _place(text: str, found: ValueSpan, place: CellLabels | None, writing: Writing) -> str:
    """Return the condition on a value's place, "" if no label names it."""
    if writing.exact:
        path = path_at(text, place.row if place else "", found.end)
        return _said("path", path) if path != ROOT else ""
    if place is None or not (place.row or place.column):
        return ""
    return _said("label", " · ".join(filter(None, (line(place.row), line(place.column)))))


def _said(subject: str, text: str) -> str:
    return "" if '"' in text or "\\" in text else f'{subject}:"{text}"'


LONGEST: Final = 1_000  # maximum characters of a selector


def pick(asked: records.PickRequest) -> records.PickPage:
    opened = open_page(asked.body, asked.content_type, None, ())
    reaches, no_parts = _reaches(opened, asked)
    return _Picking(asked, opened, reaches, no_parts).page()


def _reaches(opened: OpenedPage, asked: records.PickRequest) -> tuple[reaching.Reaches | None, str]:
    """Return the selectors of a document; None, with the reason, if no part of it can be chosen."""
    format, plain = format_of(opened.root), opened.plain
    if plain is None:
        return reaching.HtmlReaches(opened.root, opened.text), ""
    kinds = CHOSEN_BY.get(format, ((), ""))[0]
    if not kinds:
        return None, NO_PARTS
    if kinds[0] == "path":
        return DocumentReaches(format, plain), ""
    text = decode(unpacked(asked.body), asked.content_type).text
    if format == "json":
        return JsonReaches(json_text.read(text), plain), ""
    if format == "xml":
        root, holders = xml_holders(text)
        return XmlReaches(root, plain, holders), ""
    return LineReaches(text, plain, format), ""


class _Picking:
    """One page while it is shown."""

    def __init__(
        self, asked: records.PickRequest, opened: OpenedPage, reaches: reaching.Reaches | None, no_parts: str
    ) -> None:
        self._asked, self._wish, self._opened = asked, asked.wish, opened
        self._reaches, self._no_parts = reaches, no_parts
        blocks = blocks_in(opened) if reaches is None else reaches.blocks
        self._reading = reading_of(opened, blocks, narrowed=False)
        self._marks = [digest16(key)[:8] for key in self._reading.keys]
        self._headings = _headings(self._reading)
        self._writing = writing_of(opened.root, self._reading)
        items = items_of(opened.root, opened.watched, asked.url, judged=True) if opened.watched else []
        self._items = {item_form(item.url) for item in items}
        self._watched = self._watched_by(asked.wish)

    def page(self) -> records.PickPage:
        reading, wish = self._reading, self._wish
        words = folded(wish.find).split()
        found = [at for at, text in enumerate(reading.blocks) if all(word in folded(text) for word in words)]
        first = max(0, min(wish.first, len(found) - 1)) if found else 0
        at = None if wish.press is None else _where(wish.press, self._marks)
        return records.PickPage(
            title=reading.title,
            format=format_of(self._opened.root),
            total=len(reading.blocks),
            found=len(found),
            first=first,
            blocks=tuple(map(self._block, found[first : first + records.MOST_SHOWN_BLOCKS])),
            no_parts=self._no_parts,
            now=self._kept(wish.selector, wish.ignore),
            choice=None if at is None or wish.press is None else self._choice(at, wish.press),
            gone=wish.press is not None and at is None,
            listed=len(self._items),
            partial=reading.partial,
            trouble=None if reading.trouble is None else str(reading.trouble),
        )

    def _watched_by(self, wish: records.PickWish) -> frozenset[int]:
        everything = range(len(self._reading.blocks))
        selector, ignore = _inheriting(wish, wish.selector, wish.ignore)
        if self._reaches is None or selector is None:
            chosen = frozenset(at for at in everything if not self._reading.traits[at] & ASIDE)
        else:
            chosen = _quietly(self._reaches, selector)
        return chosen if self._reaches is None else chosen.difference(*(_quietly(self._reaches, one) for one in ignore))

    def _block(self, at: int) -> records.PickBlock:
        reading = self._reading
        text, trait = reading.blocks[at], reading.traits[at]
        place = reading.places[at] if reading.places else None
        link = None if self._reaches is None else self._reaches.link(at)
        return records.PickBlock(
            number=at,
            mark=self._marks[at],
            text=text[:EXCERPT],
            length=len(text),
            kind=_kind(trait),
            heading=self._headings[at],
            row="" if place is None else normalise(place.row),
            column="" if place is None else normalise(place.column),
            why="furniture" if trait & FURNITURE else "control" if trait & CONTROL else "",
            watched=at in self._watched,
            selector=self._reaches.this(at) if self._reaches is not None and self._wish.selectors else "",
            item=link is not None and item_form(absolute(link, self._asked.url) or "") in self._items,
            values=self._values(at),
            cells=self._cells(at),
        )

    def _cells(self, at: int) -> tuple[records.BlockCell, ...]:
        cells = self._reaches.cells(at) if isinstance(self._reaches, LineReaches) else ()
        return tuple(
            records.BlockCell(cell.number, normalise(cell.place.column), cell.text[:EXCERPT]) for cell in cells
        )

    def _values(self, at: int) -> tuple[records.PickedValue, ...]:
        reading = self._reading
        return values_of(reading.blocks[at], reading.places[at] if reading.places else None, self._writing)

    def _choice(self, at: int, press: records.PressedBlock) -> records.PickChoice:
        reaches = self._reaches
        if reaches is None:
            return records.PickChoice(self._block(at), (), press.reach, None)
        chosen, _ = _inheriting(self._wish, self._wish.selector, ())
        joins = press.act == "also" and chosen is not None
        kind = _kind_of(chosen) if joins else None
        if joins and kind is None:
            return records.PickChoice(self._block(at), (), press.reach, None)
        if press.cell:
            made = reaches.cell(at, press.cell) if isinstance(reaches, LineReaches) else {}
        else:
            made = {
                "this": reaches.this(at, kind, whole=press.act == "without"),
                "like": reaches.like(at, kind),
                "part": reaches.part(at, kind),
            }
        known = tuple(records.PickReach(name, one, len(reaches.chosen(one))) for name, one in made.items() if one)
        wanted = next((one for one in known if one.name == press.reach), None) or next(iter(known), None)
        if wanted is None:
            return records.PickChoice(self._block(at), (), press.reach, None)
        selector, ignore = _with(self._wish, press, wanted.selector)
        fits = all(len(one) <= LONGEST for one in (selector or "", *ignore))
        return records.PickChoice(self._block(at), known, wanted.name, self._kept(selector, ignore) if fits else None)

    def _kept(self, selector: str | None, ignore: tuple[str, ...]) -> records.KeptBlocks | None:
        """Return the blocks that a choice keeps, as a check would read them; None if it keeps none."""
        asked, (chosen, without) = self._asked, _inheriting(self._wish, selector, ignore)
        if self._no_parts and (chosen is not None or without):
            return None
        reading, items = self._reading, len(self._items)
        if chosen is not None or without:
            try:
                opened = open_page(asked.body, asked.content_type, chosen, without)
            except ContentError:
                return None
            if opened.empty:
                return None
            reading = reading_of(opened, blocks_in(opened), narrowed=chosen is not None)
            items = len(items_of(opened.root, opened.watched, asked.url, judged=opened.judged))
        kept = [at for at, trait in enumerate(reading.traits) if not trait & ASIDE]
        texts = tuple(reading.blocks[at][:EXCERPT] for at in kept[: records.MOST_SHOWN_BLOCKS])
        digest = digest16("\0".join(reading.keys[at] for at in kept))
        return records.KeptBlocks(selector, ignore, texts, len(kept), digest, items) if kept else None


def _quietly(reaches: reaching.Reaches, selector: str) -> frozenset[int]:
    """Return the blocks that a selector chooses; none if it is for another kind of document."""
    try:
        return reaches.chosen(selector)
    except ContentError:
        return frozenset()


def _where(press: records.PressedBlock, marks: Sequence[str]) -> int | None:
    """Find the pressed block: the one with the number if unchanged, else the only one like it."""
    if press.number < len(marks) and marks[press.number] == press.mark:
        return press.number
    alike = [at for at, mark in enumerate(marks) if mark == press.mark]
    return alike[0] if len(alike) == 1 else None


def _inheriting(
    wish: records.PickWish, selector: str | None, ignore: tuple[str, ...]
) -> tuple[str | None, tuple[str, ...]]:
    """Add the settings of tags to a choice, as `actors/inheritance.py` does."""
    chosen = wish.inherited_selector if selector is None else selector
    return chosen, tuple(dict.fromkeys((*ignore, *wish.inherited_ignore)))


def _with(wish: records.PickWish, press: records.PressedBlock, selector: str) -> tuple[str | None, tuple[str, ...]]:
    if press.act == "without":
        return wish.selector, tuple(dict.fromkeys((*wish.ignore, selector)))
    chosen, _ = _inheriting(wish, wish.selector, ())
    if press.act == "also" and chosen is not None:
        between = ", " if _kind_of(chosen) == "css" else " | "
        return f"{chosen}{between}{selector}", wish.ignore
    return selector, wish.ignore


def _kind_of(selector: str | None) -> Kind | None:
    kind = None if selector is None else selector_kind(selector)
    return kind if kind in ("css", "xpath") else None


def _headings(reading: PageReading) -> list[str]:
    found, above = list[str](), ""
    for text, trait in zip(reading.blocks, reading.traits, strict=True):
        found.append("" if trait & TOP else above)
        above = text[:EXCERPT] if trait & (HEADING | TOP) else above
    return found


def _kind(trait: int) -> records.BlockKind:
    if trait & (HEADING | TOP):
        return "heading"
    if trait & CONTROL:
        return "control"
    return "cell" if trait & CELL else "item" if trait & ITEM else "text"


TASKS: Final[Mapping[str, Callable[[bytes], bytes]]] = {"pick": task_of(records.PickRequest, pick)}
