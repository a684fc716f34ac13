"""The texts of an event that an alert reads, by its setting: the change of a page, one side of it, or all.

A page's event has a diff. `change` reads the title, added and removed texts; `added` and `removed` read one side, with
the title; `page` reads title and content. Events without a diff (feeds, push, old logs) always match by
title and content. A truncated diff lacks some added texts, so the content is read as well.

The title helps to name the page (`acme price`), but is the same in every change. So a query matches if it holds on the
title and this side together, and some text of this side contributes. Words on both sides of a changed block count as
unchanged. This is judged term by term, so a phrase is added when its last word is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, assert_never

import msgspec
from msgspec import Struct

from actors.query.analysis import AnalysedText, TermOccurrence
from actors.query.conditions import NO_FACTS, Condition, Fact, Facts
from actors.query.syntax import All, Any, Node, Not, Phrase, Prefix, Query, Word, terms
from storage.records.tiers import WITH_DIFF


class _Block(NamedTuple):
    """A changed block: its number on this side, its text, and the text on the other side."""

    number: int
    text: AnalysedText
    other: AnalysedText

    def contributes(self, term: Word | Prefix | Phrase, code: str) -> bool:
        """Whether a term is here, and not on the other side."""
        return self.text.has_term(term, code) and not self.other.has_term(term, code)


class EventSide:
    """A title, and the texts of one side; of a changed block also the other side."""

    def __init__(self, title: str, texts: Sequence[tuple[str, str | None]], facts: Facts = NO_FACTS) -> None:
        self.facts = facts
        self._texts = (title, *(text for text, _ in texts))
        self._title = AnalysedText(title)
        self._plain_numbers = [number for number, (_, other) in enumerate(texts, 1) if other is None]
        self._plain = AnalysedText(*(text for text, other in texts if other is None))
        self._blocks = [
            _Block(number, AnalysedText(text), AnalysedText(other))
            for number, (text, other) in enumerate(texts, 1)
            if other is not None
        ]
        self._empty = not any(text.strip() for text, _ in texts)

    @cached_property
    def _whole(self) -> AnalysedText:
        return AnalysedText(*self._texts, facts=self.facts)

    def keys(self, code: str) -> frozenset[str]:
        return self._whole.keys(code)

    @property
    def folded(self) -> list[str]:
        return self._whole.folded

    def has_term(self, term: Word | Prefix | Phrase | Condition, code: str) -> bool:
        """Whether the title or this side has a word, prefix or phrase, or meets a condition."""
        if isinstance(term, Condition):
            return self.facts.is_met(term)
        return self._contributes(term, code) or self._title.has_term(term, code)

    def satisfies(self, query: Query) -> bool:
        if self._empty:
            return False
        holds, contributed = self._evaluate(query.root, query.language)
        return holds and (contributed or next(terms(query.root), None) is None)

    def places(self, term: Word | Prefix | Phrase | Condition, code: str) -> Iterator[TermOccurrence]:
        if isinstance(term, Condition):
            return
        yield from self._title.places(term, code)
        for place in self._plain.places(term, code):
            yield place._replace(part=self._plain_numbers[place.part])
        for block in self._blocks:
            if block.contributes(term, code):
                for place in block.text.places(term, code):
                    yield place._replace(part=block.number)

    def _evaluate(self, node: Node, code: str) -> tuple[bool, bool]:
        """Return whether a part of a query holds, and whether this side contributes."""
        match node:
            case Word() | Prefix() | Phrase():
                contributes = self._contributes(node, code)
                return contributes or self._title.has_term(node, code), contributes
            case Condition():
                return self.facts.is_met(node), True
            case Not(part):
                return not self._evaluate(part, code)[0], False
            case All(parts):
                results = [self._evaluate(part, code) for part in parts]
                return all(holds for holds, _ in results), any(contributed for _, contributed in results)
            case Any(parts):
                results = [result for part in parts if (result := self._evaluate(part, code))[0]]
                return bool(results), any(contributed for _, contributed in results)
            case _:
                assert_never(node)

    def _contributes(self, term: Word | Prefix | Phrase, code: str) -> bool:
        return self._plain.has_term(term, code) or any(block.contributes(term, code) for block in self._blocks)


Match = Literal["change", "added", "removed", "page"]
PartName = Literal["title", "content", "added", "removed", "before", "after"]


class AlteredBlock(Struct, frozen=True):
    """A block before and after its change."""

    before: str = ""
    after: str = ""


class Difference(Struct, frozen=True):
    """The added, removed and changed blocks of a page, as far as matching needs them."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[AlteredBlock, ...] = ()
    truncated: bool = False


class EventView(Struct, frozen=True, kw_only=True):
    """The fields of an event's wire JSON that matching needs; others are skipped."""

    title: str = ""
    content: str = ""
    source_type: str = ""
    diff: Difference | None = None
    alert_type: str | None = None
    changes: tuple[Fact, ...] = ()
    emitted_at: str = ""
    story: str = ""

    @property
    def facts(self) -> Facts:
        return Facts(self.changes, self.emitted_at)


class TextPart(NamedTuple):
    """A text of an event. place: in its list of the diff. other: a changed block's other side, if only one counts."""

    name: PartName
    text: str
    place: int = 0
    other: str | None = None


_decoder = msgspec.json.Decoder(EventView)


def decode_event(body: bytes) -> EventView:
    """Decode the fields of a stored event that matching needs. Raises msgspec.MsgspecError."""
    return _decoder.decode(body)


def parts_of(event: EventView, match: Match) -> tuple[TextPart, ...]:
    return TextPart("title", event.title), *_rest(event, match)


def text_of(event: EventView, match: Match) -> AnalysedText | EventSide:
    title, *rest = parts_of(event, match)
    if match in ("added", "removed") and _diff(event) is not None:
        return EventSide(title.text, [(part.text, part.other) for part in rest], event.facts)
    return AnalysedText(title.text, *(part.text for part in rest), facts=event.facts)


class Texts:
    """The texts of one event, made on demand. Without a diff they are all the same."""

    def __init__(self, event: EventView) -> None:
        self.event = event
        self._texts: dict[Match, AnalysedText | EventSide] = {}

    def of(self, match: Match) -> AnalysedText | EventSide:
        mode: Match = "page" if _diff(self.event) is None else match
        text = self._texts.get(mode)
        if text is None:
            text = self._texts[mode] = text_of(self.event, mode)
        return text


def _diff(event: EventView) -> Difference | None:
    return event.diff if event.source_type in WITH_DIFF else None


def _rest(event: EventView, match: Match) -> Iterator[TextPart]:
    diff = _diff(event)
    if diff is None or match == "page":
        yield TextPart("content", event.content)
        return
    if match != "removed":
        yield from (TextPart("added", text, number) for number, text in enumerate(diff.added))
    if match != "added":
        yield from (TextPart("removed", text, number) for number, text in enumerate(diff.removed))
    for number, block in enumerate(diff.changed):
        if match != "added":
            yield TextPart("before", block.before, number, block.after if match == "removed" else None)
        if match != "removed":
            yield TextPart("after", block.after, number, block.before if match == "added" else None)
    if diff.truncated and match != "removed":
        yield TextPart("content", event.content)


def matches(query: Query, text: AnalysedText | EventSide) -> bool:
    if isinstance(text, EventSide):
        return text.satisfies(query)
    return holds(query.root, text, text.keys(query.language), query.language)


def holds(node: Node, text: AnalysedText, keys: frozenset[str], code: str) -> bool:
    """Whether a text satisfies a part of a query. keys: the text's, in the query's language. Words come first and need
    no call: they decide most standing queries, thousands of times per event.
    """
    if isinstance(node, Word):
        return not keys.isdisjoint(node.keys)
    if isinstance(node, All):
        for part in node.parts:
            if keys.isdisjoint(part.keys) if isinstance(part, Word) else not holds(part, text, keys, code):
                return False
        return True
    if isinstance(node, Any):
        for part in node.parts:
            if not keys.isdisjoint(part.keys) if isinstance(part, Word) else holds(part, text, keys, code):
                return True
        return False
    if isinstance(node, Not):
        return not holds(node.part, text, keys, code)
    if isinstance(node, Condition):
        return text.facts.is_met(node)
    if isinstance(node, Phrase):
        return text.has_phrase(node, code)
    if isinstance(node, Prefix):
        return text.has_prefix(node.text)
    assert_never(node)
