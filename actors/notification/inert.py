"""Inert text: the words of a page without what acts by itself where they are shown. Pure.

Controls forge headers and move cursors, overrides of direction show a text that is not there (UAX #9, Trojan Source),
letters without width hide one text in another, and noncharacters end a document of XML. Joiners stay: Persian, Hindi
and family emoji need them. So do isolates that are closed again, which keep a text of two directions in order.
"""

from __future__ import annotations

import re
import unicodedata

_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ACTING = re.compile(
    r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2065\u206a-\u206f\ufeff"
    r"\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_ISOLATES = re.compile("[\u2066-\u2069]")
_SPACES = re.compile(r"\s+")
_EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def paragraphs(text: str) -> str:
    """Return a text with its line breaks, each a line feed, and at most one empty line in a row.

    >>> paragraphs("one\\r\\ntwo\\x07\\n\\n\\n\\nthree \\u202eeerht")
    'one\\ntwo\\n\\nthree eerht'
    """
    if text.isprintable():  # as nearly all are: nothing of this is printable, but for the space
        return text.strip()
    sound = _ACTING.sub("", _BREAKS.sub("\n", text.encode("utf-8", "replace").decode("utf-8")))
    return _closed(_EMPTY_LINES.sub("\n\n", sound).strip())


def one_line(text: str) -> str:
    """Return a text as one line.

    >>> one_line("Sale\\r\\nBcc: everyone@example.com")
    'Sale Bcc: everyone@example.com'
    """
    if text.isprintable():
        return " ".join(text.split())
    return _SPACES.sub(" ", paragraphs(text)).strip()


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, cut at a word if it has to be, and said so by an ellipsis. A letter
    keeps its accents.

    >>> cut("The fare of the ferry", 12), cut("Donaudampfschiff", 8), cut("short", 8)
    ('The fare of…', 'Donauda…', 'short')
    """
    if len(text) <= most:
        return text
    if most < 1:
        return ""
    kept = text[: most - 1]
    if not text[most - 1].isspace():
        words = kept.rsplit(None, 1)
        if len(words) == 2 and len(words[0]) * 2 >= most:
            kept = words[0]
        while kept and unicodedata.combining(text[len(kept)]):
            kept = kept[:-1]
    return _closed(kept.rstrip()) + "…"


def _closed(text: str) -> str:
    """Return a text without its isolates (UAX #9, 2.4.2), unless each is closed in its own line."""
    for line in text.split("\n"):
        depth = 0
        for mark in _ISOLATES.findall(line):
            depth += -1 if mark == "\u2069" else 1
            if depth < 0:
                break
        if depth:
            return _ISOLATES.sub("", text)
    return text
