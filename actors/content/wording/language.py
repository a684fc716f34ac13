"""The probable language of a text, by its stop words; a page's own declaration is too often wrong."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice

import justext

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
    if len(list(islice((word for text in texts for word in text.split()), _FEWEST_WORDS))) < _FEWEST_WORDS:
        return ""
    return _CODES[language_of(texts)]


def stop_words(language: str) -> frozenset[str]:
    return _STOPLISTS[language]
