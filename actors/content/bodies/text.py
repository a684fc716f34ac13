"""Text: from bytes to str, from markup to plain lines, and its stored forms."""

from __future__ import annotations

import html
import re
import unicodedata

from actors.content.errors import ContentError
from storage.records.event import CONTENT_CAP

MOST_PLAIN = 1 << 20
"""Characters of an entry's text that are read."""

_MARKUP = re.compile(r"<[a-zA-Z/!?]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_SURROGATE = re.compile("[\ud800-\udfff]")
# All control characters except tab, line breaks and NEL, which become white space.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def normalise(text: str) -> str:
    """Return NFC text without lone surrogates and control characters; white space is folded per line, outer blank lines
    go.

    >>> normalise("  a\\t b \\r\\n\\n\\n\\nc\\x00\\ud800 ")
    'a b\\n\\nc\ufffd'
    """
    if text.isprintable():  # one clean line, the common case
        return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())
    text = _CONTROL.sub("", _SURROGATE.sub("\ufffd", text))
    lines = [" ".join(line.split()) for line in unicodedata.normalize("NFC", text).splitlines()]
    kept = [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]
    return "\n".join(kept).strip("\n")


def plain(fragment: str, *, most: int = MOST_PLAIN) -> str:
    """Return the plain text of an HTML fragment, or of text with entities; blocks and <br> become lines.

    Drops scripts, styles and hidden parts. Reads at most `most` characters of the fragment.
    """
    fragment = fragment[:most]
    if _MARKUP.search(fragment):
        from actors.content.bodies import markup  # noqa: PLC0415 - lxml is for workers

        try:
            return normalise("\n".join(filter(str.strip, markup.lines(markup.parse_fragment(fragment)))))
        except ContentError:
            return ""
    return normalise(decode_entities(fragment))


def decode_entities(text: str) -> str:
    """Resolve character references, twice because some feeds escape them twice (`&amp;#8217;`)."""
    for _ in range(2):
        if not _ENTITY.search(text):
            break
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    return text


def cap(text: str) -> tuple[str, bool]:
    """Cut text to 64 KiB of UTF-8 on a character boundary; the flag tells whether it was cut."""
    if len(text) * 4 <= CONTENT_CAP:
        return text, False
    raw = text.encode()
    if len(raw) <= CONTENT_CAP:
        return text, False
    return raw[:CONTENT_CAP].decode("utf-8", "ignore"), True
