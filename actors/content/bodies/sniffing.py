"""Signs in the first bytes and characters of a body, and the properties of binary files."""

from __future__ import annotations

import hashlib
import re
import struct
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from actors.content.bodies.encoding import end_of_prolog
from actors.content.bodies.markup import BREAKS, UNSEEN

CALENDAR, SITEMAP = "a calendar (iCalendar)", "a sitemap"
ERROR = "an error message in XML"  # some servers answer with it for a missing file
DAMAGED = "gzip data that the server did not declare as an encoding"
"""Gzip is unpacked earlier if possible; this is the rest."""
NO_FILES = frozenset({ERROR, DAMAGED})  # kinds that are not worth watching
_SIGNS = tomllib.loads(files("actors.content.bodies").joinpath("signs.toml").read_text("utf-8"))
_MAGIC = [(mark.encode("latin-1"), name) for mark, name in _SIGNS["magic"].items()]
_TEXTS: dict[str, str] = _SIGNS["texts"]
_XML_ROOTS: dict[str, str] = _SIGNS["xml"]
_NO_TEXTS = frozenset({"an SVG image", ERROR})
_SNIFFED = 512
_ROOT = re.compile(r"<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_OF_FEEDS = frozenset({"rss", "feed", "rdf", "channel"})
_OF_HTML = frozenset([*BREAKS, *UNSEEN, "a", "b", "base", "em", "font", "i", "img", "link", "meta", "span", "title"])
_JSON_LIST = re.compile(r"\s*\[\s*[\[{\"\]\d-]")
_STILL_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"mif1")
_LEADING, _SEARCHED = 1024, 64 * 1024
_ELEMENT = re.compile(
    r"<!doctype\s+html|<(?:html|head|body|title|div|table|p|h[1-6]|ul|section|main|article|span|a|meta)\b", re.I
)
_HTML = re.compile(r"<html\b", re.I)
_DOCTYPE = re.compile(r"<!doctype\s+html", re.I)


def binary_kind(body: bytes) -> str | None:
    """Return the kind of a binary file ("a PDF document"); None if it may be text."""
    if body.startswith(b"RIFF") and body[8:12] == b"WEBP":
        return "a WebP image"
    if body[4:8] == b"ftyp":  # ISO 14496-12: the length of the first box, then its type
        return "an AVIF or HEIF image" if body[8:12] in _STILL_BRANDS else "an MP4 media file"
    # Viewers accept white space before a PDF's mark, so some servers send it.
    start = body[:_LEADING].lstrip() if body[:1].isspace() else body
    if body[257:262] == b"ustar":
        return "a TAR archive"
    return next((name for magic, name in _MAGIC if start.startswith(magic)), None)


def text_kind(text: str) -> str | None:
    """Return the kind of a text ("a calendar"); None if it may be a feed or HTML. The root decides for XML."""
    start = end_of_prolog(text)
    head = text[start : start + 64]
    if (name := next((name for mark, name in _TEXTS.items() if head.upper().startswith(mark)), None)) is not None:
        return name
    if _JSON_LIST.match(head):
        return "JSON"
    root = _ROOT.match(text, start)
    if root is None:
        return None
    if (known := _XML_ROOTS.get(root[2].lower())) is not None:
        return known
    if text[:start].lstrip("\ufeff \t\r\n").startswith("<?xml") and root[2].lower() not in _OF_HTML | _OF_FEEDS:
        return f"XML of another kind (root element <{root[0][1:61]}>)"
    return None


def image_kind(text: str) -> str | None:
    kind = text_kind(text)
    return kind if kind in _NO_TEXTS else None


def binary_text(text: str) -> bool:
    head = text[:_SNIFFED]
    controls = sum(sign < " " and sign not in "\t\r\n\f\x1b" for sign in head)
    return "\x00" in text[:_SEARCHED] or controls > len(head) // 10


def elements_in(text: str) -> int:
    return sum(1 for _ in _ELEMENT.finditer(text))


def looks_like_html(text: str) -> bool:
    return _ELEMENT.search(text, 0, _SEARCHED) is not None


def is_document(text: str) -> bool:
    """Whether the text is a whole HTML document, by doctype or root element."""
    start = end_of_prolog(text)
    return _HTML.match(text, start) is not None or _DOCTYPE.search(text, 0, start) is not None


_PNG, _GIF, _JPEG = b"\x89PNG\r\n\x1a\n", b"GIF8", b"\xff\xd8"
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers before the picture's size (ITU-T T.81, B.2.2)."""
_MOST_MARKERS, _GROUP = 500, 4


def lines_of(kind: str, body: bytes) -> Iterator[str]:
    """Yield the compared lines of a file. The hash is in groups of four: a long one would be taken for an id."""
    name = kind.removeprefix("a ").removeprefix("an ")
    size = size_of_picture(body)
    yield f"{name[:1].upper()}{name[1:]}" + (f", {size[0]} × {size[1]} pixels" if size else "")
    yield f"Size: {len(body):,} bytes"
    digest = hashlib.sha256(body).hexdigest()
    yield "SHA-256: " + " ".join(digest[i : i + _GROUP] for i in range(0, len(digest), _GROUP))


def size_of_picture(body: bytes) -> tuple[int, int] | None:
    try:
        if body.startswith(_PNG) and body[12:16] == b"IHDR":
            width, height = struct.unpack_from(">II", body, 16)
        elif body.startswith(_GIF):
            width, height = struct.unpack_from("<HH", body, 6)
        elif body.startswith(_JPEG):
            at = 2
            for _ in range(_MOST_MARKERS):
                mark, marker, length = struct.unpack_from(">BBH", body, at)
                if mark != 0xFF:
                    break
                if marker in _FRAMES:
                    height, width = struct.unpack_from(">HH", body, at + 5)
                    return width, height
                at += 2 + length
            return None
        else:
            return None
    except struct.error:
        return None
    return width, height
