"""Admission of a pushing source's frames: those become events that match an alert, or the source's own filter.

A push source is filtered, not archived. Whoever changes alerts has the matcher read them, which hands them over here
before the change is answered. Should such a word be lost, they are read again every few seconds, but only while frames
arrive, so that an idle service reads nothing. Each query is parsed once, and those that are but words
joined by OR, as most are, are asked together: one look at the text's keys, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec
import trio

from actors.content.bodies.frames import OF_FRAMES
from actors.content.values.kinds import values_of_entry
from actors.query import Analysed, Query, QueryError, matches, parse
from actors.query.facts import NO_FACTS, Fact, Facts
from actors.query.nodes import All, Any, Word, has_conditions
from storage.errors import StorageError
from storage.interface.alerts import Alerts
from storage.records.alert import Alert, Scope
from storage.records.event import NEW
from storage.records.source import Source

REFRESH = 5.0
_SLICE: Final = 200
_PIECE: Final = 2048
"""Characters of a long text that are analysed in one step of the loop."""


class FrameFilter:
    """What one source's frames must match: at least one of some queries."""

    def __init__(self, queries: Iterable[Query], by_tag: Iterable[tuple[Collection[str], Query]] = ()) -> None:
        """by_tag: queries for those frames alone that bring one of these tags themselves."""
        self._by_tag = tuple(by_tag)
        self._others: list[Query] = []
        self._words: dict[str, set[str]] = {}
        self.everything = False
        self.languages: tuple[str, ...] = ()
        for query in queries:
            self._add(query)
        others = [*self._others, *(query for _, query in self._by_tag)]
        self._asks_facts = any(has_conditions(query.root) for query in others)
        self.languages = tuple(dict.fromkeys([*self._words, *(query.language for query in others)]))

    def __repr__(self) -> str:
        return f"<FrameFilter {'everything' if self.everything else f'in {len(self.languages)} languages'}>"

    @property
    def nothing(self) -> bool:
        """Whether no frame can match."""
        return not (self.everything or self.languages)

    @property
    def cost(self) -> int:
        """How many looks a frame takes."""
        return len(self._words) + len(self._others) + len(self._by_tag)

    def admits(self, title: str, content: str, tags: Collection[str] = ()) -> bool:
        """Return whether a frame matches; of its content and tags, what an event of it would hold."""
        if self.everything:
            return True
        text = Analysed(title, content, facts=_facts_of(title, content) if self._asks_facts else NO_FACTS)
        if any(not keys.isdisjoint(text.keys(language)) for language, keys in self._words.items()):
            return True
        if any(matches(query, text) for query in self._others):
            return True
        return any(matches(query, text) for named, query in self._by_tag if any(tag in tags for tag in named))

    async def prepare(self, content: str) -> None:
        """Have the words of a long content analysed, and remembered, before `admits` needs them all at once.

        A hostile text of 64 KiB has ten thousand words that nobody has seen before.
        """
        if self.everything:
            return
        for start in range(0, len(content), _PIECE):
            piece = Analysed("", content[start : start + _PIECE])
            for language in self.languages:
                piece.keys(language)
                await trio.lowlevel.cancel_shielded_checkpoint()

    def _add(self, query: Query) -> None:
        match query.root:
            case All(()):
                self.everything = True
            case Word(_, keys):
                self._words.setdefault(query.language, set()).update(keys)
            case Any(parts) if all(isinstance(part, Word) for part in parts):
                found = self._words.setdefault(query.language, set())
                found.update(key for part in parts if isinstance(part, Word) for key in part.keys)
            case _:
                self._others.append(query)


def _facts_of(title: str, content: str) -> Facts:
    """Return what the event of a frame would say of its values."""
    return Facts(msgspec.convert(msgspec.to_builtins(values_of_entry(title, content)), tuple[Fact, ...]))


class Admission:
    """The queries of all enabled alerts, as far as push sources need them. One for all sources."""

    def __init__(self, alerts: Alerts) -> None:
        self._alerts = alerts
        self._known: dict[tuple[str, str], Query | None] = {}
        self._asked: list[tuple[Scope, Query]] = []
        self._read_at: float | None = None
        self._reading = trio.Lock()
        self.version = 0
        """Grows when the queries change."""

    async def take(self, alerts: Sequence[Alert]) -> None:
        """Go by these alerts, which have just been read, from the next frame on."""
        async with self._reading:
            await self._adopt(alerts)
            self._read_at = trio.current_time()

    async def refresh(self) -> None:
        """Read the alerts again if the last reading is older than `REFRESH` seconds.

        Who comes while they are read goes on with what is known; the first ones wait, for nothing is known yet.
        Raises StorageError when nothing is known and nothing can be read.
        """
        now = trio.current_time()
        if self._read_at is not None and (now - self._read_at < REFRESH or self._reading.locked()):
            return
        async with self._reading:
            if self._read_at is not None and now - self._read_at < REFRESH:
                return
            try:
                await self._read()
            except StorageError:
                if self._read_at is None:
                    raise
            self._read_at = now

    async def _read(self) -> None:
        await self._adopt(await self._alerts.all())

    async def _adopt(self, alerts: Sequence[Alert]) -> None:
        found = [alert for alert in alerts if alert.enabled]
        known: dict[tuple[str, str], Query | None] = {}
        asked: list[tuple[Scope, Query]] = []
        for number, alert in enumerate(found):
            name = (alert.filter_query, alert.language)
            if name not in known:
                known[name] = self._known[name] if name in self._known else _parsed(*name)
            if (query := known[name]) is not None:
                asked.append((alert.scope, query))
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()
        self._known = known
        if asked != self._asked:
            self._asked = asked
            self.version += 1

    def wanted(self, source: Source) -> FrameFilter:
        """Return what is wanted of a source, by alerts and by its own filter. Ask again when `version` has grown."""
        own = [] if source.filter is None else [_parsed(source.filter, "simple")]
        tags = (NEW, *source.tags)  # which every event of the source has
        queries: Sequence[Query | None] = [*own, *(query for scope, query in self._asked if scope.has(source.id, tags))]
        by_tag = [
            (named, query)
            for scope, query in self._asked
            if not scope.has(source.id, tags) and (named := [tag for tag in scope.tags if tag.startswith(OF_FRAMES)])
        ]
        return FrameFilter(
            {query.text + "\0" + query.language: query for query in queries if query is not None}.values(), by_tag
        )


def _parsed(text: str, language: str) -> Query | None:
    """Return a query; None for one that a later version wrote and this one does not understand."""
    try:
        return parse(text, language)
    except QueryError:
        return None
