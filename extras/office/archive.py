"""A ZIP archive of XML parts, as in all these formats: opened within bounds, nothing written, nothing fetched."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from lxml import etree

from actors.content.bodies.markup import Element
from actors.content.errors import ContentError

MOST_UNPACKED: Final = 24 << 20  # unpacked bytes of one file, all parts together
MOST_PARTS: Final = 5_000
_ENTRY: Final = b"PK\x01\x02"
_LOCKED: Final = 0x1
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""The only methods these formats allow (ECMA-376 part 2, OpenDocument 1.3 part 2)."""
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, OverflowError)


class Archive:
    """The parts of a file by name. Raises ContentError if it is damaged, locked or larger than the bounds."""

    def __init__(self, body: bytes) -> None:
        # Each entry costs memory before any is read, and begins with this mark.
        if body.count(_ENTRY) > MOST_PARTS:
            raise ContentError(f"This archive has more than {MOST_PARTS:,} parts, which is more than is read.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except _DAMAGED:
            raise _damaged() from None
        self.names = frozenset(self._zip.namelist())
        self._left = MOST_UNPACKED

    def read(self, name: str) -> bytes:
        """Return a part, b"" if there is none of this name."""
        if name not in self.names:
            return b""
        info = self._zip.getinfo(name)
        if info.flag_bits & _LOCKED:
            raise ContentError("This document is locked with a password.")
        if info.compress_type not in _METHODS:
            raise _damaged()
        try:
            with self._zip.open(name) as part:
                found = part.read(self._left + 1)
        except _DAMAGED:
            raise _damaged() from None
        self._left -= len(found)
        if self._left < 0:
            raise ContentError(f"This document unpacks to more than {MOST_UNPACKED >> 20} MiB, more than is read.")
        return found

    def xml(self, name: str) -> Element | None:
        """Parse a part and return its root; None if it is missing. Entities are not resolved."""
        if not (found := self.read(name)):
            return None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
        )
        try:
            return etree.fromstring(found, parser)
        except (etree.LxmlError, ValueError):
            raise _damaged() from None


def name_of(element: Element) -> str:
    """Return an element's name without its namespace; "" for other nodes."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def value_of(element: Element | None, name: str = "val") -> str:
    """Return an attribute in any namespace, "" if it is missing."""
    if element is None:
        return ""
    return next((str(value) for key, value in element.items() if str(key).rpartition("}")[2] == name), "")


def _damaged() -> ContentError:
    says = "This is a ZIP archive or office document that is damaged: a part of it can't be unpacked or read."
    return ContentError(says)
