"""Sitemaps and their indexes (sitemaps.org 0.9), read as a stream: neither text nor tree is ever complete in memory.

A file of 50,000 addresses is a few megabytes of XML, but fifty as a tree.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import chain, islice

from lxml import etree
from msgspec import Struct

from actors.content.errors import ContentError
from actors.content.wording.moments import moment
from storage.records.identity import Millis

MOST_UNPACKED = 64 << 20
"""Bytes of a sitemap, unpacked."""
MOST_ADDRESSES = 100_000
_STEP = 64 << 10
_GZIP, _GZIP_WINDOW = b"\x1f\x8b\x08", 31
_BEGINS = re.compile(rb"<(?:[a-zA-Z][\w.-]*:)?(urlset|sitemapindex)[\s>/]")
_HEAD = 4096
_LONGEST = 2048
_NAMES = {"loc": "loc", "lastmod": "lastmod", "title": "title", "publication_date": "published"}


class SitemapEntry(Struct, frozen=True):
    """One address of a sitemap. modified: its date as written. title, published_at: from a news sitemap."""

    url: str
    modified: str = ""
    title: str = ""
    published_at: Millis | None = None


class Sitemap(Struct, frozen=True):
    """A sitemap, or an index of its files. partial: it has more addresses than the limit."""

    is_index: bool
    addresses: tuple[SitemapEntry, ...]
    partial: bool = False


def is_sitemap(body: bytes) -> bool:
    return _BEGINS.search(_head(body)) is not None


def read_sitemap(body: bytes) -> Sitemap:
    """Return the addresses up to a fault in the XML (many have a raw ampersand). Raises ContentError if it is none."""
    found = _BEGINS.search(_head(body))
    if found is None:
        raise ContentError("This is not a sitemap: it has no <urlset> and no <sitemapindex>.")
    addresses = _addresses(body)
    read = tuple(islice(addresses, MOST_ADDRESSES))
    return Sitemap(found[1] == b"sitemapindex", read, partial=next(addresses, None) is not None)


def _addresses(body: bytes) -> Iterator[SitemapEntry]:
    parser = etree.XMLPullParser(
        events=("end",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    said: dict[str, str] = {}
    for part in chain(_unpacked(body), (None,)):  # at its end the parser releases held elements
        try:
            parser.close() if part is None else parser.feed(part)
        except etree.XMLSyntaxError as error:
            raise ContentError(f"The sitemap is damaged: {error.msg}") from None
        for _, element in parser.read_events():
            tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
            if tag in _NAMES and (text := (element.text or "").strip()) and _is_its_own(element, tag):
                said.setdefault(_NAMES[tag], text[: _LONGEST + 1])
            elif tag in ("url", "sitemap"):
                if 0 < len(said.get("loc", "")) <= _LONGEST:
                    published = moment(said["published"]) if "published" in said else None
                    yield SitemapEntry(said["loc"], said.get("lastmod", "")[:40], said.get("title", ""), published)
                said = {}
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]


def _is_its_own(element: etree._Element, tag: str) -> bool:
    """Whether an element describes the page: its images and videos have addresses and titles too."""
    if tag in ("loc", "lastmod"):
        parent = element.getparent()
        return parent is not None and str(parent.tag).rpartition("}")[2] in ("url", "sitemap")
    return "news" in str(element.tag).rpartition("}")[0]


def _head(body: bytes) -> bytes:
    return next(_unpacked(body[:_STEP]), b"")[:_HEAD] if body.startswith(_GZIP) else body[:_HEAD]


def _unpacked(body: bytes) -> Iterator[bytes]:
    """Yield a body in small unpacked chunks. Raises ContentError if it is damaged or too large."""
    unpacker = zlib.decompressobj(_GZIP_WINDOW) if body.startswith(_GZIP) else None
    size = 0
    for start in range(0, len(body), _STEP):
        rest = body[start : start + _STEP]
        while rest:
            part, rest = rest, b""
            if unpacker is not None:
                try:
                    part, rest = unpacker.decompress(part, _STEP), unpacker.unconsumed_tail
                except zlib.error:
                    raise ContentError("The compressed sitemap can't be unpacked.") from None
            size += len(part)
            if size > MOST_UNPACKED:
                raise ContentError(f"The sitemap has more than {MOST_UNPACKED >> 20} MiB.")
            yield part
