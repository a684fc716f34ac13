"""Texts and spreadsheets of OpenDocument (ISO/IEC 26300): ODT and ODS.

Reads headings, paragraphs, list items and tables. Ignores comments, notes, hidden sheets and tracked deletions. A cell
shows the text that the program wrote for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from actors.content.bodies.markup import MOST_COLUMNS, Document, Element
from actors.content.errors import ContentError
from extras.office.archive import Archive, name_of, value_of
from extras.office.tree import MOST_ROWS, Writer, number

_SKIPPED: Final = frozenset({
    "tracked-changes", "annotation", "note", "sequence-decls", "forms", "table-of-content", "desc", "title"
})  # fmt: skip
_ROWS_WITHIN: Final = frozenset({"table-header-rows", "table-rows", "table-row-group"})


def read_open_text(archive: Archive) -> Document | None:
    if (body := _body(archive, "text")) is None:
        return None
    writer, counts = Writer(), {"p": 0, "table": 0}
    _write(writer, body, counts, in_list=False)
    says = f"a text (ODT), {number(counts['p'], 'paragraph')}, {number(counts['table'], 'table')}"
    return Document("odt", says, writer.root, writer.partial)


def read_open_sheet(archive: Archive) -> Document | None:
    if (body := _body(archive, "spreadsheet")) is None:
        return None
    hidden = {
        value_of(style, "name")
        for style in body.getroottree().getroot().iter("{*}style")
        if any(value_of(part, "display") == "false" for part in style if name_of(part) == "table-properties")
    }
    writer, shown, count = Writer(), 0, 0
    for table in body:
        if name_of(table) != "table" or value_of(table, "style-name") in hidden:
            continue
        shown += 1
        writer.heading(value_of(table, "name"))
        held: list[list[str]] = []
        for row in [*_rows(table), []]:
            if any(row):
                held.append(row)
                count += 1
            elif held:
                writer.table(held)
                held = []
        if writer.full:
            break
    says = f"a spreadsheet (ODS), {number(shown, 'sheet')}, {number(count, 'row')}"
    return Document("ods", says, writer.root, writer.partial)


def _body(archive: Archive, kind: str) -> Element | None:
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise ContentError("This document is locked with a password.")
    root = archive.xml("content.xml")
    for body in () if root is None else root:
        if name_of(body) == "body":
            return next((part for part in body if name_of(part) == kind), None)
    return None


def _write(writer: Writer, element: Element, counts: dict[str, int], *, in_list: bool) -> None:
    for child in element:
        name = name_of(child)
        if name in _SKIPPED or writer.full:
            continue
        if name in ("p", "h"):
            counts["p"] += 1
            level = value_of(child, "outline-level")
            if name == "h":
                writer.heading(_text(child), int(level) if level.isdecimal() and len(level) < 3 else 2)
            elif in_list:
                writer.item(_text(child))
            else:
                writer.paragraph(_text(child))
        elif name == "table":
            counts["table"] += 1
            heads = sum(len(list(_rows(part))) for part in child if name_of(part) == "table-header-rows")
            writer.table(list(_rows(child)), heads=heads or None)
        else:
            _write(writer, child, counts, in_list=in_list or name == "list")


def _rows(table: Element) -> Iterator[list[str]]:
    """Yield rows with their repetitions, up to the limit; a blank one once."""
    count = 0
    for row in table:
        if name_of(row) in _ROWS_WITHIN:
            yield from _rows(row)
        elif name_of(row) == "table-row":
            cells = _cells(row)
            for _ in range(_repeats(row, "number-rows-repeated") if any(cells) else 1):
                if (count := count + 1) > MOST_ROWS + 1:
                    return
                yield cells


def _cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if name_of(cell) not in ("table-cell", "covered-table-cell"):
            continue
        text = "\n".join(filter(None, map(_text, _paragraphs(cell))))
        cells += [text] * min(_repeats(cell, "number-columns-repeated"), MOST_COLUMNS + 1 - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _repeats(element: Element, name: str) -> int:
    said = value_of(element, name)
    return int(said) if said.isdecimal() and len(said) < 9 else 1


def _paragraphs(cell: Element) -> Iterator[Element]:
    for child in cell:
        if name_of(child) in ("p", "h"):
            yield child
        elif name_of(child) not in _SKIPPED:
            yield from _paragraphs(child)


def _text(paragraph: Element) -> str:
    return " ".join("".join(_pieces(paragraph)).split())


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        match name_of(child):
            case "s" | "tab" | "line-break":
                yield " "
            case "p" | "h":
                yield " "
                yield from _pieces(child)
            case name if name and name not in _SKIPPED:
                yield from _pieces(child)
        yield child.tail or ""
