"""Words of a text: their number, search as people expect it, and lists of words by language. Imports no parser."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from configparser import ConfigParser
from functools import cache
from importlib.resources import files

# Kana and Han (two characters a word, as segmenters find in newspapers); Thai, Lao, Burmese and Khmer (four).
_JOINED = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]")
_JOINED_LONG = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]")
UNSPACED = f"{_JOINED.pattern}|{_JOINED_LONG.pattern}".replace("]|[", "")
"""A pattern of one character of a script without spaces."""
_ANY = re.compile(UNSPACED)


def word_counts(texts: Iterable[str]) -> tuple[int, ...]:
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


class _Lists(ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr  # the case of a word counts


@cache
def word_lists(name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of a file of the folder `lists`, each by its keys; words are usually between bars."""
    read = _Lists(interpolation=None, delimiters=("=",))
    read.read_string(files("actors.content.wording").joinpath("lists", f"{name}.ini").read_text("utf-8"))
    return {part: {key: text.replace("\n", "") for key, text in read[part].items()} for part in read.sections()}
