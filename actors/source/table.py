"""The sources in memory, with their actors' live state: what lists and descriptions are answered from.

Starting many at once is spread out: those whose look is overdue (after a restart, all of them) are given a due time
within a window that keeps the number of looks a second what it is in the steady state, so that a restart is no
stampede.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from msgspec.structs import replace

from actors.errors import NotFound
from actors.messages import SourcePage, SourceView
from actors.source.actor import PolledSource
from actors.source.feed import FeedTier
from actors.source.fetch import host_of
from actors.source.html import HtmlTier
from actors.source.ports import Live, Ports
from actors.source.price import Price, first_guess
from actors.source.push import PushSource
from actors.source.tier import Tier
from actors.source.watchman import Round
from storage.records.health import RANK
from storage.records.identity import Millis, SourceId
from storage.records.source import Source, SourceState
from supervision import ChildSpec, DynamicSupervisor, Run

PAGE = 500
CATCH_UP_RATE = 10.0
"""Overdue looks a second after a start; never more than the sources' own pace, if that is slower."""
LONGEST_WAIT = 3_600_000
"""Milliseconds. What is more was not planned: the program did not run."""
LATE = 60_000
"""Milliseconds after which a due look that has not happened makes a source overdue."""


class Table:
    """All sources, by id in id order of adding. Written by the registry only."""

    def __init__(self, ports: Ports, sources: DynamicSupervisor) -> None:
        self._ports = ports
        self._supervisor = sources
        self._live: dict[SourceId, Live] = {}
        self._html = HtmlTier()
        self.tiers: dict[str, Tier] = {"feed": FeedTier(ports.settings.parse_deadline), "html": self._html}

    def __len__(self) -> int:
        return len(self._live)

    async def load(self) -> None:
        """Read all sources from storage and start the actors that do not run."""
        after: SourceId | None = None
        idle: list[Live] = []
        while page := await self._ports.storage.sources.page(after, PAGE):
            after = page[-1].source.id
            for watched in page:
                live = self._live.get(watched.source.id)
                if live is None:
                    live = self._live[watched.source.id] = Live(watched.source, watched.hot)
                if live.source.enabled and not self._supervisor.has(live.source.id):
                    idle.append(live)
        self._price_anew()
        self._spread(idle)
        for live in idle:
            self.start(live)

    def get(self, source: SourceId) -> Live:
        """Return a source. Raises NotFound."""
        live = self._live.get(source)
        if live is None:
            raise NotFound(f"there is no source {source}")
        return live

    def put(self, live: Live) -> None:
        """Add a source and start its actor, if it is enabled."""
        self._live[live.source.id] = live
        if live.source.enabled:
            self.start(live)

    def start(self, live: Live) -> None:
        """Start a source's actor."""
        self._supervisor.start_child(ChildSpec(live.source.id, self._run_of(live), mailbox=live.mailbox))

    async def stop(self, live: Live) -> None:
        """Stop a source's actor, if it runs; return when it is gone."""
        if self._supervisor.has(live.source.id):
            await self._supervisor.stop_child(live.source.id)

    def drop(self, source: SourceId) -> None:
        """Forget a source."""
        self._live.pop(source, None)
        self._html.neighbours.forget(source)

    def describe(self, source: SourceId) -> SourceView:
        """Return a source as it is now. Raises NotFound."""
        live = self.get(source)
        place = self._ports.egress.hosts.before(host_of(live.source.watch_url), source)
        return self._view(live, place)

    def earliest(self, live: Live) -> Millis:
        """Return when somebody who asks may have a source looked at again: courtesy, a breaker, its server's wish."""
        hot = live.hot
        last = max(hot.last_look_at or 0, live.asked_at)
        earliest = last + round(self._ports.settings.cadence_floor * 1000)
        if hot.breaker.state == "open" or hot.not_before is not None:
            earliest = max(earliest, hot.next_look_at or 0)
        return Millis(earliest)

    def page(self, after: tuple[int, float, str] | None, limit: int) -> SourcePage:
        """Return the next `limit` sources after a position, worst health first."""
        rest = (live for live in self._live.values() if after is None or _order(live) > after)
        found = heapq.nsmallest(limit + 1, rest, key=_order)
        more = len(found) > limit
        return SourcePage([self._view(live) for live in found[:limit]], _order(found[limit - 1]) if more else None)

    def round(self) -> Round:
        """Return how the watching goes. Walks over all sources."""
        now = self._ports.world.now()
        watched = [live for live in self._live.values() if live.source.enabled]
        late = [live for live in watched if _overdue(live, now)]
        polled = [live for live in late if live.source.type != "push"]
        worst = min(polled, key=lambda live: (live.hot.next_look_at or 0, live.source.id), default=None)
        return Round(
            sources=len(watched),
            overdue=len(late),
            waiting=len(polled),
            worst=None if worst is None else worst.source.id,
            looks=sum(live.hot.looks for live in watched if live.source.type != "push"),
        )

    def unsaved(self) -> Sequence[Live]:
        """Return the sources whose state in storage is older than in memory."""
        return [live for live in self._live.values() if live.unsaved]

    def take_unsaved(self, live: Live) -> SourceState:
        """Return the state to save, and count it as saved."""
        live.unsaved = False
        return SourceState(live.source.id, live.hot)

    def planned(self) -> float:
        """Return the looks a second that all polled sources together have planned."""
        return sum(1000 / max(1000, _planned_wait(live)) for live in self._live.values() if _polled(live))

    def _price_anew(self) -> None:
        """Begin with the price that would fit so many sources of middling pace; the first hours correct it."""
        settings = self._ports.settings
        polled = sum(_polled(live) for live in self._live.values())
        value = first_guess(polled, settings.looks_per_second, settings.cadence_ceiling)
        self._ports.market.price = Price(value, settings.cadence_evenness)

    def _view(self, live: Live, place: int = 0) -> SourceView:
        return SourceView(live.source, live.hot, _overdue(live, self._ports.world.now()), place)

    def _run_of(self, live: Live) -> Run:
        if live.source.type == "push":
            return PushSource(self._ports, live).run
        return PolledSource(self._ports, live, self.tiers[live.source.type]).run

    def _spread(self, idle: Sequence[Live]) -> None:
        now = self._ports.world.now()
        chance = self._ports.world.chance("registry/spread")
        late = [live for live in idle if (live.hot.next_look_at or 0) <= now]
        window = len(late) / CATCH_UP_RATE
        for live in late:
            wait = chance.random() * min(window, live.hot.interval)
            live.hot = replace(live.hot, next_look_at=Millis(now + round(wait * 1000)))


def _order(live: Live) -> tuple[int, float, str]:
    health = live.hot.health
    return (-RANK[health.flag], health.score, live.source.id)


def _polled(live: Live) -> bool:
    return live.source.enabled and live.source.type != "push"


def _planned_wait(live: Live) -> float:
    """Return the milliseconds from the last look to the next, as planned when the program last ran."""
    hot = live.hot
    if hot.last_look_at is None or hot.next_look_at is None:
        return hot.interval * 1000
    return min(hot.next_look_at - hot.last_look_at, LONGEST_WAIT)


def _overdue(live: Live, now: Millis) -> bool:
    due = live.hot.next_look_at
    return live.source.enabled and due is not None and now > due + LATE


def renewed(live: Live, source: Source) -> Live:
    """Return a live source with other wishes and the same memory."""
    after = Live(source, live.hot)
    after.unsaved = live.unsaved
    after.asked_at = live.asked_at
    return after
