"""A text for queries, analysed once for all of them and only as far as needed, with places in the original.

The keys of a text decide most queries; they are made per language, from the distinct chunks only. Positions are made
when a text has all words of a phrase, the words themselves when a query has a prefix.

Words are found in the plain form of a text, which may be shorter or longer. So the text is cut into clusters (a
character with its marks and hidden characters), which are converted to plain form one by one; composition never crosses
clusters. If the pieces do not add up to the whole, no places are returned instead of wrong ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import NamedTuple
from unicodedata import normalize

from actors.query import words
from actors.query.conditions import NO_FACTS, Condition, Facts
from actors.query.languages import Language, fold, language
from actors.query.nodes import Phrase, Prefix, Unit
from actors.query.words import MARKS

Positions = Mapping[str, list[tuple[int, int]]]
"""By key: its occurrences, as the position of its first word and the one after its last."""


_REMEMBERED = 100_000


class TermOccurrence(NamedTuple):
    """An occurrence of a term: the part of the text, its first word there and the one after its last."""

    part: int
    start: int
    end: int


class AnalysedText:
    """A text in parts: title and content, or the blocks of a change. No phrase crosses parts. facts: the changes."""

    def __init__(self, *parts: str, facts: Facts = NO_FACTS) -> None:
        self.facts = facts
        self._parts = tuple(words.chunks(words.plain(part)) for part in parts)
        self._chunks = tuple({chunk: None for part in self._parts for chunk in part})
        self._keys: dict[str, frozenset[str]] = {}
        self._positions: dict[str, Positions] = {}

    def keys(self, code: str) -> frozenset[str]:
        found = self._keys.get(code)
        if found is None:
            known = _known_keys(code)
            found = frozenset(chain.from_iterable(map(known.__getitem__, self._chunks)))
            found = self._keys[code] = found | self.facts.keys if self.facts.keys else found
        return found

    @cached_property
    def folded(self) -> list[str]:
        """Every distinct word without accents, sorted, for prefix lookups."""
        return sorted({fold(word) for chunk in self._chunks for word in _words_of(chunk)})

    def begins(self, prefix: str) -> bool:
        at = bisect_left(self.folded, prefix)
        return at < len(self.folded) and self.folded[at].startswith(prefix)

    def has(self, unit: Unit, code: str) -> bool:
        if isinstance(unit, Prefix):
            return self.begins(unit.text)
        return not self.keys(code).isdisjoint(unit.keys)

    def has_term(self, term: Unit | Phrase | Condition, code: str) -> bool:
        if isinstance(term, Condition):
            return self.facts.meet(term)
        return self.in_a_row(term, code) if isinstance(term, Phrase) else self.has(term, code)

    def places(self, term: Unit | Phrase | Condition, code: str) -> Iterator[TermOccurrence]:
        """Yield the occurrences of a term, part by part; a condition has none."""
        if isinstance(term, Condition):
            return
        for start, end in self.stretches(term, code):
            part = bisect_right(self._firsts, start) - 1
            yield TermOccurrence(part, start - self._firsts[part], end - self._firsts[part])

    @cached_property
    def _firsts(self) -> list[int]:
        """The position of each part's first word in the row."""
        sizes = (sum(len(words.shape(chunk).row) for chunk in part) + 1 for part in self._parts)
        return list(accumulate(sizes, initial=0))

    def in_a_row(self, phrase: Phrase, code: str) -> bool:
        for step in phrase.steps:
            if not any(all(self.has(unit, code) for unit in path) for path in step):
                return False
        return bool(self.stretches(phrase, code))

    def stretches(self, node: Unit | Phrase, code: str) -> Sequence[tuple[int, int]]:
        """Return the occurrences of a word or phrase: the positions of its first word and after its last one, in order.

        Of several that end at one place, one.
        """
        steps = node.steps if isinstance(node, Phrase) else (((node,),),)
        ends: dict[int, int] | None = None  # the possible ends so far, with their starts; None: anywhere
        for step in steps:
            found: dict[int, int] = {}
            for path in step:
                here = ends
                for unit in path:
                    here = {
                        end: start if here is None else here[start]
                        for start, end in self._places(unit, code)
                        if here is None or start in here
                    }
                found |= here or {}
            if not found:
                return ()
            ends = found
        return sorted((begun, end) for end, begun in (ends or {}).items())

    def _places(self, unit: Unit, code: str) -> Iterator[tuple[int, int]]:
        if isinstance(unit, Prefix):
            for word, places in self._at("").items():
                if fold(word).startswith(unit.text):
                    yield from places
            return
        positions = self._at(code)
        for key in unit.keys:
            yield from positions.get(key, ())

    def _at(self, code: str) -> Positions:
        """Return the places of every key in a language, or of every word if the code is empty."""
        found = self._positions.get(code)
        if found is None:
            speech = language(code) if code else None
            made: dict[str, list[tuple[int, int]]] = {}
            for word, start, end in self._row():
                for key in speech.keys(word) if speech else (word,):
                    made.setdefault(key, []).append((start, end))
            found = self._positions[code] = made
        return found

    def _row(self) -> Iterator[tuple[str, int, int]]:
        at = 0
        for part in self._parts:
            for chunk in part:
                row, also = words.shape(chunk)
                for number, word in enumerate(row, at):
                    yield word, number, number + 1
                for reading in also:
                    yield reading.word, at + reading.start, at + reading.end
                at += len(row)
            at += 1  # a gap that no phrase crosses


def _words_of(chunk: str) -> Iterator[str]:
    row, also = words.shape(chunk)
    yield from row
    for reading in also:
        yield reading.word


class _KnownKeys(dict[str, tuple[str, ...]]):
    """The keys of chunks in one language, made on demand."""

    def __init__(self, speech: Language) -> None:
        self._speech = speech

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        keys = tuple(dict.fromkeys(key for word in _words_of(chunk) for key in self._speech.keys(word)))
        if len(chunk) <= words.LONGEST:
            self[chunk] = keys
        return keys


@cache
def _known_keys(code: str) -> _KnownKeys:
    return _KnownKeys(language(code))


_HANGUL = "\u1160-\u11ff\ud7b0-\ud7ff"
"""Vowels and finals, which combine with the characters before them, though they are no marks."""
_BEYOND = r"(?!\w)[\U00011000-\U0001efff]"
"""The marks beyond the table of `words.py`, and some harmless other signs."""
_CLUSTER = re.compile(rf"(?s:.)(?:[{MARKS}{_HANGUL}\uff9e\uff9f]|{_BEYOND}|{words.HIDDEN})*+")


class TextSpan(NamedTuple):
    """Code points from `start` to before `end`."""

    start: int
    end: int


def word_spans(text: str) -> Sequence[TextSpan]:
    """Return the span of each word of a text, in the order of `AnalysedText`'s row; empty spans if unknown."""
    plain, starts, ends = _traced(text)
    found: list[TextSpan] = []
    for at, chunk in words.placed(plain):
        for start, end in _inside(chunk):
            known = bool(ends) and start < end
            found.append(TextSpan(starts[at + start], ends[at + end - 1]) if known else TextSpan(0, 0))
    return found


def _inside(chunk: str) -> Iterator[TextSpan]:
    """Yield the places of the words of a chunk's row in it."""
    typed, at = chunk.replace(",", "."), 0  # a decimal comma becomes a dot in the row
    for word in words.shape(chunk).row:
        start = max(typed.find(word, at), at)
        at = min(start + len(word), len(chunk))
        yield TextSpan(start, at)


def _traced(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the plain form, and the start and end of each character's cluster in the text; no places if unknown."""
    plain = words.plain(text)
    if text.isascii() or (len(plain) == len(text) and normalize("NFC", text) == text and text.casefold() == plain):
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
