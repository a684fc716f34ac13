"""The table of readers, by the type that an archive declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from actors.content.bodies.markup import Document
from actors.content.messages import is_pdf
from extras.office.archive import Archive, name_of, value_of
from extras.office.opendocument import read_open_sheet, read_open_text
from extras.office.pdf import read_pdf
from extras.office.word import read_word
from extras.office.workbook import read_workbook

_ZIP: Final = b"PK\x03\x04"
_OPEN: Final = "application/vnd.oasis.opendocument."
_OPEN_READERS: Final[Mapping[str, Callable[[Archive], Document | None]]] = {
    "text": read_open_text,
    "text-template": read_open_text,
    "spreadsheet": read_open_sheet,
    "spreadsheet-template": read_open_sheet,
}
"""By the suffix after `_OPEN` in the part `mimetype` (OpenDocument 1.3, part 2, 3.3)."""
_MAIN_READERS: Final[Mapping[str, Callable[[Archive, str], Document | None]]] = {
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml": read_word,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml": read_word,
    "application/vnd.ms-word.document.macroenabled.main+xml": read_word,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml": read_workbook,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml": read_workbook,
    "application/vnd.ms-excel.sheet.macroenabled.main+xml": read_workbook,
}
"""By the content type of the main part (ECMA-376, part 2); its name does not matter."""


def read_office(body: bytes) -> Document | None:
    """Read a file; None if no reader fits. Raises ContentError if it is locked, damaged or larger than the bounds."""
    if is_pdf(body):
        return read_pdf(body)
    if not body.startswith(_ZIP):
        return None
    archive = Archive(body)
    said = archive.read("mimetype").decode("ascii", "replace").strip()
    if said.startswith(_OPEN):
        reader = _OPEN_READERS.get(said.removeprefix(_OPEN))
        return reader(archive) if reader else None
    types = archive.xml("[Content_Types].xml")
    for part in () if types is None else types:
        main = _MAIN_READERS.get(value_of(part, "ContentType").lower())
        if main and name_of(part) == "Override":
            return main(archive, value_of(part, "PartName").lstrip("/"))
    return None
