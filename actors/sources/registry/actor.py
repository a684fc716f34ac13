"""Owns the set of sources: starts actors; adds, edits, disables, deletes, describes; saves lazy state.

Requests that memory can answer are answered in turn, at once. Every other request gets a task, with a bound on their
number (`RequestLimit`), so that a slow origin or disk delays no request that needs neither. Checks for a caller that
has gone are cancelled. The table and the sources' actors survive restarts of this actor: they are children of the
dynamic supervisor, not of the registry. A full limit refuses at once instead of holding up the next request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, Final, assert_never

import trio
from msgspec.structs import replace

from actors.errors import Busy
from actors.messages.sources import (
    AddSource,
    ChangePractice,
    CheckNow,
    CountTags,
    DeleteSource,
    DescribeSource,
    DetectUrl,
    EditSource,
    EndPractice,
    ExamineSource,
    ExplainSource,
    GetReportedPage,
    ListSources,
    OfSource,
    PageQuestion,
    PreviewSource,
    RegistryMessage,
    RestoreSource,
    SetTagDefaults,
    ShowPractice,
    SourceQuestion,
    Teach,
    UrlQuestion,
)
from actors.messages.workers import Record, SaveStates
from actors.notices import notice_draft
from actors.sources.checks.fetch import host_of
from actors.sources.index import SourceIndex
from actors.sources.ports import LiveSource, Ports
from actors.sources.registry.explainer import Explainer
from actors.sources.registry.practice import PracticeService
from actors.sources.registry.previewer import Previewer
from actors.sources.registry.service import SourceService
from actors.sources.registry.tag_defaults import TagDefaultsService
from actors.sources.schedule.budgets import RENDERED, BudgetMonitor, adjusted_price
from actors.sources.schedule.overdue import EVERY, OverdueMonitor
from storage.errors import STANDSTILL, StorageError
from storage.records import tally
from storage.records.identity import SourceId
from storage.records.source import Harvest, SourceState
from supervision import Child, DynamicSupervisor, Mailbox, Reply, Unanswered

DAY = 86_400_000


class TallySweep:
    """One sweep. Unstored or unconfirmed tallies are in the next one again."""

    def __init__(self, ports: Ports, *, last: bool) -> None:
        self._ports, self._shifts = ports, ports.shifts
        self._mark = None if ports.shifts is None else ports.shifts.begin_sweep(last=last)
        self._open = 1
        self._failed = False

    async def store_finished_days(self, part: Sequence[LiveSource]) -> None:
        """Move finished days out of these tallies to storage. If storage fails, they stay."""
        today = self._ports.world.now() // DAY
        days = {live: tally.over(live.tally, today) for live in part if tally.has_over(live.tally, today)}
        try:
            await self._ports.storage.coverage.keep([(live.source.id, day) for live in days for day in days[live]])
        except STANDSTILL as error:
            self._ports.world.log("tally.days_stay", error=str(error))
            return
        for live, finished in days.items():
            live.set_tally(tally.without(live.tally, finished))

    def batch(
        self, part: Sequence[LiveSource], take: Callable[[LiveSource], SourceState]
    ) -> tuple[tuple[SourceState, ...], Callable[[bool], None]]:
        states = tuple(map(take, part))
        self._open += 1
        return states, partial(self._on_saved, part, states)

    def close(self) -> None:
        self._ended(stored=True)

    def _on_saved(self, part: Sequence[LiveSource], states: Sequence[SourceState], saved: bool) -> None:
        for live, state in zip(part, states, strict=True):
            if saved:
                live.mark_stored(state.hot)
            else:
                live.unsaved = True
        self._ended(stored=saved)

    def _ended(self, *, stored: bool) -> None:
        self._open -= 1
        self._failed = self._failed or not stored
        if not self._open and not self._failed and self._shifts is not None and self._mark is not None:
            self._shifts.end_sweep(self._mark)


MOST_NETWORK: Final = 32
MOST_OF_HOST: Final = MOST_NETWORK // 4
"""A single dead host leaves room for others."""
MOST_STORAGE: Final = 256
"""Most of them wait for a lock or a commit: as many as the mailbox holds."""
RETRY_AFTER: Final = 10
"""Seconds after which a refused caller may retry."""


class RequestLimit:
    """Active requests of one kind, at most `bound`; as many more wait for their host's `MOST_OF_HOST` places."""

    def __init__(self, name: str, bound: int) -> None:
        self._name, self._bound = name, bound
        self._hosts = Counter[str]()
        self._slots = dict[str, trio.CapacityLimiter]()

    @property
    def active(self) -> int:
        return sum(min(count, MOST_OF_HOST) if host else count for host, count in self._hosts.items())

    def admit(self, host: str = "") -> None:
        """Admit one more request, about a host if it needs one. Raises Busy."""
        waits = bool(host) and self._hosts[host] >= MOST_OF_HOST
        if self.active >= self._bound and not waits:
            raise Busy(f"{self._bound} {self._name} are running, the most at once: retry later", RETRY_AFTER)
        if waits and self._hosts[host] >= MOST_OF_HOST + self._bound:
            raise Busy(f"{self._hosts[host]} {self._name} wait for {host}: ask again later", RETRY_AFTER)
        self._hosts[host] += 1

    @asynccontextmanager
    async def slot(self, host: str = "") -> AsyncIterator[None]:
        try:
            async with self._slots.setdefault(host, trio.CapacityLimiter(MOST_OF_HOST)) if host else nullcontext():
                yield
        finally:
            self._hosts[host] -= 1
            if not self._hosts[host]:
                del self._hosts[host]
                self._slots.pop(host, None)


REPRICE = 60.0
"""Seconds between corrections of the price of a check."""
SWEEP_SLICE = 250
"""States saved with one message; the recorder commits each slice with whatever else is queued."""
REPORT_WITHIN = 5.0
PARKED = 5.0
"""Seconds between attempts while storage can't read the sources."""


class Registry:
    """The set of sources. `sources` is the dynamic supervisor of their actors."""

    def __init__(self, ports: Ports, sources: DynamicSupervisor, mailbox: Mailbox[RegistryMessage]) -> None:
        self._ports, self._mailbox = ports, mailbox
        self.table = SourceIndex(ports, sources)
        self.overdue_monitor = OverdueMonitor()
        self._service = SourceService(ports, self.table)
        self._previewer = Previewer(ports, self.table)
        self._explainer = Explainer(ports, self.table)
        self._practice = PracticeService(ports, self.table, self._service)
        self._tag_defaults = TagDefaultsService(ports, self.table)
        self._follower = ports.storage.ownership.follower(ports, self.table, self._service.locks, self._tag_defaults)
        self.network_limit = RequestLimit("requests that fetch a URL (adding, detecting, previewing)", MOST_NETWORK)
        self.storage_limit = RequestLimit("changes and other questions about sources", MOST_STORAGE)

    async def run(self, child: Child) -> None:
        await self._load(child)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._sweep_for_ever)
            nursery.start_soon(self._watch_for_ever)
            nursery.start_soon(self._price_for_ever)
            nursery.start_soon(self._answer_for_ever)
            if self._follower is not None:
                nursery.start_soon(self._follower.run)
            child.ready()
            await child.stopping.wait()
            nursery.cancel_scope.cancel()
        await self._sweep(last=True)

    async def _load(self, child: Child) -> None:
        """Load and start all sources. While storage fails, retry: a crash would recur after every restart, and in the
        end stop the history from being served as well.
        """
        while True:
            try:
                if self._follower is not None:
                    await self._follower.begin()
                await self._tag_defaults.read()
                return await self.table.load()
            except STANDSTILL as error:
                self._ports.world.log("registry.parked", error=str(error))
                child.ready()
                await trio.sleep(PARKED)

    async def _answer_for_ever(self) -> None:
        async with trio.open_nursery() as nursery:
            while True:
                message = await self._mailbox.receive()
                reply: Reply[Any] = message.reply
                if reply.abandoned:
                    continue
                limit, host = self._limit_of(message)
                if limit is None:
                    await self._serve(message)
                    continue
                try:
                    limit.admit(host)
                except Busy as busy:
                    reply.fail(busy)
                else:
                    nursery.start_soon(self._answer, message, limit, host)

    def _limit_of(self, message: RegistryMessage) -> tuple[RequestLimit | None, str]:
        """Return the limit of a request, None if memory can answer it; and the host that it needs, if any."""
        match message:
            case CheckNow() if not self._watches(message.source):
                return self.storage_limit, ""  # storage passes the request on
            case CheckNow() | CountTags() | DescribeSource() | ExamineSource() | ListSources():
                return None, ""
            case AddSource(new=asked) | DetectUrl(request=asked) | UrlQuestion(request=asked):
                return self.network_limit, host_of(asked.url)
            case PreviewSource() | SourceQuestion() | ExplainSource(check_now=True):
                live = self.table.look_up(message.source)
                return self.network_limit, "" if live is None else host_of(live.source.watch_url)
            case PageQuestion():
                return self.network_limit, ""
            case _:
                return self.storage_limit, ""

    def _watches(self, source: SourceId) -> bool:
        live = self.table.look_up(source)
        return live is None or self._ports.storage.ownership.watches(live.source)

    async def _answer(self, message: RegistryMessage, limit: RequestLimit, host: str) -> None:
        with message.reply.while_awaited() if limit is self.network_limit else nullcontext():
            async with limit.slot(host):
                await self._serve(message)

    async def _serve(self, message: RegistryMessage) -> None:
        reply: Reply[Any] = message.reply
        with reply:
            try:
                if self._follower is not None and isinstance(message, OfSource | SourceQuestion):
                    await self._follower.learn(message.source)
                reply.answer(await self._result(message))
            except Exception as error:
                # The caller gets the error; unexpected ones are logged there as a 500.
                reply.fail(error)

    async def _result(self, message: RegistryMessage) -> object:
        match message:
            case AddSource():
                return await self._service.add(message)
            case DetectUrl():
                return await self._previewer.detect(message)
            case PreviewSource():
                return await self._previewer.preview(message)
            case PageQuestion():
                return await message.answer(self._previewer)
            case EditSource():
                return await self._service.edit(message.source, message.patch, message.expected, message.by)
            case Teach():
                return await self._service.teach(message)
            case DeleteSource():
                await self._service.delete(message.source, message.expected)
                return None
            case RestoreSource():
                return await self._service.restore(message.source)
            case CheckNow() if not self._watches(message.source):
                return await self._follower.check(message.source)
            case CheckNow():
                return self._service.check(message.source)
            case ShowPractice():
                return await self._practice.show(start=message.start)
            case ChangePractice():
                return await self._practice.change(message.what)
            case EndPractice():
                await self._practice.end()
                return None
            case DescribeSource():
                return self.table.describe(message.source)
            case ExplainSource():
                return await self._explainer.explain(message)
            case GetReportedPage():
                return await self._explainer.reported_page(message.source, values=message.values)
            case ExamineSource():
                return self.table.examine(message.source)
            case ListSources():
                return await self.table.find(message.after, message.limit, message.where, message.sort)
            case CountTags():
                return self.table.tags()
            case SetTagDefaults():
                return await self._tag_defaults.set(message)
            case _:
                assert_never(message)

    async def _price_for_ever(self) -> None:
        market, budget = self._ports.pricing, self._ports.settings.looks_per_second
        while True:
            await trio.sleep(REPRICE)
            ours = budget * await self.table.share()
            if ours > 0:  # one of several nodes may watch nothing, and has no checks to price
                value = adjusted_price(market.price.value, await self.table.planned_rate(), ours, REPRICE)
                market.price = replace(market.price, value=value)

    async def _watch_for_ever(self) -> None:
        spending = BudgetMonitor(self._ports.settings.looks_per_second)
        while True:
            round = await self.table.overdue_round()
            self._log_budget(spending)
            on_hold = self._ports.egress.uplink.down or self._ports.pause_switch.is_closed
            if self.overdue_monitor.update(round, trio.current_time(), on_hold=on_hold):
                state = "stalled" if self.overdue_monitor.stalled else "resumed"
                self._ports.world.log(f"watching.{state}", level="error", overdue=round.overdue, worst=round.worst)
                if self.overdue_monitor.stalled and round.worst is not None:
                    await self._report_stall(self.table.get(round.worst))
            await trio.sleep(EVERY)

    def _log_budget(self, spending: BudgetMonitor) -> None:
        before = self.overdue_monitor.check_rate
        metrics = self._ports.world.metrics
        looks = metrics.looks.total() + (RENDERED - 1) * metrics.rendered_looks.total()
        self.overdue_monitor.check_rate = spent = spending.update(looks, trio.current_time())
        if bool(before.passed) != bool(spent.passed):
            what = "passed" if spent.passed else "kept"
            self._ports.world.log(f"budget.{what}", level="warning", a_second=round(spent.rate, 2), budget=spent.budget)

    async def _report_stall(self, live: LiveSource) -> None:
        """Report the stall under the source that has waited longest; if the recorder is stuck, /readyz must do."""
        text = f"Sources are not being checked: {self.overdue_monitor.fault()}. This one has waited longest."
        now, source = self._ports.world.now(), live.source
        title = "The watching has stalled"
        notice = notice_draft(
            "watching_stalled", source.url, title, text, now, source_type=source.type, of_source=source.tags
        )
        harvest = Harvest(source.id, (notice,), None)
        with trio.move_on_after(REPORT_WITHIN), suppress(Unanswered, StorageError):
            await self._ports.recorder.ask(lambda reply: Record(harvest, reply))

    async def _sweep_for_ever(self) -> None:
        while True:
            await trio.sleep(self._ports.sweep)
            await self._sweep()

    async def _sweep(self, *, last: bool = False) -> None:
        """Save unsaved changes in id order, so that neighbouring rows share a page. last: no check follows."""
        sweep = TallySweep(self._ports, last=last)
        unsaved = await self.table.unsaved()
        for start in range(0, len(unsaved), SWEEP_SLICE):
            part = unsaved[start : start + SWEEP_SLICE]
            await sweep.store_finished_days(part)
            await self._ports.recorder.send(SaveStates(*sweep.batch(part, self.table.take_unsaved)))
        sweep.close()
