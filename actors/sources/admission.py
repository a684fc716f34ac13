"""Admission of a push source's frames: those that match an alert or the source's own filter become events.

A push source is filtered, not archived. When alerts change, the matcher reads them and passes them on here before the
change is answered. In case that message is lost, they are read again every few seconds, but only while frames arrive,
so that an idle service reads nothing. Each query is parsed once. Queries that only join words by OR, as most do, are
tested together: one pass over the text's keys, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec
import trio

from actors.content.bodies.frames import OF_FRAMES
from actors.content.values.kinds import values_of_entry
from actors.query import AnalysedText, Query, QueryError, matches, parse
from actors.query.conditions import NO_FACTS, Fact, Facts
from actors.query.syntax import All, Any, Word, has_conditions
from storage.errors import StorageError
from storage.records.alert import Alert, Scope
from storage.records.event import NEW
from storage.records.source import Source
from storage.sql.stores.alerts import Alerts

REFRESH = 5.0
_SLICE: Final = 200
_PIECE: Final = 2048  # characters of a long text that are analysed in one step of the loop


class FrameFilter:
    """The conditions on one source's frames: at least one of several queries must match."""

    def __init__(self, queries: Iterable[Query], by_tag: Iterable[tuple[Collection[str], Query]] = ()) -> None:
        """by_tag: queries that apply only to frames with one of these tags."""
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

    @property
    def nothing(self) -> bool:
        return not (self.everything or self.languages)

    @property
    def cost(self) -> int:
        return len(self._words) + len(self._others) + len(self._by_tag)

    def admits(self, title: str, content: str, tags: Collection[str] = ()) -> bool:
        """Return whether a frame matches, by the content and tags that its event would hold."""
        if self.everything:
            return True
        facts = NO_FACTS
        if self._asks_facts:
            facts = Facts(msgspec.convert(msgspec.to_builtins(values_of_entry(title, content)), tuple[Fact, ...]))
        text = AnalysedText(title, content, facts=facts)
        if any(not keys.isdisjoint(text.keys(language)) for language, keys in self._words.items()):
            return True
        if any(matches(query, text) for query in self._others):
            return True
        return any(matches(query, text) for named, query in self._by_tag if any(tag in tags for tag in named))

    async def prepare(self, content: str) -> None:
        """Cache the words of a long content, in steps, for `admits`: 64 KiB may have ten thousand unknown words."""
        if self.everything:
            return
        for start in range(0, len(content), _PIECE):
            piece = AnalysedText("", content[start : start + _PIECE])
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


class Admission:
    """The queries of all enabled alerts, as far as push sources need them. One for all sources."""

    def __init__(self, alerts: Alerts) -> None:
        self._alerts = alerts
        self._parsed_queries: dict[tuple[str, str], Query | None] = {}
        self._scoped_queries: list[tuple[Scope, Query]] = []
        self._read_at: float | None = None
        self._reading = trio.Lock()
        self.version = 0
        """Grows when the queries change."""

    async def set_alerts(self, alerts: Sequence[Alert]) -> None:
        async with self._reading:
            await self._set_alerts(alerts)
            self._read_at = trio.current_time()

    async def refresh(self) -> None:
        """Read the alerts again if the last reading is older than `REFRESH` seconds. Callers during a reading continue
        with the known alerts, if any. Raises StorageError when none are known and none can be read.
        """
        now = trio.current_time()
        if self._read_at is not None and (now - self._read_at < REFRESH or self._reading.locked()):
            return
        async with self._reading:
            if self._read_at is not None and now - self._read_at < REFRESH:
                return
            try:
                await self._set_alerts(await self._alerts.all())
            except StorageError:
                if self._read_at is None:
                    raise
            self._read_at = now

    async def _set_alerts(self, alerts: Sequence[Alert]) -> None:
        enabled = [alert for alert in alerts if alert.enabled]
        parsed: dict[tuple[str, str], Query | None] = {}
        scoped: list[tuple[Scope, Query]] = []
        for number, alert in enumerate(enabled):
            name = (alert.filter_query, alert.language)
            if name not in parsed:
                parsed[name] = self._parsed_queries[name] if name in self._parsed_queries else _parsed(*name)
            if (query := parsed[name]) is not None:
                scoped.append((alert.scope, query))
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()
        self._parsed_queries = parsed
        if scoped != self._scoped_queries:
            self._scoped_queries = scoped
            self.version += 1

    def filter_for(self, source: Source) -> FrameFilter:
        own = [] if source.filter is None else [_parsed(source.filter, "simple")]
        tags = (NEW, *source.tags)  # every event of the source has these
        scoped = (query for scope, query in self._scoped_queries if scope.has(source.id, tags))
        queries: Sequence[Query | None] = [*own, *scoped]
        by_tag = [
            (named, query)
            for scope, query in self._scoped_queries
            if not scope.has(source.id, tags) and (named := [tag for tag in scope.tags if tag.startswith(OF_FRAMES)])
        ]
        different = {query.text + "\0" + query.language: query for query in queries if query is not None}
        return FrameFilter(different.values(), by_tag)


def _parsed(text: str, language: str) -> Query | None:
    """Return a query; None if it is of a later version and can't be parsed."""
    try:
        return parse(text, language)
    except QueryError:
        return None
