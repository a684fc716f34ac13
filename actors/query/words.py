"""Splits text into words with positions, before any language applies.

A text is split at spaces into *tokens*; they repeat, so their analysis is cached and most texts cost a lookup a token.
A token has *chunks*, runs of word characters with possible glue (`e-post`, `O'Brien`, `3.14`, `asp.net`, `c++`). Its
`Shape` is a row of words, plus longer or other readings of the same stretch:

    e-post     e, post          and "epost" over both
    gunnar's   gunnar, s        and "gunnars" over both
    U.S.A.     u, s, a          and "usa" over all three
    1,000      1.000            and "1000"
    notepad++  notepad++        and in a text "notepad" (but C is not C++)
    .net       .net             and in a text "net"
    東京都     東, 京, 都         and in a text the pairs 東京, 京都

A query in either reading finds both. Display-only characters (soft hyphen, joiners, variation selectors) are removed;
skin tones are skipped.

The languages of a query, and the keys that match words. A word of a text and a word of a query match if they share a
key. A word's keys are its stem with folded accents and, if different, the stem of the folded word: the first finds all
inflections (`begär`, `begära`), the second finds words typed without accents (`affar` finds `affär`). Accents are
folded only after Latin and Greek letters: й is not и.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from sys import intern
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import normalize

TABLES = tomllib.loads(files("actors.query").joinpath("tables.toml").read_text("utf-8"))


def _class(ranges: str) -> str:
    """Return hexadecimal ranges as the content of a character class."""
    parts = (part.partition("-") for part in ranges.split())
    return "".join(f"\\U{int(low, 16):08x}-\\U{int(high or low, 16):08x}" for low, _, high in parts)


MARKS = _class(TABLES["marks"])
UNSPACED = _class(TABLES["unspaced"])  # scripts without spaces between words: read as overlapping pairs of characters
EMOJI = _class(TABLES["emoji"])
FLAG = "\\U0001f1e6-\\U0001f1ff"  # regional indicators: two of them are one flag

LONGEST = 64  # characters of a word that count; the rest is ignored, on both sides

HIDDEN = "[\u00ad\u200d\u2060\ufeff\ufe00-\ufe0f]"
_HIDDEN = re.compile(f"{HIDDEN}+")
_WORD = rf"[^\W_]++(?:[{MARKS}]++[^\W_]*+)*+"
_DOT, _TAIL = r"(?:(?<![\w.])\.(?=[^\W\d_]))?", r"(?:\+\+|(?<=[^\W\d_])[+#](?!\w))?"
_GLUE = "[-\u2010\u2011'\u2019\u02bc.]"
_ASCII_CHUNKS = re.compile(
    rf"{_DOT}[a-z0-9]++(?:(?:[-'.]|(?<=\d),(?=\d))[a-z0-9]++)*+(?:\+\+|(?<=[a-z])[+#](?![a-z0-9_]))?"
)
_CHUNKS = re.compile(rf"{_DOT}{_WORD}(?:(?:{_GLUE}|(?<=\d),(?=\d)){_WORD})*+{_TAIL}|[{FLAG}]{{2}}|[{EMOJI}]")
_SPLIT = re.compile("([-\u2010\u2011'\u2019\u02bc.,])")
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_RUNS = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")


class Reading(NamedTuple):
    """Another word for the stretch [start, end) of a token's row. in_queries: it counts in queries too."""

    word: str
    start: int
    end: int
    in_queries: bool


class Shape(NamedTuple):
    """An analysed token: one word for each position, and the other readings."""

    row: tuple[str, ...]
    readings: tuple[Reading, ...] = ()


def plain(text: str) -> str:
    """Return text in search form: composed (NFC), case folded, without hidden characters."""
    if text.isascii():
        return text.lower()
    # Case folding can decompose characters, so they are composed again.
    return normalize("NFC", _HIDDEN.sub("", normalize("NFC", text)).casefold())


def tokens(text: str) -> list[str]:
    """Split a text at spaces, which no word crosses. Long tokens, as of unspaced scripts, are split into chunks."""
    found = text.split()
    if max(map(len, found), default=0) <= LONGEST:
        return found
    return [part for token in found for part in ((token,) if len(token) <= LONGEST else chunks(plain(token)))]


def chunks(text: str) -> list[str]:
    return (_ASCII_CHUNKS if text.isascii() else _CHUNKS).findall(text)


def chunk_positions(text: str) -> list[tuple[int, str]]:
    matches = (_ASCII_CHUNKS if text.isascii() else _CHUNKS).finditer(text)
    return [(each.start(), each[0]) for each in matches]


_shapes: dict[str, Shape] = {}
_CACHE_SIZE = 50_000


def shape(token: str) -> Shape:
    cached = _shapes.get(token)
    if cached is None:
        if len(_shapes) >= _CACHE_SIZE:
            _shapes.clear()
        parts = [_shape(chunk) for chunk in chunks(plain(token))]
        cached = parts[0] if len(parts) == 1 else _joined(parts)
        if len(token) <= LONGEST:
            _shapes[token] = cached
    return cached


def _joined(parts: Iterable[Shape]) -> Shape:
    row, readings = list[str](), list[Reading]()
    for part in parts:
        at = len(row)
        row += part.row
        readings += [Reading(word, start + at, end + at, both) for word, start, end, both in part.readings]
    return Shape(tuple(row), tuple(readings))


def _shape(chunk: str) -> Shape:
    if chunk.isalnum() and not _IS_UNSPACED.search(chunk):
        return Shape((chunk[:LONGEST],))
    bare = chunk.rstrip("+#").lstrip(".")
    words, glues = _split_glue(bare)
    row, readings, starts = list[str](), list[Reading](), list[int]()
    for word in words:
        starts.append(len(row))
        _append_word(word, row, readings)
    starts.append(len(row))
    for first, end in _runs(words, glues):
        readings.append(Reading("".join(words[first:end]), starts[first], starts[end], True))
    # A leading dot and a trailing + or # are part of a word; if longer than a letter, it also counts without them.
    if tail := chunk[len(chunk.rstrip("+#")) :]:
        if len(row[-1]) > 1:
            readings.append(Reading(row[-1], len(row) - 1, len(row), False))
        row[-1] += tail
    if chunk.startswith("."):
        if len(row[0]) > 1:
            readings.append(Reading(row[0], 0, 1, False))
        row[0] = "." + row[0]
    return Shape(tuple(word[:LONGEST] for word in row), tuple(r._replace(word=r.word[:LONGEST]) for r in readings))


def _split_glue(bare: str) -> tuple[list[str], list[str]]:
    """Return a chunk's words and the glue between them; a decimal number or a version stays one word."""
    first, *rest = _SPLIT.split(bare)
    # Kept in parts until the end: a text of only "1.1.1." would otherwise be copied once for each dot.
    groups, glues, is_number = [[first]], list[str](), first.isdecimal()
    for glue, word in zip(rest[::2], rest[1::2], strict=True):
        if is_number and glue in ".," and word.isdecimal():
            groups[-1].append(word)
        else:
            groups.append([word])
            glues.append(glue)
            is_number = word.isdecimal()
    return [".".join(parts) for parts in groups], glues


def _runs(words: list[str], glues: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of words that can be joined: by hyphens and apostrophes, and initials by dots."""
    if len(words) > 1 and all(glue == "." for glue in glues) and all(len(word) == 1 for word in words):
        yield 0, len(words)
        return
    first = 0
    for at, glue in enumerate([*glues, "."], 1):
        if glue in ".,":
            if at - first > 1:
                yield first, at
            first = at


def _append_word(word: str, row: list[str], readings: list[Reading]) -> None:
    """Add a word to the row: whole, or as the characters of an unspaced script plus their pairs."""
    if _THOUSANDS.fullmatch(word):
        readings.append(Reading(word.replace(".", ""), len(row), len(row) + 1, True))
    for run in _RUNS.findall(word):
        if not _IS_UNSPACED.match(run):
            row.append(run)
            continue
        start = len(row)
        row.extend(run)
        readings.extend(Reading(a + b, start + n, start + n + 2, False) for n, (a, b) in enumerate(pairwise(run)))


def unspaced(word: str) -> bool:
    return _IS_UNSPACED.search(word) is not None


_NAMES: Mapping[str, str] = MappingProxyType(TABLES["languages"])
_STEM_CACHE_SIZE = 100_000

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
        self.code, self._stem = code, stem
        self._keys: dict[str, tuple[str, ...]] = {}

    def keys(self, word: str) -> tuple[str, ...]:
        """Return the one or two keys of a word in `words.plain` form."""
        keys = self._keys.get(word)
        if keys is None:
            if len(self._keys) >= _STEM_CACHE_SIZE:
                self._keys.clear()
            first = intern(fold(self._stem(word)))  # one object for all inflections, so most comparisons are cheap
            second = first if word.isascii() else intern(self._stem(fold(word)))
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
