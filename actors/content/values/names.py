"""Names that came, went or changed, recognised by capitals and by the words around them.

A capital means little at the beginning of a sentence, in a title-case heading, and in languages that capitalise every
noun. There a name needs a legal form ("moinbits GbR"), an abbreviation ("TDDDG"), or several capitals in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from actors.content.values.amounts import Writing
from actors.content.wording.spans import gaps, words_of
from actors.content.wording.words import word_lists

_MOST_WORDS, _MOST_IN_SENTENCE = 5, 15
_LABEL_WORDS = 20
_PART = re.compile(r"[^\W\d_][\w'’.-]*")
_OWNER = re.compile(r"['’]s?$")
_IN_NAMES, _AROUND, _FORMS, _OF_THE_YEAR = (
    frozenset(word_lists("values")["names"][use].split("|")) for use in ("inside", "around", "forms", "seasons")
)
_FIGURES = re.compile(r"\S*\d\S*")
_SENTENCE = re.compile(r"[.!?:]\s+$")
_ENDS = (".", "!", "?", ":")
_APART = re.compile(r"[.!?:;]")
_CAPITALISED_NOUNS = frozenset({"de", "lb"})
"""Languages that capitalise every noun."""
_TITLED = 0.7
_SHORT = 4
_ABBREVIATED = 2


class _Rating(IntEnum):
    NO = 0
    MAY_BE = 1
    SURE = 2


class _WordDifference(NamedTuple):
    """Words that differ, with their neighbours in the same sentence, or "". begins: both sides begin a sentence."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    before: str
    behind: str
    begins: bool
    figures: bool
    ends: bool


def names_in(before: str, after: str, writing: Writing) -> tuple[str, str] | None:
    """Return the old and the new names, if no other words differ."""
    found = list(_stretches(before, after))
    stretches = [one for _, _, one in found if one.old != one.new]
    others = [one for one in stretches if _letters(one.old) != _letters(one.new)]
    likely = [_likely(one, before, after, writing) for one in others or stretches]
    if not likely or min(likely) is _Rating.NO or max(likely) is not _Rating.SURE:
        return None
    if len(stretches) > 1:
        return before, after
    return next((old, new) for old, new, one in found if one.old != one.new)


def same_wording(before: str, after: str) -> bool:
    """Whether texts differ only in figures and connecting words."""
    return all(one.old == one.new for _, _, one in _stretches(before, after))


def _stretches(before: str, after: str) -> Iterator[tuple[str, str, _WordDifference]]:
    olds, news = words_of(before), words_of(after)
    for a, b, c, d in gaps([before[i:j] for i, j in olds], [after[i:j] for i, j in news]):
        old = before[olds[a][0] : olds[b - 1][1]] if a < b else ""
        new = after[news[c][0] : news[d - 1][1]] if c < d else ""
        text, spans, first, last = (after, news, c, d) if c < d else (before, olds, a, b)
        begins = (a == b or _begins(before, olds[a][0])) and (c == d or _begins(after, news[c][0]))
        figures = bool(_FIGURES.search(old) or _FIGURES.search(new))
        ends = (old or new).rstrip()[-1:] in _ENDS
        beside = _beside(text, spans, first, first - 1), _beside(text, spans, last, last)
        yield old, new, _WordDifference(_named(old), _named(new), *beside, begins, figures, ends)


def _beside(text: str, spans: Sequence[tuple[int, int]], gap: int, word: int) -> str:
    """Return a word next to a gap, which is before the word with its number; "" if a sentence ends in the gap."""
    if not 0 < gap < len(spans) or _APART.search(text[spans[gap - 1][1] : spans[gap][0]]):
        return ""
    return text[slice(*spans[word])]


def _begins(text: str, at: int) -> bool:
    """Whether a sentence begins here, where every word has a capital."""
    return _SENTENCE.search(text[max(0, at - 3) : at]) is not None or not text[:at].strip()


def _named(text: str) -> tuple[str, ...]:
    parts = (_OWNER.sub("", each) for each in _PART.findall(_FIGURES.sub(" ", text)))
    words = [word for word in parts if word.strip(".-")]
    while words and words[0].lower() in _AROUND:
        del words[0]
    while words and words[-1].lower() in _AROUND:
        del words[-1]
    return tuple(words)


def _letters(words: Sequence[str]) -> str:
    return "".join(sign for word in words for sign in word.casefold() if sign.isalnum())


def _likely(one: _WordDifference, before: str, after: str, writing: Writing) -> _Rating:
    text = after if len(after) >= len(before) else before
    if one.behind.rstrip(".") in _FORMS and 0 < max(len(one.old), len(one.new)) <= _MOST_WORDS:
        return _Rating.SURE
    if not one.old or not one.new:
        return _one_sided(one, text, writing)
    is_whole = len(_named(before)) == len(one.old) and len(_named(after)) == len(one.new)
    is_one_word = len(one.old) < 2 and len(one.new) < 2
    most = _MOST_WORDS if _is_titled(text) else _MOST_IN_SENTENCE
    are_names = _is_name(one.old, most) and _is_name(one.new, most)
    is_first_word = is_one_word and one.begins and not is_whole
    if not are_names or is_first_word or text.isupper() or _OF_THE_YEAR.issuperset(map(str.lower, one.old + one.new)):
        return _Rating.NO
    if is_one_word and one.figures:
        return _Rating.MAY_BE  # "01069 Dresden" to "20095 Hamburg", but also "10 Views" to "12 Comments"
    if writing.spoken not in _CAPITALISED_NOUNS:
        return _Rating.SURE
    are_short = _is_short_form(one.old, text) and _is_short_form(one.new, text)
    return _Rating.SURE if are_short or min(_capitals(one.old), _capitals(one.new)) > 1 else _Rating.MAY_BE


def _one_sided(one: _WordDifference, text: str, writing: Writing) -> _Rating:
    """Rate words that only one side has; a heading before a text is no name."""
    words = one.old or one.new
    if not words or one.ends or text.isupper() or not _is_name(words, _MOST_IN_SENTENCE):
        return _Rating.NO
    if one.begins and one.behind[:1].isupper() and not _is_titled(text):
        return _Rating.NO
    if _capitals(words) > 1:
        return _Rating.SURE
    if not one.before[:1].isupper() and not one.behind[:1].isupper():
        return _Rating.NO
    if _is_titled(text):
        return _Rating.SURE if _is_of_company(text) or _is_short_form(words, text) else _Rating.NO
    is_noun = writing.spoken in _CAPITALISED_NOUNS and not _is_short_form(words, text)
    return _Rating.NO if is_noun or one.begins else _Rating.SURE


def _is_name(words: Sequence[str], most: int) -> bool:
    if not 1 <= len(words) <= most or not words[0][0].isupper() or any("_" in word for word in words):
        return False
    return all(word[0].isupper() or word.lower() in _IN_NAMES for word in words)


def _capitals(words: Sequence[str]) -> int:
    return sum(word[0].isupper() for word in words)


def _is_short_form(words: Sequence[str], text: str) -> bool:
    """Whether words are abbreviations, in a text that is not all capitals."""
    return not text.isupper() and all(len(word) > _ABBREVIATED and word.isupper() for word in words)


def _is_titled(text: str) -> bool:
    words = [word for word in _PART.findall(text) if len(word) >= _SHORT]
    return _capitals(words) >= _TITLED * len(words)


def _is_of_company(text: str) -> bool:
    """Whether a short text contains a legal form, and so is a company's name or address."""
    words = _PART.findall(text)
    return len(words) <= _LABEL_WORDS and any(word.rstrip(".") in _FORMS for word in words)
