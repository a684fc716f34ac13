"""The languages of a query, and the keys that match words.

A word of a text and a word of a query match if they share a key. A word's keys are its stem with folded accents and, if
different, the stem of the folded word: the first finds all inflections (`begär`, `begära`), the second finds words
typed without accents (`affar` finds `affär`). Accents are folded only after Latin and Greek letters: й is not и.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from unicodedata import normalize

from actors.query.words import TABLES

_NAMES: Mapping[str, str] = MappingProxyType(TABLES["languages"])
_CACHE_SIZE = 100_000

# Letters with a visible mark that Unicode does not decompose.
_UNDIVIDED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
_MARKED = re.compile("(?<=[A-Za-z\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff])[\u0300-\u036f]+")


class UnknownLanguage(ValueError):
    """An unknown language; the message lists the known ones."""

    def __init__(self, code: str) -> None:
        super().__init__(f"unknown language {code[:20]!r}: use one of {', '.join(_NAMES)}")
        self.code = code


def languages() -> Mapping[str, str]:
    """Return the languages of queries: ISO 639-1 code, or `simple`, and English name."""
    return _NAMES


def fold(word: str) -> str:
    """Remove a word's accents.

    >>> fold("förelägganden"), fold("smørrebrød"), fold("й")
    ('forelagganden', 'smorrebrod', 'й')
    """
    if word.isascii():
        return word
    return normalize("NFC", _MARKED.sub("", normalize("NFD", word.translate(_UNDIVIDED))))


class Language:
    """The keys of words in one language, cached because words repeat. Not thread-safe."""

    def __init__(self, code: str, stem: Callable[[str], str]) -> None:
        self.code = code
        self._stem = stem
        self._keys: dict[str, tuple[str, ...]] = {}

    def keys(self, word: str) -> tuple[str, ...]:
        """Return the one or two keys of a word in `words.plain` form."""
        keys = self._keys.get(word)
        if keys is None:
            if len(self._keys) >= _CACHE_SIZE:
                self._keys.clear()
            first = fold(self._stem(word))
            second = first if word.isascii() else self._stem(fold(word))
            keys = self._keys[word] = (first,) if first == second else (first, second)
        return keys


@cache
def language(code: str) -> Language:
    """Return a language by its code. Raises UnknownLanguage."""
    if code not in _NAMES:
        raise UnknownLanguage(code)
    if code == "simple":
        return Language(code, str)
    import Stemmer  # noqa: PLC0415  # loaded only for languages that stem

    # Size 0: the stemmer's own cache would only duplicate ours.
    return Language(code, Stemmer.Stemmer(_NAMES[code].split()[0].lower(), 0).stemWord)
