"""Splits text into words with positions, before any language applies.

The text is split into *chunks*, runs of word characters with possible glue (`e-post`, `O'Brien`, `3.14`, `asp.net`,
`c++`); chunks repeat, so their analysis is cached. The `Shape` of a chunk is a row of words, plus longer or other
readings of the same stretch:

    e-post     e, post          and "epost" over both
    gunnar's   gunnar, s        and "gunnars" over both
    U.S.A.     u, s, a          and "usa" over all three
    1,000      1.000            and "1000"
    notepad++  notepad++        and in a text "notepad" (but C is not C++)
    .net       .net             and in a text "net"
    東京都     東, 京, 都         and in a text the pairs 東京, 京都

A query in either reading finds both. Display-only characters (soft hyphen, joiners, variation selectors) are removed;
skin tones are skipped.

`MARKS` are the combining marks of the writing systems (Unicode category M) up to U+10FFF; a range also covers letters
between marks, which is harmless, as both are inside words. A test compares the table with `unicodedata`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

_MARKS = (
    "300-36f 483-489 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e8 6ea-6ed 711-7f3 7fd "
    "816-82d 859-85b 898-8e1 8e3-963 981-9e3 9fe-a75 a81-ae3 afa-b63 b82-bd7 c00-c63 c81-c83 cbc-d4d d57-d63 "
    "d81-df3 e31-e3a e47-e4e eb1-ecd f18-f19 f35 f37 f39 f3e-f84 f86-fbc fc6 102b-103e 1056-109d 135d-135f "
    "1712-1734 1752-17d3 17dd 180b-180d 180f-193b 1a17-1a1b 1a55-1a7f 1ab0-1b44 1b6b-1b73 1b80-1bf3 1c24-1c37 "
    "1cd0-1cd2 1cd4-1dff 20d0-20f0 2cef-2cf1 2d7f-2dff 302a-302f 3099-309a a66f-a672 a674-a67d a69e-a6f1 "
    "a802-a827 a82c a880-a8c5 a8e0-a8f1 a8ff-a92d a947-a953 a980-a9c0 a9e5-aa4d aa7b-aac1 aaeb-aaef aaf5-aaf6 "
    "abe3-abea abec-abed fb1e fe00-fe0f fe20-fe2f 101fd-1037a 10a01-10a3f 10ae5-10ae6 10d24-10eac 10f46-10f50 "
    "10f82-10f85 "
)
_UNSPACED = (
    # Thai and Lao, Myanmar, Hangul jamo, Khmer, kana and Han with their iteration marks, Hangul, half-width kana.
    "e01-e3a e40-e4e e81-eda edc-edf 1000-103f 1050-109d 1100-11ff 1780-17d3 3005-3007 3041-3096 3099-309a 309d-309f "
    "30a1-30fa 30fc-30ff 3131-318e 31f0-31ff 3400-4dbf 4e00-9fff ac00-d7a3 f900-faff ff66-ff9f 20000-323af"
)
_EMOJI = "2190-21ff 2300-23ff 25a0-27bf 2934-2935 2b00-2bff 3030 303d 3297 3299 1f000-1f1e5 1f200-1f3fa 1f400-1faff"


def _class(ranges: str) -> str:
    """Return hexadecimal ranges as the content of a character class."""
    parts = (part.partition("-") for part in ranges.split())
    return "".join(f"\\U{int(low, 16):08x}-\\U{int(high or low, 16):08x}" for low, _, high in parts)


MARKS = _class(_MARKS)
UNSPACED = _class(_UNSPACED)
"""Scripts without spaces between words: read as overlapping pairs of characters."""
EMOJI = _class(_EMOJI)
FLAG = "\\U0001f1e6-\\U0001f1ff"
"""Regional indicators: two of them are one flag."""


LONGEST = 64
"""Characters of a word that count; the rest is ignored, on both sides."""

HIDDEN = "[\u00ad\u200d\u2060\ufeff\ufe00-\ufe0f]"
_HIDDEN = re.compile(f"{HIDDEN}+")
_WORD = rf"[^\W_]++(?:[{MARKS}]++[^\W_]*+)*+"
_DOT = r"(?:(?<![\w.])\.(?=[^\W\d_]))?"
_TAIL = r"(?:\+\+|(?<=[^\W\d_])[+#](?!\w))?"
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
    """Another word for the stretch [start, end) of a chunk's row. typed: it counts in queries too."""

    word: str
    start: int
    end: int
    typed: bool


class Shape(NamedTuple):
    """An analysed chunk: one word for each position, and the other readings."""

    row: tuple[str, ...]
    also: tuple[Reading, ...] = ()


def plain(text: str) -> str:
    """Return text in search form: composed (NFC), case folded, without hidden characters."""
    if text.isascii():
        return text.lower()
    # Case folding can decompose characters, so they are composed again.
    return normalize("NFC", _HIDDEN.sub("", normalize("NFC", text)).casefold())


def chunks(text: str) -> list[str]:
    """Return the chunks of a text in `plain` form, in order."""
    return (_ASCII_CHUNKS if text.isascii() else _CHUNKS).findall(text)


def placed(text: str) -> list[tuple[int, str]]:
    found = (_ASCII_CHUNKS if text.isascii() else _CHUNKS).finditer(text)
    return [(each.start(), each[0]) for each in found]


_shapes: dict[str, Shape] = {}
_REMEMBERED = 50_000


def shape(chunk: str) -> Shape:
    """Analyse a chunk; cached."""
    found = _shapes.get(chunk)
    if found is None:
        if len(_shapes) >= _REMEMBERED:
            _shapes.clear()
        found = _shape(chunk)
        if len(chunk) <= LONGEST:
            _shapes[chunk] = found
    return found


def _shape(chunk: str) -> Shape:
    if chunk.isalnum() and not _IS_UNSPACED.search(chunk):
        return Shape((chunk[:LONGEST],))
    bare = chunk.rstrip("+#").lstrip(".")
    words, glues = _unglue(bare)
    row: list[str] = []
    also: list[Reading] = []
    starts = []
    for word in words:
        starts.append(len(row))
        _lay(word, row, also)
    starts.append(len(row))
    for first, end in _runs(words, glues):
        also.append(Reading("".join(words[first:end]), starts[first], starts[end], True))
    _mark(chunk, row, also)
    return Shape(tuple(word[:LONGEST] for word in row), tuple(r._replace(word=r.word[:LONGEST]) for r in also))


def _unglue(bare: str) -> tuple[list[str], list[str]]:
    """Return a chunk's words and the glue between them; a decimal number or a version stays one word."""
    first, *rest = _SPLIT.split(bare)
    # Kept in parts until the end: a text of only "1.1.1." would otherwise be copied once for each dot.
    found, glues, is_number = [[first]], list[str](), first.isdecimal()
    for glue, word in zip(rest[::2], rest[1::2], strict=True):
        if is_number and glue in ".," and word.isdecimal():
            found[-1].append(word)
        else:
            found.append([word])
            glues.append(glue)
            is_number = word.isdecimal()
    return [".".join(parts) for parts in found], glues


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


def _lay(word: str, row: list[str], also: list[Reading]) -> None:
    """Add a word to the row: whole, or as the characters of an unspaced script plus their pairs."""
    if _THOUSANDS.fullmatch(word):
        also.append(Reading(word.replace(".", ""), len(row), len(row) + 1, True))
    for run in _RUNS.findall(word):
        if not _IS_UNSPACED.match(run):
            row.append(run)
            continue
        start = len(row)
        row.extend(run)
        also.extend(Reading(a + b, start + n, start + n + 2, False) for n, (a, b) in enumerate(pairwise(run)))


def _mark(chunk: str, row: list[str], also: list[Reading]) -> None:
    """Add the leading dot and the trailing + or #; a word longer than a letter also counts without them."""
    tail = chunk[len(chunk.rstrip("+#")) :]
    if tail:
        if len(row[-1]) > 1:
            also.append(Reading(row[-1], len(row) - 1, len(row), False))
        row[-1] += tail
    if chunk.startswith("."):
        if len(row[0]) > 1:
            also.append(Reading(row[0], 0, 1, False))
        row[0] = "." + row[0]


def unspaced(word: str) -> bool:
    """Whether a word has characters of a script without spaces."""
    return _IS_UNSPACED.search(word) is not None
