"""The words that differ between two wordings of a text, as spans of code points.

A word is a run of letters and digits with their marks ("19,90" is one); in scripts without spaces (Japanese, Chinese,
Thai, ...) it is one character with its marks. No cut separates a letter from its mark. The cost is n log n.
"""

from __future__ import annotations

import re
import unicodedata

from actors.content.wording.patience_diff import gaps
from actors.content.wording.words import UNSPACED
from storage.records.event import Span, Spans

MOST_WORDS = 4_000
"""Words of both texts together beyond which none is marked."""
_LIKE = 0.5
"""Texts with a smaller share of common words are shown whole."""
_JOINER = "\u200d"
_FIGURE = r"(?:(?<=\d)[.,:]\d+)*"
_WORD = re.compile(rf"{UNSPACED}|(?:(?!{UNSPACED})\w)+{_FIGURE}|[^\w\s]")
_PLAIN = re.compile(rf"\w+{_FIGURE}|[^\w\s]")


def spans_of(before: str, after: str) -> Spans | None:
    """Return the words that differ; None if the texts are equal apart from white space, too different or too long."""
    old, new = words_of(before), words_of(after)
    if len(old) + len(new) > MOST_WORDS:
        return None
    found = gaps([before[i:j] for i, j in old], [after[i:j] for i, j in new])
    unlike = sum(b - a + d - c for a, b, c, d in found)
    if not found or unlike > (1 - _LIKE) * (len(old) + len(new)):
        return None
    return Spans(
        tuple((old[a][0], old[b - 1][1]) for a, b, _, _ in found if a < b),
        tuple((new[c][0], new[d - 1][1]) for _, _, c, d in found if c < d),
    )


def words_of(text: str) -> list[Span]:
    """Return the start and end of each word and sign of a text.

    >>> words_of("12 kr")
    [(0, 2), (3, 5)]
    >>> words_of("値上げ"), words_of("e\u0301t")
    ([(0, 1), (1, 2), (2, 3)], [(0, 3)])
    """
    if text.isascii():
        return [found.span() for found in _PLAIN.finditer(text)]
    words: list[Span] = []
    was_mark = False
    for found in _WORD.finditer(text):
        start, end = found.span()
        is_mark = clings(text[start])
        is_joined = (is_mark or was_mark) and words and words[-1][1] == start
        # The character after a mark belongs to the same word if letters surround it, or after a joiner.
        if is_joined and (is_mark or text[start - 1] == _JOINER or _goes_on(text, start)):
            words[-1] = (words[-1][0], end)
        else:
            words.append((start, end))
        was_mark = clings(text[end - 1])
    return words


def clings(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, a joiner, a skin tone."""
    if character.isascii():
        return False
    return (
        character == _JOINER or unicodedata.category(character)[0] == "M" or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _goes_on(text: str, start: int) -> bool:
    """Whether the letter after a mark continues the word; not in scripts where each character is one."""
    return text[start].isalnum() and not re.match(UNSPACED, text[start])
