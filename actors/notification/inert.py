"""Inert text: a page's text without characters that act by themselves. Pure.

Controls forge headers and move cursors, direction overrides show a different text (UAX #9, Trojan Source), zero-width
characters hide one text in another, and noncharacters end an XML document. Joiners stay: Persian, Hindi and family
emoji need them. So do closed isolates, which keep a text of two directions in order.
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
    r"""Return a text with line feeds as its only line breaks, and at most one empty line in a row.

    >>> paragraphs("one\r\ntwo\x07\n\n\n\nthree \u202eeerht")
    'one\ntwo\n\nthree eerht'
    """
    if text.isprintable():  # as nearly all are: of these characters only the space is printable
        return text.strip()
    sound = _ACTING.sub("", _BREAKS.sub("\n", text.encode("utf-8", "replace").decode("utf-8")))
    return _closed(_EMPTY_LINES.sub("\n\n", sound).strip())


def one_line(text: str) -> str:
    r"""Return a text as one line.

    >>> one_line("Sale\r\nBcc: everyone@example.com")
    'Sale Bcc: everyone@example.com'
    """
    if text.isprintable():
        return " ".join(text.split())
    return _SPACES.sub(" ", paragraphs(text)).strip()


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, cut at a word if possible, with an ellipsis. Letters keep accents.

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
