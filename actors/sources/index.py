"""The sources in memory, with their actors' live state; the basis of all lists and views.

Loops over all sources work in slices, so that a library of 100,000 holds the event loop no longer than one of 1,000.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import nlargest, nsmallest
from http import HTTPStatus
from itertools import chain
from math import sqrt

import trio
from msgspec.structs import replace

from actors.egress.url import parse_url
from actors.errors import NotFound, TooSoon
from actors.messages.sources import LookNow, SettingsChanged
from actors.messages.views import SourceExamination, SourcePage, SourceSelection, SourceSort, SourceView, matches
from actors.sources.checks import progress
from actors.sources.checks.access import SIGNED_OUT_STATUSES
from actors.sources.checks.fetch import host_of
from actors.sources.explanation import examine
from actors.sources.ports import LiveSource, Ports, limits_of
from actors.sources.ranking import Place, Ranking, StateCounts, TagCounts
from actors.sources.schedule.budgets import RENDERED, Price, cost_of, first_guess
from actors.sources.schedule.cadence import startup_wait
from actors.sources.schedule.silence import OverdueRound
from actors.sources.tiers import BEHAVIOURS, readers
from storage.records import coverage
from storage.records import source as record
from storage.records.identity import SERVICE, Millis, SourceId
from storage.records.source import SourceState as StoredState
from storage.records.tiers import POLLED
from supervision import ChildSpec, DynamicSupervisor, MailboxFull

PAGE = 200
RESPONSE_WITHIN = 10.0  # seconds that an edit waits for the response to a request under way
SLICE = 1000  # sources handled or started in one step of the loop
START_SLICE = 50
WOKEN_AT_ONCE = 50  # sources notified of new settings in one step of the loop; each then plans its next check
MANY = 5000  # from this many sources, the garbage collector skips them: a pass over 100,000 holds the loop for 0.8 s
LONGEST_WAIT = 3_600_000  # Milliseconds. A longer wait was not planned: the program was not running.
UNWATCHED = 600.0
"""Seconds: if a check is overdue by more (plus the sweep interval), the source was not watched, and a trouble may be
over.
"""
DAY = 86_400_000
_SIGNED_OUT = (HTTPStatus.OK, *SIGNED_OUT_STATUSES)
OWN_FLOOR = 1000  # milliseconds between two requested checks of a host of the user's own
LATE = 60_000  # milliseconds after its due time when a missing check makes a source overdue


class SourceIndex:
    """All sources by id, in the order of adding. Only the registry writes it. Practice sources are found by id only."""

    def __init__(self, ports: Ports, sources: DynamicSupervisor) -> None:
        self._ports, self._ownership = ports, ports.storage.ownership
        self._watches, self._supervisor = self._ownership.watches, sources
        self._live: dict[SourceId, LiveSource] = {}
        self.readers = readers(ports.settings)
        self._ranking, self._states, self._tags = Ranking(), StateCounts(), TagCounts()
        self._overdue = 0
        self.changes = 0
        """How often sources were added, edited or dropped."""
        self._practice: set[SourceId] = set()
        self._feeds: dict[int, SourceId] = {}
        """Feeds by the hash of each address that leads to one."""
        self.revision = 0
        """The last change by other nodes that this index contains."""

    def __len__(self) -> int:
        return len(self._live) - len(self._practice)

    async def load(self) -> None:
        after: SourceId | None = None
        idle: list[LiveSource] = []
        while page := await self._ports.storage.sources.page(after, PAGE):
            after = page[-1].source.id
            for watched in page:
                live = self._live.get(watched.source.id)
                if live is None:
                    self._keep(live := LiveSource(watched.source, watched.hot, watched.version))
                    if watched.hot.last_success_at is not None and watched.hot.breaker.state == "closed":
                        self._ports.egress.uplink.add_known(host_of(live.source.watch_url))
                    if self._ports.shifts is not None and watched.hot.last_look_at is not None:
                        self._ports.shifts.note_check(watched.hot.last_look_at)
                if self.is_idle(live):
                    idle.append(live)
            if len(idle) >= MANY:
                gc.freeze()
        # Start with a price that fits this many sources of medium pace; the first hours correct it.
        settings, polled = self._ports.settings, 0.0
        for part in _slices(self._live.values()):
            costs = (cost_of(rendered=live.hot.rendered) for live in part if _is_polled(live.source))
            polled += sum(map(sqrt, costs))  # costlier sources are checked less
            await trio.lowlevel.checkpoint()
        value = first_guess(polled, settings.looks_per_second, settings.cadence_ceiling)
        self._ports.pricing.price = Price(value, settings.cadence_evenness)
        await self.start_all(idle)

    def is_running(self, live: LiveSource) -> bool:
        return self._supervisor.has(live.source.id)

    def is_idle(self, live: LiveSource) -> bool:
        return live.source.enabled and self._watches(live.source) and not self.is_running(live)

    async def start_all(self, idle: Sequence[LiveSource]) -> None:
        """Start the actors of idle sources, their due checks spread over time."""
        now, late, chance = self._ports.world.now(), 0, self._ports.world.chance("registry/spread")
        for part in _slices(idle):
            late += sum((live.hot.next_look_at or 0) <= now for live in part)
            await trio.lowlevel.checkpoint()
        for part in _slices(idle, START_SLICE):
            now = self._ports.world.now()
            watched = now - 1000 * (self._ports.settings.sweep + UNWATCHED)
            for live in part:
                if (live.hot.next_look_at or 0) <= now:
                    wait = startup_wait(late, live.hot.interval, chance.random(), page=live.source.tier.has_diff)
                    live.unconfirmed = (live.hot.next_look_at or 0) < watched
                    live.hot = replace(live.hot, next_look_at=Millis(now + round(wait * 1000)))
            for live in part:
                if self.is_idle(live):  # the ownership may have changed
                    self.start(live)
            if len(idle) >= MANY:
                gc.freeze()  # they live as long as the process, or are freed by reference counts
            await trio.lowlevel.checkpoint()

    async def reapply_defaults(self) -> int:
        """Apply the tags' current defaults; return how many sources changed. Their actors replan the next check."""
        changed = 0
        for part in _slices(self._live.values(), WOKEN_AT_ONCE):
            for live in part:
                if not live.inherit():
                    continue
                changed += 1
                if live.source.tier.polled and self.is_running(live):
                    with suppress(MailboxFull):  # a full mailbox has a request for a check, which replans anyway
                        live.mailbox.send_nowait(SettingsChanged())
            await trio.lowlevel.checkpoint()
        return changed

    def get(self, source: SourceId) -> LiveSource:
        """Return a source. Raises NotFound."""
        live = self._live.get(source)
        if live is None:
            raise NotFound(f"there is no source {source}")
        return live

    def practice(self) -> Sequence[LiveSource]:
        return [self._live[id] for id in sorted(self._practice)]

    def put(self, live: LiveSource) -> None:
        self._keep(live)
        if live.source.enabled and self._watches(live.source):
            self.start(live)

    def start(self, live: LiveSource) -> None:
        run = BEHAVIOURS[live.source.type].run(self._ports, live, self.readers)
        self._supervisor.start_child(ChildSpec(live.source.id, run, mailbox=live.mailbox))

    async def hurry_borrowers(self, lender: LiveSource) -> None:
        """Check the signed-out borrowers again: a lender's new headers may open them. Loops over all."""
        for part in self.slices():
            for live in part:
                is_signed_out = live.hot.last_error is not None and live.hot.last_status in _SIGNED_OUT
                if is_signed_out and self.is_running(live) and self._ports.lenders.of(live.source) is lender:
                    self.request_check(live)
            await trio.lowlevel.checkpoint()

    def request_check(self, live: LiveSource) -> None:
        try:
            live.mailbox.send_nowait(LookNow())
        except MailboxFull:
            self._ports.world.log("check.merged", source_id=live.source.id)  # a check is already requested

    async def stop(self, live: LiveSource) -> None:
        if self._supervisor.has(live.source.id):
            await self._supervisor.stop_child(live.source.id)

    async def wait_for_response(self, live: LiveSource) -> None:
        """Wait, within a bound, for the response to a request under way: it may ask for a pause."""
        with trio.move_on_after(RESPONSE_WITHIN):
            await self._ports.egress.hosts.wait_idle(live.source.id)

    def same_feed(self, source: record.Source, address: str) -> LiveSource | None:
        """Return the source that reads a new one's feed in the same way, None without one. address: its final URL."""
        if not record.reads_plainly(source):
            return None
        for key in (*record.feed_keys(source), record.key_of(address)):
            live = self._live.get(self._feeds.get(hash(key), source.id))
            if live is not None and key in record.feed_keys(live.source) and record.reads_plainly(live.source):
                return live
        return None

    def drop(self, source: SourceId) -> None:
        self.changes += 1
        if (live := self._live.pop(source, None)) is not None:
            for key in record.feed_keys(live.source):
                if self._feeds.get(hash(key)) == source:
                    del self._feeds[hash(key)]
        self._practice.discard(source)
        self._ports.lenders.drop(source)
        for reader in self.readers.values():
            reader.forget(source)
        self._ranking.drop(source)
        self._states.drop(source)
        self._tags.drop(source)

    def describe(self, source: SourceId) -> SourceView:
        """Return a source's current view. Raises NotFound."""
        live = self.get(source)
        return self._view(live, self._ports.egress.hosts.position(host_of(live.source.watch_url), source))

    def examine(self, source: SourceId) -> SourceExamination:
        """Return the composition of a source's score and the reason for its next check's time. Raises NotFound."""
        view = self.describe(source)
        return examine(view, limits_of(view.effective, self._ports.settings), self._ports.world.now())

    def earliest_check(self, live: LiveSource) -> Millis:
        """Return when a user may next request a check: courtesy (not to an own host), a breaker, the server's wish."""
        now = self._ports.world.now()
        hot = progress.cap_waits(live.hot, now, limits_of(live.effective, self._ports.settings))
        # A time in the future is from a clock that was ahead, so it is ignored.
        last = max(moment if moment <= now else 0 for moment in (hot.last_look_at or 0, live.requested_at))
        own = self._ports.egress.hosts.is_internal(host_of(live.source.watch_url))
        earliest = last + (OWN_FLOOR if own else round(self._ports.settings.cadence_floor * 1000))
        if hot.breaker.state == "open" or hot.not_before is not None:
            earliest = max(earliest, hot.next_look_at or 0)
        return Millis(earliest)

    def check_politeness(self, live: LiveSource) -> Millis:
        """Return the time. Raises TooSoon while politeness forbids a check."""
        now = self._ports.world.now()
        earliest = self.earliest_check(live)
        if now < earliest:
            wait = (earliest - now) // 1000 + 1
            raise TooSoon(f"it was checked just now, or asked us to wait: try again in {wait} s", wait)
        return now

    async def find(
        self, after: Place | None, limit: int, where: SourceSelection, sort: SourceSort = "worst"
    ) -> SourcePage:
        """Return the next `limit` matching sources after a place, worst health first or by `sort`."""
        if sort != "worst":
            return await self._sorted(after, limit, where, sort)
        if not where:
            ids, cursor = self._ranking.page(after, limit)
            return SourcePage([self._view(self._live[source]) for source in ids], cursor, self.states())
        views: list[SourceView] = []
        place = after
        while len(views) < limit:
            part, place = await self._filtered_page(place, limit - len(views), where)
            views += part
            if place is None:
                break
        ahead, cursor = place, place
        while ahead is not None:  # check for a further match, so that no next page is empty
            part, ahead = await self._filtered_page(ahead, 1, where)
            if part:
                break
        else:
            cursor = None
        return SourcePage(views, cursor, self.states())

    async def _sorted(self, after: Place | None, limit: int, where: SourceSelection, sort: SourceSort) -> SourcePage:
        backwards, key = sort.startswith("-"), _SORTS[sort.removeprefix("-")]
        last = None if after is None else _sorted_of(after)
        select, first = nlargest if backwards else nsmallest, list[_Sorted]()
        for part in self.slices():
            listed = (live for live in part if live.source.practice is None)
            ranked = ((key(live), live.source.id) for live in listed if not where or matches(where, self._view(live)))
            following = (row for row in ranked if last is None or (row < last if backwards else row > last))
            first = select(limit + 1, chain(first, following))
            await trio.lowlevel.checkpoint()
        shown = [self._live[source] for _, source in first[:limit] if source in self._live]
        cursor = _cursor_of(first[limit - 1]) if len(first) > limit else None
        return SourcePage([self._view(live) for live in shown], cursor, self.states())

    def tags(self) -> Mapping[str, int]:
        return self._tags.read()

    def state_of(self, live: LiveSource) -> record.SourceStateName:
        return record.state_of(live.source, live.hot, overdue=self._overdue_now(live))

    def states(self) -> Mapping[record.SourceStateName, int]:
        return self._states.read(self._overdue)

    async def _filtered_page(
        self, after: Place | None, limit: int, where: SourceSelection
    ) -> tuple[list[SourceView], Place | None]:
        ids, cursor = self._ranking.page(
            after, limit, lambda source: matches(where, self._view(self._live[source])), SLICE
        )
        await trio.lowlevel.checkpoint()
        return [self._view(self._live[source]) for source in ids if source in self._live], cursor

    def slices(self) -> Iterator[list[LiveSource]]:
        return _slices(self._live.values())

    def look_up(self, source: str) -> LiveSource | None:
        return self._live.get(SourceId(source))

    def private_since(self, source: str) -> Millis | None:
        """Return since when a source is for its owner: checks need headers, or an opened network. None: it is public.
        Derived, never set. Without its headers (after an import) it stays so until a check succeeds. A source that is
        gone, or has not been checked since it changed, counts as private from now on.
        """
        live = self._live.get(SourceId(source))
        if live is None:
            return None if source == SERVICE else self._ports.world.now()
        if live.source.headers is not None or live.hot.private or self._ports.lenders.of(live.source) is not None:
            return self._since(live)
        is_internal = self._ports.egress.hosts.is_internal(parse_url(live.source.watch_url).host)
        return self._since(live) if is_internal else None

    def is_private(self, source: str) -> bool:
        return self.private_since(source) is not None

    async def stored_private_since(self, source: str) -> Millis | None:
        """As `private_since`, also for a source that was just deleted, or that another node just added or edited."""
        known = SourceId(source) in self._live
        if source == SERVICE or (known and not self._ownership.shared):
            return self.private_since(source)
        sources = self._ports.storage.sources
        row = await sources.get(SourceId(source)) or await sources.get(SourceId(source), deleted=True)
        if row is None:
            return self._ports.world.now()
        if row.hot.private or row.source.headers is not None:
            return self._since(row)
        return self.private_since(source) if known else None

    def _since(self, private: LiveSource | record.WatchedSource) -> Millis:
        hot, now = private.hot, self._ports.world.now()
        return max(hot.private_since or Millis(0), private.source.created_at) if hot.private else now

    def flag_counts(self) -> Mapping[record.Flag, int]:
        return self._ranking.flag_counts()

    async def overdue_round(self) -> OverdueRound:
        """Return the figures of watching. Loops over all sources."""
        now = self._ports.world.now()
        sources = overdue = waiting = looks = otherwise_well = 0
        worst: tuple[int, SourceId] | None = None
        tiers, breakers = Counter[str](), Counter[str]()
        for part in _slices(self._live.values()):
            ours = self._ours(part)
            sources += len(ours)
            tiers.update([live.source.type for live in ours])
            breakers.update([live.memory.breaker.state for live in ours])
            looks += sum([live.memory.looks for live in ours if live.source.type in POLLED])
            due = [live for live in ours if (live.memory.next_look_at or 0) < now]
            for live in (live for live in due if _is_overdue(live, now)):
                overdue += 1
                otherwise_well += record.state_of(live.source, live.hot, overdue=True) == "overdue"
                if live.source.type in POLLED:
                    waiting += 1
                    late = (live.hot.next_look_at or 0, live.source.id)
                    worst = late if worst is None else min(worst, late)
            await trio.lowlevel.checkpoint()
        self._overdue = otherwise_well
        longest = worst[1] if worst is not None and worst[1] in self._live else None  # it may have been dropped
        return OverdueRound(sources, overdue, waiting, longest, looks, tiers, breakers)

    async def unsaved(self) -> Sequence[LiveSource]:
        """Return the sources with unsaved state, or with finished days to store. Loops over all sources."""
        unsaved_sources: list[LiveSource] = []
        today = self._ports.world.now() // DAY
        for part in _slices(self._live.values()):
            unsaved_sources += [live for live in part if live.needs_save or coverage.has_over(live.tally, today)]
            await trio.lowlevel.checkpoint()
        return unsaved_sources

    def take_unsaved(self, live: LiveSource) -> StoredState:
        live.unsaved = False
        return live.state_to_save()

    async def planned_rate(self) -> float:
        """Return the planned checks a second of all polled sources, rendered ones weighted by cost. Loops over all."""
        total = 0.0
        for part in _slices(self._live.values()):
            total += sum([_planned_rate(live.memory) for live in self._ours(part) if live.source.type in POLLED])
            await trio.lowlevel.checkpoint()
        return total

    async def share(self) -> float:
        """Return this node's share of all polled sources; 1 when there are none. Loops over all."""
        if not self._ownership.shared:
            return 1.0
        everyone = ours = 0
        for part in _slices(self._live.values()):
            everyone += sum(_is_polled(live.source) for live in part)
            ours += sum(live.source.type in POLLED for live in self._ours(part))
            await trio.lowlevel.checkpoint()
        return ours / everyone if everyone else 1.0

    def _ours(self, part: Iterable[LiveSource]) -> list[LiveSource]:
        enabled = [live for live in part if live.source.enabled and live.source.practice is None]
        return [live for live in enabled if self._watches(live.source)] if self._ownership.shared else enabled

    def _keep(self, live: LiveSource) -> None:
        self._live[live.source.id] = live
        self.changes += 1
        live.tags = self._ports.tag_table
        live.inherit()
        if live.source.practice is not None:
            self._practice.add(live.source.id)
            return
        for key in record.feed_keys(live.source):
            self._feeds.setdefault(hash(key), live.source.id)
        self._ports.lenders.put(live)
        live.ranking, live.states = self._ranking, self._states
        self._states.put(live.source, live.hot)
        self._tags.put(live.source.id, live.source.tags)
        self._ranking.put(live.source.id, live.hot.health)

    def _view(self, live: LiveSource, place: int = 0) -> SourceView:
        lender = self._ports.lenders.of(live.source)
        lender_id = None if lender is None else lender.source.id
        private = self.is_private(live.source.id)
        overdue = self._overdue_now(live)
        return SourceView(live.source, live.hot, overdue, place, live.push, lender_id, live.effective, private)

    def _overdue_now(self, live: LiveSource) -> bool:
        """Return whether a source is overdue. Another node's newest checks may be unknown here."""
        known_late = 0 if self._watches(live.source) else 1000 * self._ports.sweep
        return _is_overdue(live, Millis(round(self._ports.world.now() - known_late)))


def _slices(lives: Iterable[LiveSource], size: int = SLICE) -> Iterator[list[LiveSource]]:
    """Slice the current sources; later additions and removals don't show."""
    everyone = list(lives)
    return (everyone[start : start + size] for start in range(0, len(everyone), size))


_Sorted = tuple[tuple[float, str], SourceId]  # the sort key, and the id to break ties
_MOST_NAME = 100  # characters of a name that count in an order; they travel in the cursor
_NEVER = 1e18
_SORTS: Mapping[str, Callable[[LiveSource], tuple[float, str]]] = {
    "name": lambda live: (0.0, live.source.called.casefold()[:_MOST_NAME]),
    "changed": lambda live: (-float(live.hot.last_event_at or 0), ""),
    "next": lambda live: (float((live.hot.next_look_at if live.source.enabled else None) or _NEVER), ""),
    "added": lambda live: (-float(live.source.created_at), ""),
}


def _cursor_of(row: _Sorted) -> Place:
    (number, name), source = row
    return 0, number, f"{source} {name}", 0


def _sorted_of(place: Place) -> _Sorted:
    source, _, name = place[2].partition(" ")
    return (place[1], name), SourceId(source)


def _is_polled(source: record.Source) -> bool:
    return source.enabled and source.type in POLLED and source.practice is None


def _planned_rate(hot: record.SourceRuntime) -> float:
    """Return the planned checks a second as of the program's last run, weighted by cost."""
    last, due = hot.last_look_at, hot.next_look_at
    wait = hot.interval if last is None or due is None else min(due - last, LONGEST_WAIT) / 1000
    return (RENDERED if hot.rendered else 1) / (wait if wait > 1 else 1)


def _is_overdue(live: LiveSource, now: Millis) -> bool:
    due = live.hot.next_look_at
    late = live.source.enabled and due is not None and now > due + LATE
    return late and (live.sleeps_until is None or trio.current_time() > live.sleeps_until + LATE / 1000)


def from_storage(live: LiveSource | None, stored: record.WatchedSource) -> LiveSource:
    """Return a source as stored by any node; `live` is the state known here."""
    if live is None:
        return LiveSource(stored.source, stored.hot, stored.version)
    after = with_record(live, stored.source)
    after.tally = after.saved_tally = stored.hot.tally  # another node's checks
    after.cookies = live.cookies.merge(stored.hot.cookies)
    after.hot, after.version, after.unsaved = stored.hot, stored.version, False
    return after


def with_record(live: LiveSource, source: record.Source) -> LiveSource:
    after = LiveSource(source, live.hot, live.version)
    after.unsaved, after.push, after.window = live.unsaved, live.push, live.window
    after.requested_at, after.uncertain_frames = live.requested_at, live.uncertain_frames
    after.saved_tally, after.unconfirmed = live.saved_tally, live.unconfirmed or not live.source.enabled
    after.cookies, after.compared_as = live.cookies, live.compared_as
    return after
