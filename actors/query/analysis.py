"""A text for queries, analysed once for all of them and only as far as needed, with places in the original.

The keys of a text decide most queries; they are made per language, from the distinct tokens only. Places are found
when a text has all words of a phrase, of these words alone; the words themselves when a query has a prefix.

Words are found in the plain form of a text, which may be shorter or longer. So the text is cut into clusters (a
character with its marks and hidden characters), which are converted to plain form one by one; composition never crosses
clusters. If the pieces do not add up to the whole, no places are returned instead of wrong ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate, chain, count, pairwise, product
from typing import NamedTuple
from unicodedata import normalize

from actors.query import words
from actors.query.conditions import NO_FACTS, Condition, Facts
from actors.query.syntax import Phrase, Prefix, Step, Unit
from actors.query.words import MARKS, Language, fold, language

_CACHE_SIZE = 100_000


class TermOccurrence(NamedTuple):
    """An occurrence of a term: the part of the text, its first word there and the one after its last."""

    part: int
    start: int
    end: int


class AnalysedText:
    """A text in parts: title and content, or the blocks of a change. No phrase crosses parts. facts: the changes."""

    def __init__(self, *parts: str, facts: Facts = NO_FACTS) -> None:
        self.facts = facts
        self._parts = tuple(map(words.tokens, parts))
        self._tokens = dict.fromkeys(chain.from_iterable(self._parts))
        self._keys: dict[str, frozenset[str]] = {}
        self._by_key: dict[str, dict[str, list[str]]] = {}
        """The tokens with each key, by language."""

    def keys(self, code: str) -> frozenset[str]:
        keys = self._keys.get(code)
        if keys is None:
            known_keys = _known_keys(code)
            keys = frozenset(chain.from_iterable(map(known_keys.__getitem__, self._tokens)))
            keys = self._keys[code] = keys | self.facts.keys if self.facts.keys else keys
        return keys

    @cached_property
    def folded(self) -> list[str]:
        """Every distinct word without accents, sorted, for prefix lookups."""
        return sorted({fold(word) for token in self._tokens for word, _, _ in _places_in(token)})

    def has_prefix(self, prefix: str) -> bool:
        at = bisect_left(self.folded, prefix)
        return at < len(self.folded) and self.folded[at].startswith(prefix)

    def has(self, unit: Unit, code: str) -> bool:
        if isinstance(unit, Prefix):
            return self.has_prefix(unit.text)
        return not self.keys(code).isdisjoint(unit.keys)

    def has_term(self, term: Unit | Phrase | Condition, code: str) -> bool:
        if isinstance(term, Condition):
            return self.facts.is_met(term)
        return self.has_phrase(term, code) if isinstance(term, Phrase) else self.has(term, code)

    def places(self, term: Unit | Phrase | Condition, code: str) -> Iterator[TermOccurrence]:
        """Yield the occurrences of a term, part by part; a condition has none."""
        if isinstance(term, Condition):
            return
        for start, end in self.spans(term, code):
            part = bisect_right(self._part_starts, start) - 1
            yield TermOccurrence(part, start - self._part_starts[part], end - self._part_starts[part])

    @cached_property
    def _part_starts(self) -> list[int]:
        """The position of each part's first word in the row."""
        sizes = (sum(len(words.shape(token).row) for token in part) + 1 for part in self._parts)
        return list(accumulate(sizes, initial=0))

    def has_phrase(self, phrase: Phrase, code: str) -> bool:
        for step in phrase.steps:
            if not any(all(self.has(unit, code) for unit in path) for path in step):
                return False
        return all(self._touch(*pair, code) for pair in pairwise(phrase.steps)) and bool(self.spans(phrase, code))

    def _touch(self, first: Step, then: Step, code: str) -> bool:
        """Return whether two steps can be side by side: a cheap test that decides most phrases."""
        left = {token for path in first for token in self._tokens_of(path[-1], code)}
        right = {token for path in then for token in self._tokens_of(path[0], code)}
        return not left.isdisjoint(right) or any(pair in self._neighbours for pair in product(left, right))

    @cached_property
    def _neighbours(self) -> frozenset[tuple[str, str]]:
        has_words = _known_keys(next(iter(self._keys), "simple")).__getitem__
        return frozenset(chain.from_iterable(pairwise(filter(has_words, part)) for part in self._parts))

    def spans(self, node: Unit | Phrase, code: str) -> Sequence[tuple[int, int]]:
        """Return the occurrences of a word or phrase: its first word and after its last; one for each end."""
        steps = node.steps if isinstance(node, Phrase) else (((node,),),)
        ends: dict[int, int] | None = None  # the possible ends so far, with their starts; None: anywhere
        for step in steps:
            found: dict[int, int] = {}
            for path in step:
                ends_here = ends
                for unit in path:
                    ends_here = {
                        end: start if ends_here is None else ends_here[start]
                        for start, end in self._occurrences(unit, code)
                        if ends_here is None or start in ends_here
                    }
                found |= ends_here or {}
            if not found:
                return ()
            ends = found
        return sorted((first_word, end) for end, first_word in (ends or {}).items())

    def _occurrences(self, unit: Unit, code: str) -> Iterator[tuple[int, int]]:
        for token in self._tokens_of(unit, code):
            for word, start, end in _places_in(token):
                if _is(unit, word, code):
                    yield from ((at + start, at + end) for at in self._starts[token])

    def _tokens_of(self, unit: Unit, code: str) -> Iterable[str]:
        """Return the tokens that may contain a word."""
        if isinstance(unit, Prefix):
            return self._tokens
        by_key = self._by_key.get(code)
        if by_key is None:
            by_key, known_keys = self._by_key.setdefault(code, defaultdict(list)), _known_keys(code)
            for token in self._tokens:
                for key in known_keys[token]:
                    by_key[key].append(token)
        return dict.fromkeys(token for key in unit.keys for token in by_key.get(key, ()))

    @cached_property
    def _starts(self) -> Mapping[str, Sequence[int]]:
        """The positions of each token's first words."""
        starts, at = defaultdict[str, list[int]](list), 0
        for part in self._parts:
            for token in part:
                starts[token].append(at)
                at += len(words.shape(token).row)
            at += 1  # a gap that no phrase crosses
        return starts


def _places_in(token: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word of a token, its place in the row, and the one after it."""
    row, readings = words.shape(token)
    yield from zip(row, count(), count(1))
    yield from (reading[:3] for reading in readings)


def _is(unit: Unit, word: str, code: str) -> bool:
    if isinstance(unit, Prefix):
        return fold(word).startswith(unit.text)
    return not frozenset(unit.keys).isdisjoint(language(code).keys(word))


class _KnownKeys(dict[str, tuple[str, ...]]):
    def __init__(self, lang: Language) -> None:
        self._lang = lang

    def __missing__(self, token: str) -> tuple[str, ...]:
        if len(self) >= _CACHE_SIZE:
            self.clear()
        row, readings = words.shape(token)
        if len(row) == 1 and not readings:
            keys = self._lang.keys(row[0])  # one object for all tokens of a word
        else:
            keys = tuple(dict.fromkeys(key for word, _, _ in _places_in(token) for key in self._lang.keys(word)))
        if len(token) <= words.LONGEST:
            self[token] = keys
        return keys


@cache
def _known_keys(code: str) -> _KnownKeys:
    return _KnownKeys(language(code))


_HANGUL = "\u1160-\u11ff\ud7b0-\ud7ff"
"""Vowels and finals, which combine with the characters before them, though they are no marks."""
_BEYOND = r"(?!\w)[\U00011000-\U0001efff]"  # the marks beyond the table of `words.py`, and some harmless other signs
_CLUSTER = re.compile(rf"(?s:.)(?:[{MARKS}{_HANGUL}\uff9e\uff9f]|{_BEYOND}|{words.HIDDEN})*+")


class TextSpan(NamedTuple):
    """Code points from `start` to before `end`."""

    start: int
    end: int


def word_spans(text: str) -> Sequence[TextSpan]:
    """Return the span of each word of a text, in the order of `AnalysedText`'s row; empty spans if unknown."""
    plain, starts, ends = _traced(text)
    spans: list[TextSpan] = []
    for at, chunk in words.chunk_positions(plain):
        for start, end in _inside(chunk):
            is_known = bool(ends) and start < end
            spans.append(TextSpan(starts[at + start], ends[at + end - 1]) if is_known else TextSpan(0, 0))
    return spans


def _inside(chunk: str) -> Iterator[TextSpan]:
    normalized, at = chunk.replace(",", "."), 0  # a decimal comma becomes a dot in the row
    for word in words.shape(chunk).row:
        start = max(normalized.find(word, at), at)
        at = min(start + len(word), len(chunk))
        yield TextSpan(start, at)


def _traced(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the plain form, and the start and end of each character's cluster in the text; no places if unknown."""
    plain = words.plain(text)
    if text.isascii() or (len(plain) == len(text) and normalize("NFC", text) == text and text.casefold() == plain):
        return plain, range(len(plain)), range(1, len(plain) + 1)
    pieces, starts, ends = list[str](), list[int](), list[int]()
    for cluster in _CLUSTER.finditer(text):
        piece = words.plain(cluster[0])
        pieces.append(piece)
        starts += [cluster.start()] * len(piece)
        ends += [cluster.end()] * len(piece)
    return (plain, starts, ends) if "".join(pieces) == plain else (plain, (), ())
