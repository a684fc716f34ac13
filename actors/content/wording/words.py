"""Words of a text: their number, language and search. Imports no parser."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import justext

# Kana and Han (two characters a word, as segmenters find in newspapers); Thai, Lao, Burmese and Khmer (four).
_JOINED = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]")
_JOINED_LONG = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]")
UNSPACED = f"{_JOINED.pattern}|{_JOINED_LONG.pattern}".replace("]|[", "")
"""A pattern of one character of a script without spaces."""
_ANY = re.compile(UNSPACED)


def word_counts(texts: Iterable[str]) -> tuple[int, ...]:
    """Return the length of each text: see `words_in`."""
    return tuple([text.count(" ") + 1 if text.isascii() else words_in(text) for text in texts])


def words_in(text: str) -> int:
    """Estimate the words of a text with folded white space, at least 1.

    >>> words_in("The fee is 10 euros."), words_in("料金は10円です。"), words_in("Å")
    (5, 4, 1)
    """
    spaced = text.count(" ") + 1
    if text.isascii() or not _ANY.search(text):
        return spaced
    return spaced + len(_JOINED.findall(text)) // 2 + len(_JOINED_LONG.findall(text)) // 4


_LANGUAGES = (
    "English", "German", "French", "Swedish", "Spanish", "Italian", "Portuguese", "Dutch", "Danish", "Norwegian_Bokmal",
    "Finnish", "Polish", "Czech", "Hungarian", "Romanian", "Russian", "Ukrainian", "Greek", "Turkish", "Indonesian",
)  # fmt: skip
# Read once when the worker starts, before any hostile byte.
_STOPLISTS = {name: frozenset(map(str.lower, justext.get_stoplist(name))) for name in _LANGUAGES}
_CODES = dict(zip(_LANGUAGES, "en de fr sv es it pt nl da nb fi pl cs hu ro ru uk el tr id".split(), strict=True))  # noqa: SIM905
_SAMPLE, _SAMPLE_WORDS, _SAMPLE_LETTERS = 10, 100, 1_000
_FEWEST_WORDS = 30
_SPOKEN: dict[str, list[str]] = {}
"""The languages that have a stop word."""
for _name, _words in _STOPLISTS.items():
    for _word in _words:
        _SPOKEN.setdefault(_word, []).append(_name)


def language_of(texts: Sequence[str]) -> str:
    """Return the language, by jusText's name, with the most stop words in a sample of the longest texts."""
    sample: set[str] = set()
    for text in sorted(texts, key=len, reverse=True)[:_SAMPLE]:
        sample.update(text.lower().split()[:_SAMPLE_WORDS])
    found = Counter(chain.from_iterable(_SPOKEN[word] for word in sample if word in _SPOKEN))
    return max(_LANGUAGES, key=found.__getitem__)


def tongue_of(texts: Sequence[str]) -> str:
    """Return the language, or the script of most letters if no word is from a known language."""
    sample = " ".join(sorted(texts, key=len, reverse=True)[:_SAMPLE])[:_SAMPLE_LETTERS]
    if sample.isascii() or any(word in _SPOKEN for word in sample.lower().split()):
        return language_of(texts)
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in sample if letter.isalpha())
    return max(scripts, key=scripts.__getitem__, default="")


def code_of(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of a text's language; "" if it has too few words."""
    if sum(len(text.split()) for text in texts) < _FEWEST_WORDS:
        return ""
    return _CODES[language_of(texts)]


def stop_words(language: str) -> frozenset[str]:
    return _STOPLISTS[language]


_WHOLE = 20


def folded(text: str) -> str:
    """Fold text for search: no case, no accents, white space as one blank.

    >>> folded("  Ça\u00a0coûte ") == folded("ca coute")
    True
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(text.casefold().split())


def holds(text: str, wanted: str) -> bool:
    """Whether a text contains the wanted one (already folded), or is a long part of it."""
    here = folded(text)
    return bool(wanted) and (wanted in here or (len(here) >= _WHOLE and here in wanted))
