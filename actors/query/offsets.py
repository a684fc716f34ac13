"""Places of words in the original text: in Unicode code points, before any folding.

Words are found in the plain form of a text, which may be shorter or longer. So the text is cut into clusters (a
character with its marks and hidden characters), which are converted to plain form one by one; composition never crosses
clusters. If the pieces do not add up to the whole, no places are returned instead of wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import normalize

from actors.query import words
from actors.query.scripts import MARKS

_HANGUL = "\u1160-\u11ff\ud7b0-\ud7ff"
"""Vowels and finals, which combine with the characters before them, though they are no marks."""
_BEYOND = r"(?!\w)[\U00011000-\U0001efff]"
"""The marks beyond the table of `scripts.py`, and some harmless other signs."""
_CLUSTER = re.compile(rf"(?s:.)(?:[{MARKS}{_HANGUL}\uff9e\uff9f]|{_BEYOND}|{words.HIDDEN})*+")


class Span(NamedTuple):
    """Code points from `start` to before `end`."""

    start: int
    end: int


def word_spans(text: str) -> Sequence[Span]:
    """Return the span of each word of a text, in the order of `Analysed`'s row; empty spans if unknown."""
    plain, starts, ends = _traced(text)
    found: list[Span] = []
    for at, chunk in words.placed(plain):
        for start, end in _inside(chunk):
            known = bool(ends) and start < end
            found.append(Span(starts[at + start], ends[at + end - 1]) if known else Span(0, 0))
    return found


def _inside(chunk: str) -> Iterator[Span]:
    """Yield the places of the words of a chunk's row in it."""
    typed, at = chunk.replace(",", "."), 0  # a decimal comma becomes a dot in the row
    for word in words.shape(chunk).row:
        start = max(typed.find(word, at), at)
        at = min(start + len(word), len(chunk))
        yield Span(start, at)


def _traced(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the plain form, and the start and end of each character's cluster in the text; no places if unknown."""
    plain = words.plain(text)
    if text.isascii() or _is_one_to_one(text, plain):
        return plain, range(len(plain)), range(1, len(plain) + 1)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        piece = words.plain(cluster[0])
        pieces.append(piece)
        starts += [cluster.start()] * len(piece)
        ends += [cluster.end()] * len(piece)
    return (plain, starts, ends) if "".join(pieces) == plain else (plain, (), ())


def _is_one_to_one(text: str, plain: str) -> bool:
    """Whether character n of the plain form comes from character n: case folding never shortens a text."""
    return len(plain) == len(text) and normalize("NFC", text) == text and text.casefold() == plain
