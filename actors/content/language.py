"""The language that a text seems to be in, by its stop words; what a page declares of itself is too often wrong."""

from __future__ import annotations

from collections.abc import Sequence

import justext

_LANGUAGES = (
    "English", "German", "French", "Swedish", "Spanish", "Italian", "Portuguese", "Dutch", "Danish", "Norwegian_Bokmal",
    "Finnish", "Polish", "Czech", "Hungarian", "Romanian", "Russian", "Ukrainian", "Greek", "Turkish", "Indonesian",
)  # fmt: skip
# Read once when the worker starts, before any hostile byte.
_STOPLISTS = {name: frozenset(map(str.lower, justext.get_stoplist(name))) for name in _LANGUAGES}
_SAMPLE, _SAMPLE_WORDS = 10, 100


def language_of(texts: Sequence[str]) -> str:
    """Return the language, as jusText names it, of which a sample of the longest texts has most stop words."""
    sample: set[str] = set()
    for text in sorted(texts, key=len, reverse=True)[:_SAMPLE]:
        sample.update(text.lower().split()[:_SAMPLE_WORDS])
    return max(_LANGUAGES, key=lambda name: len(sample & _STOPLISTS[name]))


def stop_words(language: str) -> frozenset[str]:
    """Return a language's stop words in lower case."""
    return _STOPLISTS[language]
