"""Text documents of Office Open XML (ECMA-376, WordprocessingML): DOCX.

Reads headings, paragraphs, list items and tables of the body. Ignores headers, footers, comments, notes, text box
copies for old programs, hidden text and tracked deletions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from actors.content.bodies.markup import Document, Element
from extras.office.archive import Archive, name_of, value_of
from extras.office.tree import Writer, number

_HEADING: Final = re.compile(r"heading (\d)", re.I)
_SKIPPED: Final = frozenset({"Fallback", "del", "moveFrom", "instrText", "delText", "commentReference", "pPr"})
_INSIDE: Final = frozenset(
    {"sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag", "AlternateContent", "Choice"}
)
_NO: Final = frozenset({"0", "false", "off"})


def read_word(archive: Archive, main: str) -> Document | None:
    """Read the main part of a document; None if there is no body."""
    root = archive.xml(main)
    body = None if root is None else next((child for child in root if name_of(child) == "body"), None)
    if body is None:
        return None
    levels = _levels(archive.xml(f"{main.rpartition('/')[0]}/styles.xml"))
    writer, paragraphs, tables = Writer(), 0, 0
    for block in _blocks(body):
        if writer.full:
            break
        if name_of(block) == "tbl":
            tables += 1
            rows = [row for row in block.iterchildren() if name_of(row) == "tr"]
            heads = 0
            while heads < len(rows) and _is_head(rows[heads]):
                heads += 1
            writer.table([list(_cells(row)) for row in rows], heads=heads or None)
        elif text := _text(block):
            paragraphs += 1
            _write(writer, block, text, levels)
    says = f"a Word document (DOCX), {number(paragraphs, 'paragraph')}, {number(tables, 'table')}"
    return Document("docx", says, writer.root, writer.partial)


def _levels(styles: Element | None) -> Mapping[str, int]:
    """Return the level of headings by style id, 0 for list items. Ids depend on the author's language."""
    found: dict[str, int] = {}
    for style in () if styles is None else styles.iterchildren():
        if name_of(style) != "style":
            continue
        outline = value_of(_below(style, "pPr", "outlineLvl"))
        named = _HEADING.fullmatch(value_of(_below(style, "name")))
        if named:
            found[value_of(style, "styleId")] = int(named[1])
        elif outline.isdecimal() and int(outline) < 6:
            found[value_of(style, "styleId")] = int(outline) + 1
        elif value_of(_below(style, "name")).lower() == "title":
            found[value_of(style, "styleId")] = 1
        elif _below(style, "pPr", "numPr") is not None:
            found[value_of(style, "styleId")] = 0
    return found


def _below(element: Element, *path: str) -> Element | None:
    for name in path:
        element = next((child for child in element if name_of(child) == name), None)
        if element is None:
            return None
    return element


def _blocks(element: Element) -> Iterator[Element]:
    for child in element:
        if name_of(child) in ("p", "tbl"):
            yield child
        elif name_of(child) in _INSIDE:
            yield from _blocks(child)


def _write(writer: Writer, paragraph: Element, text: str, levels: Mapping[str, int]) -> None:
    level = levels.get(value_of(_below(paragraph, "pPr", "pStyle")))
    if level:
        writer.heading(text, level)
    elif level == 0 or _below(paragraph, "pPr", "numPr") is not None:
        writer.item(text)
    else:
        writer.paragraph(text)


def _is_head(row: Element) -> bool:
    said = _below(row, "trPr", "tblHeader")
    return said is not None and value_of(said) not in _NO


def _cells(row: Element) -> Iterator[str]:
    """Yield the cells of a row; a wide cell is followed by empty ones."""
    for cell in row:
        if name_of(cell) == "tc":
            yield "\n".join(filter(None, map(_text, _paragraphs(cell))))
            span = value_of(_below(cell, "tcPr", "gridSpan"))
            yield from [""] * (min(int(span), 64) - 1 if span.isdecimal() and len(span) < 4 else 0)


def _paragraphs(element: Element) -> Iterator[Element]:
    """Yield the paragraphs of a cell, including those of nested tables."""
    for child in element:
        if name_of(child) == "p":
            yield child
        elif name_of(child) not in _SKIPPED:
            yield from _paragraphs(child)


def _text(paragraph: Element) -> str:
    return " ".join("".join(_pieces(paragraph)).split())


def _pieces(element: Element) -> Iterator[str]:
    for child in element:
        match name_of(child):
            case "t":
                yield child.text or ""
            case "tab" | "br" | "cr":
                yield " "
            case "noBreakHyphen":
                yield "-"
            case "r" if (hidden := _below(child, "rPr", "vanish")) is not None and value_of(hidden) not in _NO:
                continue
            case "p":  # of a text box
                yield " "
                yield from _pieces(child)
            case name if name not in _SKIPPED:
                yield from _pieces(child)
