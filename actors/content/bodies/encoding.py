"""Bytes to text: a body's encoding, undeclared gzip, and the prolog before the first element.

Follows the order of the Encoding Standard (https://encoding.spec.whatwg.org): byte order mark, the header's charset,
the document's own declaration. Two fifths of the declarations on the web are wrong, so three rules are added. Bytes
that are valid UTF-8 with multi-byte sequences are UTF-8, whatever single-byte charset was declared. A declared charset
that cannot decode the bytes is skipped. Latin-1, the default of servers and editors, yields to any other declaration
and to letters that no Western language combines in one word.

Scanned by hand in one pass: patterns for comments and doctypes turn quadratic on hostile input.

The size is bounded: a bomb stays packed and is then rejected as gzip.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress

import charset_normalizer
from msgspec import Struct

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.I)
_XML = re.compile(rb"^\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']\s*([\w.:+-]+)", re.I)
_META = re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.I)
_COMMENT = re.compile(rb"<!--.*?-->", re.S)
_HEAD = 1024
_LATE = 64 * 1024
"""Bytes searched for a declared charset. Browsers prescan fewer, but reparse when they find one later."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_LATIN = "cp1252"
_SAMPLE = 64 * 1024

# Labels whose content often needs a superset. `_ALLOWED` omits codecs that are no charset (zlib, rot13, idna,
# unicode_escape) and the dangerous UTF-7, so a document cannot request them.
_WIDER = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "johab": "cp949",
    "big5": "big5hkscs", "cp1125": "cp866", "euc_jis_2004": "euc_jp",
}  # fmt: skip
_LABELS = {"koi": "koi8-r", "koi8": "koi8-r", "cp31j": "cp932", "dos-874": "cp874", "iso-8859-8-i": "iso8859-8"}
_PREFIX = re.compile(r"^(?:x-)+|^(?:x-)*win(?:dows)?-?(?=\d)")

_SINGLE = frozenset(
    [f"cp{n}" for n in (437, 850, 852, 866, 874, *range(1250, 1259))]
    + [f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)]
    + ["koi8-r", "koi8-u", "mac-roman", "mac-cyrillic"]
)
_ALLOWED = _SINGLE | {
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be",
    "gb18030", "hz", "cp932", "euc_jp", "iso2022_jp", "cp949", "iso2022_kr", "big5hkscs",
}  # fmt: skip


class DecodedText(Struct, frozen=True):
    """A body's text. how: the sign that decided. damaged: some bytes did not decode and show as U+FFFD or wrong."""

    text: str
    encoding: str
    how: str
    damaged: bool = False


def decode(body: bytes, content_type: str) -> DecodedText:
    """Decode a body without ever failing. "iso-8859-1" and "ascii" mean windows-1252, as in browsers."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return _tolerant(body[len(bom) :], name, "byte order mark")
    if wide := _wide_without_bom(body):
        return _tolerant(body, wide, "pattern of zero bytes")
    failed = False
    for name, how in sorted(_declared(body, content_type), key=lambda declared: declared[0] == _LATIN):
        if name == _LATIN and (guessed := _not_western(body)):
            return _tolerant(body, guessed, f"{how} said {name}, guessed from the bytes")
        if name in _SINGLE and _is_multibyte_utf8(body):
            return DecodedText(body.decode(), "utf-8", f"{how} said {name}, the bytes are UTF-8", False)
        try:
            return DecodedText(body.decode(name), name, how, False)
        except UnicodeDecodeError as error:
            if name == "utf-8" and (text := _nearly_utf8(body, error)) is not None:
                return DecodedText(text, "utf-8", how, True)
            failed = True
    try:
        return DecodedText(body.decode(), "utf-8", "valid UTF-8", failed)
    except UnicodeDecodeError as error:
        if (text := _nearly_utf8(body, error)) is not None:
            return DecodedText(text, "utf-8", "nearly all of it is UTF-8", True)
    if guessed := _not_western(body):
        return _tolerant(body, guessed, "guessed from the bytes", damaged=failed)
    try:
        return DecodedText(body.decode(_LATIN), _LATIN, "assumed, as browsers do", failed)
    except UnicodeDecodeError:
        return _tolerant(body, _guessed(body) or _LATIN, "guessed from the bytes", damaged=True)


def _not_western(body: bytes) -> str | None:
    """Guess the charset; None if it reads as a Western language, where few letters of a word carry marks."""
    if body.isascii() or _is_multibyte_utf8(body):
        return None
    words = [word for word in _WORD.findall(body[:_SAMPLE].decode(_LATIN, "replace")) if not word.isascii()]
    strange = sum(2 * sum(letter > "\x7f" for letter in word) > len(word) for word in words)
    return _guessed(body) if 2 * strange > len(words) else None


def _guessed(body: bytes) -> str | None:
    best = charset_normalizer.from_bytes(body[:_SAMPLE]).best()
    return _charset(best.encoding) if best is not None else None


def _tolerant(body: bytes, name: str, how: str, *, damaged: bool = False) -> DecodedText:
    try:
        return DecodedText(body.decode(name), name, how, damaged)
    except UnicodeDecodeError:
        return DecodedText(body.decode(name, "replace"), name, how, True)


def _declared(body: bytes, content_type: str) -> Iterator[tuple[str, str]]:
    if (found := _HEADER.search(content_type)) and (name := _charset(found[1])):
        # UTF-16 without a BOM contains zero bytes; if there are none, the header is wrong.
        yield ("utf-8" if name.startswith(("utf-16", "utf-32")) and b"\x00" not in body[:_HEAD] else name), "header"
    head = _COMMENT.sub(b"", body[:_LATE])
    for pattern, how in ((_XML, "XML declaration"), (_META, "meta element")):
        if (inside := pattern.search(head)) and (name := _charset(inside[1].decode("ascii", "replace"))):
            # A declaration that reads byte by byte cannot be in UTF-16.
            yield ("utf-8" if name.startswith(("utf-16", "utf-32")) else name), how


def _charset(label: str) -> str | None:
    label = label.strip().lower()
    bare = _PREFIX.sub(lambda prefix: "cp" if "win" in prefix[0] else "", label)
    try:
        name = codecs.lookup(_LABELS.get(bare, bare)).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(name, name)
    return name if name in _ALLOWED else None


def _wide_without_bom(body: bytes) -> str | None:
    """Detect UTF-16 without a BOM: the document starts with `<` and an ASCII character."""
    if len(body) >= 4 and body[0] == 0x3C and body[1] == 0 and body[2] and body[3] == 0:
        return "utf-16-le"
    return "utf-16-be" if len(body) >= 4 and body[0] == 0 and body[1] == 0x3C and body[2] == 0 and body[3] else None


def _is_multibyte_utf8(body: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        return not body.isascii() and bool(body.decode())
    return False


def _nearly_utf8(body: bytes, error: UnicodeDecodeError) -> str | None:
    """Decode UTF-8 with a cut end or stray bytes (at most 1 per 50 wide characters); None for anything else."""
    if error.start >= len(body) - 3:
        return body[: error.start].decode()
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return text if broken * 50 <= sum(1 for c in text if c > "\x7f") else None


_BLANK = re.compile(r"[\s\ufeff\x00]*")
_LONGEST = 512 * 1024


def end_of_prolog(text: str) -> int:
    """Return the position of the first character after the prolog (the first element, or junk).

    >>> end_of_prolog('<?xml version="1.0"?><!-- a --> <rss>')
    32
    """
    position: int | None = 0
    at = 0
    while position is not None and position < _LONGEST:
        blank = _BLANK.match(text, position)
        at = position = blank.end() if blank else position
        if text.startswith("<?", at):
            position = _after(text, "?>", at)
        elif text.startswith("<!--", at):
            position = _after(text, "-->", at)
        else:
            is_doctype = text[at : at + 9].lower() == "<!doctype"
            position = _end_of_doctype(text, at) if is_doctype else None
    return at if position is None else position


def _after(text: str, mark: str, position: int) -> int | None:
    found = text.find(mark, position)
    return None if found < 0 else found + len(mark)


def _end_of_doctype(text: str, position: int) -> int | None:
    close = _after(text, ">", position)
    subset = _after(text, "[", position)
    if close is None or subset is None or subset > close:
        return close
    end = _after(text, "]", subset)
    return None if end is None else _after(text, ">", end)


MOST_UNPACKED = 8 << 20  # upper bound of unpacked bytes
_GZIP = b"\x1f\x8b\x08"
_GZIP_WINDOW = 31  # zlib's code for a 32 KiB window inside a gzip header


def unpacked(body: bytes) -> bytes:
    """Unpack a gzip body, or the readable part of one; return others, damaged and larger ones unchanged."""
    if not body.startswith(_GZIP):
        return body
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    try:
        inside = unpacker.decompress(body, MOST_UNPACKED)
    except zlib.error:
        return body
    return body if unpacker.unconsumed_tail or not inside else inside
