"""Workbooks of Office Open XML (ECMA-376, SpreadsheetML): XLSX. Each sheet is a heading and its tables.

Shows the last computed values, formatted as dates, times and percentages. Formulas are not evaluated, hidden sheets not
read; blank rows separate tables.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from actors.content.bodies.markup import MOST_COLUMNS, Document, Element
from extras.office.archive import Archive, name_of, value_of
from extras.office.tree import MOST_ROWS, Writer, number

_DATES: Final = frozenset({*range(14, 18), 22, *range(27, 37), *range(50, 59)})
_TIMES: Final = frozenset({18, 19, 20, 21, 45, 46, 47})
_SHARES: Final = frozenset({9, 10})
_UNSHOWN: Final = re.compile(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.|\*.', re.I)
_COLUMN: Final = re.compile(r"([A-Z]{1,3})\d+")
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
_LAST_DAY: Final = 2_958_466
_NO: Final = frozenset({"", "0", "false"})


def read_workbook(archive: Archive, main: str) -> Document | None:
    """Read the main part of a workbook and its sheets; None if the part is missing."""
    root = archive.xml(main)
    if root is None:
        return None
    folder = main.rpartition("/")[0]
    targets = _targets(archive, main)
    strings = [_string(si) for si in _children(archive.xml(f"{folder}/sharedStrings.xml"), "si")]
    forms = tuple(_forms(archive.xml(f"{folder}/styles.xml")))
    is_1904 = any(value_of(each, "date1904") not in _NO for each in _children(root, "workbookPr"))
    values = _Values(strings, forms, _EPOCH_1904 if is_1904 else _EPOCH)
    writer, shown, count = Writer(), 0, 0
    for sheets in _children(root, "sheets"):
        for sheet in _children(sheets, "sheet"):
            target = targets.get(value_of(sheet, "id"), "")
            if value_of(sheet, "state") in ("hidden", "veryHidden") or target not in archive.names:
                continue
            if writer.full:
                break
            shown += 1
            writer.heading(value_of(sheet, "name"))
            count += _write(writer, archive.xml(target), values)
    says = f"a workbook (XLSX), {number(shown, 'sheet')}, {number(count, 'row')}"
    return Document("xlsx", says, writer.root, writer.partial)


class _Values:
    """Displayed values of cells."""

    def __init__(self, strings: list[str], forms: tuple[str, ...], epoch: datetime) -> None:
        self._strings, self._forms, self._epoch = strings, forms, epoch

    def shown(self, cell: Element) -> str:
        kind = value_of(cell, "t")
        if kind == "inlineStr":
            return " ".join(_string(inside) for inside in _children(cell, "is"))
        written = next((value.text or "" for value in _children(cell, "v")), "")
        match kind:
            case "s":
                return self._strings[int(written)] if _is_below(written, len(self._strings)) else ""
            case "b":
                return "TRUE" if written == "1" else "FALSE"
            case "" | "n":
                return self._figure(written, value_of(cell, "s"))
            case _:
                return written

    def _figure(self, written: str, style: str) -> str:
        form = self._forms[int(style)] if _is_below(style, len(self._forms)) else ""
        try:
            figure = float(written)
        except ValueError:
            return written
        if form in ("date", "time") and 0 <= figure < _LAST_DAY:
            return self._moment(figure, form)
        # Spreadsheets calculate with 15 digits; the rest is noise of binary fractions.
        return f"{figure * 100:.13g}%" if form == "share" else f"{figure:.15g}"

    def _moment(self, figure: float, form: str) -> str:
        try:
            at = self._epoch + timedelta(seconds=round(figure * 86_400))
        except OverflowError:
            return f"{figure:.15g}"
        if form == "time" and figure < 1:
            return f"{at:%H:%M}" if not at.second else f"{at:%H:%M:%S}"
        return at.date().isoformat() if not (at.hour or at.minute) else f"{at.date().isoformat()} {at:%H:%M}"


def _is_below(text: str, end: int) -> bool:
    return text.isdecimal() and len(text) < 9 and int(text) < end


def _children(element: Element | None, name: str) -> Iterator[Element]:
    return (child for child in (() if element is None else element) if name_of(child) == name)


def _targets(archive: Archive, main: str) -> Mapping[str, str]:
    folder, _, file = main.rpartition("/")
    return {
        value_of(link, "Id"): posixpath.normpath(posixpath.join("/", folder, value_of(link, "Target"))).lstrip("/")
        for link in _children(archive.xml(f"{folder}/_rels/{file}.rels"), "Relationship")
    }


def _string(si: Element) -> str:
    """Return a text of several runs, without phonetic hints (`rPh`)."""
    parts = list(_children(si, "t"))
    for run in _children(si, "r"):
        parts += _children(run, "t")
    return "".join(part.text or "" for part in parts)


def _forms(styles: Element | None) -> Iterator[str]:
    """Yield the kind of number that each cell format shows: "date", "time", "share" or ""."""
    codes = {
        value_of(form, "numFmtId"): value_of(form, "formatCode")
        for forms in _children(styles, "numFmts")
        for form in _children(forms, "numFmt")
    }
    for formats in _children(styles, "cellXfs"):
        for format in _children(formats, "xf"):
            id = value_of(format, "numFmtId")
            yield _form(int(id) if _is_below(id, 10_000) else 0, codes.get(id, ""))


def _form(id: int, code: str) -> str:
    code = _UNSHOWN.sub("", code.partition(";")[0]).lower().replace("general", "")
    if id in _DATES or "y" in code or "d" in code:
        return "date"
    if id in _TIMES or "h" in code or "s" in code:
        return "time"
    return "share" if id in _SHARES or "%" in code else ""


def _write(writer: Writer, sheet: Element | None, values: _Values) -> int:
    held: list[list[str]] = []
    count, last = 0, 0
    for data in _children(sheet, "sheetData"):
        for row in _children(data, "row"):
            number = value_of(row, "r")
            at = int(number) if _is_below(number, 10**8) else last + 1
            cells = _cells(row, values)
            if not any(cells):
                continue
            if held and at > last + 1:
                writer.table(held)
                held = []
            held.append(cells)
            count, last = count + 1, at
            if count > MOST_ROWS or writer.full:
                writer.full = writer.partial = True
                break
    if held:
        writer.table(held)
    return count


def _cells(row: Element, values: _Values) -> list[str]:
    cells: list[str] = []
    for cell in _children(row, "c"):
        place = _COLUMN.fullmatch(value_of(cell, "r"))
        column = _column(place[1]) if place else len(cells)
        if column > MOST_COLUMNS:  # one more than the limit, so that the cut is noticed
            break
        cells += [""] * (column + 1 - len(cells))
        cells[column] = values.shown(cell)
    return cells


def _column(letters: str) -> int:
    """Return the number of a column, from 0.

    >>> _column("A"), _column("Z"), _column("AA")
    (0, 25, 26)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
