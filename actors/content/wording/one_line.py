"""Texts on one line: without line breaks and direction marks, cut at a good place."""

from __future__ import annotations

import re

from actors.content.wording.spans import clings
from storage.records.event import MOST_SUMMARY

CUT = "…"
_WORD_END = 16
"""How far back a cut goes for the end of a word."""
_READ = 1_000
# Control characters, line separators, and direction marks: an override would affect the text after it.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def of_text(*texts: str) -> str:
    """Return the beginning of the first non-empty text: an entry's title, its content, its address.

    >>> of_text("", "  Low tide\\nat nine", "https://shore.example/")
    'Low tide at nine'
    """
    return next((said for text in texts if (said := cut(line(text), MOST_SUMMARY))), CUT)


def line(text: str) -> str:
    """Return the beginning of a text on one line, without direction marks."""
    return " ".join(_UNSAFE.sub(" ", text[:_READ]).split())


def cut(text: str, most: int) -> str:
    """Cut a line to `most` characters, at the end of a word if one is near, never before a combining mark.

    >>> cut("Day tickets cost 12 euros", 19)
    'Day tickets cost…'
    """
    if len(text) <= most:
        return text
    end = most - len(CUT)
    while end > 0 and (clings(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    space = text.rfind(" ", max(1, end - _WORD_END), end + 1)
    return text[: space if space > 0 else end].rstrip(" ,;:–—-") + CUT
