"""Owns the set of sources: starts actors; adds, edits, disables, deletes, describes, explains; saves lazy state.

Requests that memory can answer are answered in turn, at once. Every other request gets a task, with a bound on their
number (`RequestLimit`), so that a slow origin or disk delays no request that needs neither. Checks for a caller that
has gone are cancelled. The table and the sources' actors survive restarts of this actor: they are children of the
dynamic supervisor, not of the registry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, Final, assert_never

import msgspec
import trio
from msgspec import UNSET
from msgspec.structs import replace

from actors.content.wording.words import folded, holds
from actors.egress.failures import CheckFailed
from actors.egress.hosts import INTERACTIVE
from actors.egress.http import FetchedResponse
from actors.errors import Busy, UrlRefused
from actors.messages import sources as ask
from actors.messages.views import Reason, ReportedPage, SourceExplanation
from actors.messages.workers import Record, SaveStates
from actors.notices import notice_draft
from actors.sources import explanation as sentences
from actors.sources.checks.fetch import as_failure, host_of
from actors.sources.checks.source_fetch import fetch_for_user
from actors.sources.index import SourceIndex
from actors.sources.page import reported_page, standing_values
from actors.sources.ports import LiveSource, Ports
from actors.sources.registry.practice import PracticeService
from actors.sources.registry.previewer import Previewer
from actors.sources.registry.service import SourceService, TagDefaultsService
from actors.sources.schedule.budgets import RENDERED, BudgetMonitor, adjusted_price
from actors.sources.schedule.silence import EVERY, OverdueMonitor
from actors.sources.tiers import BEHAVIOURS
from storage.errors import STANDSTILL, StorageError
from storage.records import coverage
from storage.records.checks import StoredMemory, read_notes
from storage.records.event import NEW, Event, Filter
from storage.records.identity import Millis, SourceId, millis_of, seq_at
from storage.records.message import message
from storage.records.source import Harvest, SourceState
from storage.records.tiers import ORDINARY, WITH_DIFF, Kind
from supervision import Child, DynamicSupervisor, Mailbox, Reply, Unanswered

PATIENCE = 8.0  # seconds for a check that a user waits for; a host's queue may be longer
AT_ONCE = 10
MOST_READS = 30  # reads of the log for an answer, newest first: 300 events, or fewer if others are dense between them
_KINDS = (*ORDINARY, Kind.PRACTICE)
_DAY = 86_400_000  # milliseconds of a possible step back of the clock since the newest event
_event = msgspec.json.Decoder(Event)


class Explainer:
    """Answers questions about sources; changes nothing."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self._ports, self._table = ports, table

    async def explain(self, question: ask.ExplainSource) -> SourceExplanation:
        """Return the explanation. Raises NotFound."""
        live, view = self._table.get(question.source), self._table.describe(question.source)
        memory = await self._ports.memory_of(question.source)
        notes = read_notes(memory.notes)
        text = folded(question.text)
        if not text:
            reasons = [*sentences.check_reasons(notes)]
        else:
            reasons = [*await self._reported(question.source, text), *sentences.note_reasons(notes, text)]
            if live.source.tier.polled or not reasons:  # the log and notes are all there is on frames
                reasons += await self._in_memory(live, memory, question)
        state = sentences.state_text(self._table.describe(question.source), self._ports.world.now())
        return SourceExplanation(view, sentences.best_first(reasons), state)

    async def reported_page(self, source: SourceId, *, values: bool = False) -> ReportedPage | None:
        """Return a page as last reported; None for other tiers or an unread page. values: include its current values.
        Raises NotFound; Overloaded if no worker could read the values.
        """
        live = self._table.get(source)
        base = (await self._ports.memory_of(source)).tier
        page = reported_page(base) if base and live.source.tier.has_diff and live.source.follow == "none" else None
        if page is None or not values:
            return page
        return page._replace(standing=await standing_values(self._ports.world.jail, live.source, base))

    async def _reported(self, source: SourceId, text: str) -> list[Reason]:
        log = self._ports.storage.log
        at = seq_at(Millis(self._ports.world.now() + _DAY))
        for _ in range(MOST_READS):
            page = await log.read_back(at, AT_ONCE, Filter(sources=(source,), kinds=_KINDS))
            for stored in page.events:
                await trio.lowlevel.checkpoint()
                event = _event.decode(stored.body)
                if _reports(event, text):
                    return [sentences.reported_reason(event, millis_of(stored.seq))]
            if not page.scanned or page.scanned == at:
                break
            at = page.scanned
        return []

    async def _in_memory(self, live: LiveSource, memory: StoredMemory, question: ask.ExplainSource) -> list[Reason]:
        view = self._table.describe(question.source)
        fetched, reasons = await self._checked(live, question)
        try:
            reasons += await BEHAVIOURS[view.source.type].search(self._ports, view, memory, question, fetched)
        except CheckFailed as failure:
            reasons.append(Reason("failed", message("It could not be read: %(reason)s.", reason=failure.reason)))
        return reasons

    async def _checked(
        self, live: LiveSource, question: ask.ExplainSource
    ) -> tuple[FetchedResponse | None, list[Reason]]:
        if not (question.check_now and live.source.tier.polled):
            return None, []
        now = self._ports.world.now()

        def begin() -> None:
            wait = self._table.earliest_check(live) - now
            if wait > 0 or not live.source.enabled:
                raise _NotNow(sentences.too_soon(wait, enabled=live.source.enabled))
            live.requested_at = now

        reader = self._table.readers[live.source.type]
        try:
            with trio.fail_after(PATIENCE):
                return (await fetch_for_user(self._ports, live, INTERACTIVE, reader, begin)).fetched, []
        except _NotNow as error:
            return None, [Reason("failed", error.args[0])]
        except trio.TooSlowError:
            return None, [Reason("failed", message("It could not be checked now: its host has a queue, or is slow."))]
        except (CheckFailed, UrlRefused) as error:
            reason = message("Checked now, it failed: %(reason)s.", reason=as_failure(error).reason)
            return None, [Reason("failed", reason, now)]


class _NotNow(Exception):
    """Politeness forbids a check, or the source is paused: a Message."""


def _reports(event: Event, wanted_text: str) -> bool:
    """Return whether an event reports a text: for a page, in its difference; for an item or a frame, anywhere."""
    if event.source_type not in WITH_DIFF or (event.diff is UNSET and NEW in event.tags):
        return holds(event.title, wanted_text) or wanted_text in folded(event.content)
    if event.diff is UNSET:
        return False
    diff = event.diff
    texts = (*diff.added, *diff.removed, *(text for pair in diff.changed for text in (pair.before, pair.after)))
    return any(holds(text, wanted_text) for text in texts)


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
        days = {live: coverage.over(live.tally, today) for live in part if coverage.has_over(live.tally, today)}
        try:
            await self._ports.storage.coverage.keep([(live.source.id, day) for live in days for day in days[live]])
        except STANDSTILL as error:
            self._ports.world.log("tally.days_stay", error=str(error))
            return
        for live, finished in days.items():
            live.set_tally(coverage.without(live.tally, finished))

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
MOST_OF_HOST: Final = MOST_NETWORK // 4  # a single dead host leaves room for others
MOST_STORAGE: Final = 256  # most of them wait for a lock or a commit: as many as the mailbox holds
RETRY_AFTER: Final = 10  # seconds after which a refused caller may retry


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


REPRICE = 60.0  # seconds between corrections of the price of a check
SWEEP_SLICE = 250  # states saved with one message; the recorder commits each slice with whatever else is queued
REPORT_WITHIN = 5.0
PARKED = 5.0  # seconds between attempts while storage can't read the sources


class Registry:
    """The set of sources. `sources` is the dynamic supervisor of their actors."""

    def __init__(self, ports: Ports, sources: DynamicSupervisor, mailbox: Mailbox[ask.RegistryMessage]) -> None:
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

    def _limit_of(self, message: ask.RegistryMessage) -> tuple[RequestLimit | None, str]:
        """Return the limit of a request, None if memory can answer it; and the host that it needs, if any."""
        match message:
            case ask.CheckNow() if not self._watches(message.source):
                return self.storage_limit, ""  # storage passes the request on
            case ask.CheckNow() | ask.CountTags() | ask.DescribeSource() | ask.ExamineSource() | ask.ListSources():
                return None, ""
            case ask.AddSource(new=asked) | ask.DetectUrl(request=asked) | ask.UrlQuestion(request=asked):
                return self.network_limit, host_of(asked.url)
            case ask.PreviewSource() | ask.SourceQuestion() | ask.ExplainSource(check_now=True):
                live = self.table.look_up(message.source)
                return self.network_limit, "" if live is None else host_of(live.source.watch_url)
            case ask.PageQuestion():
                return self.network_limit, ""
            case _:
                return self.storage_limit, ""

    def _watches(self, source: SourceId) -> bool:
        live = self.table.look_up(source)
        return live is None or self._ports.storage.ownership.watches(live.source)

    async def _answer(self, message: ask.RegistryMessage, limit: RequestLimit, host: str) -> None:
        with message.reply.while_awaited() if limit is self.network_limit else nullcontext():
            async with limit.slot(host):
                await self._serve(message)

    async def _serve(self, message: ask.RegistryMessage) -> None:
        reply: Reply[Any] = message.reply
        with reply:
            try:
                if self._follower is not None and isinstance(message, ask.OfSource | ask.SourceQuestion):
                    await self._follower.learn(message.source)
                reply.answer(await self._result(message))
            except Exception as error:
                # The caller gets the error; unexpected ones are logged there as a 500.
                reply.fail(error)

    async def _result(self, message: ask.RegistryMessage) -> object:
        match message:
            case ask.AddSource():
                return await self._service.add(message)
            case ask.DetectUrl():
                return await self._previewer.detect(message)
            case ask.PreviewSource():
                return await self._previewer.preview(message)
            case ask.PageQuestion():
                return await message.answer(self._previewer)
            case ask.EditSource():
                return await self._service.edit(message.source, message.patch, message.expected, message.by)
            case ask.Teach():
                return await self._service.teach(message)
            case ask.DeleteSource():
                await self._service.delete(message.source, message.expected)
                return None
            case ask.RestoreSource():
                return await self._service.restore(message.source)
            case ask.CheckNow() if not self._watches(message.source):
                return await self._follower.check(message.source)
            case ask.CheckNow():
                return self._service.check(message.source)
            case ask.ShowPractice():
                return await self._practice.show(start=message.start)
            case ask.ChangePractice():
                return await self._practice.change(message.what)
            case ask.EndPractice():
                await self._practice.end()
                return None
            case ask.DescribeSource():
                return self.table.describe(message.source)
            case ask.ExplainSource():
                return await self._explainer.explain(message)
            case ask.GetReportedPage():
                return await self._explainer.reported_page(message.source, values=message.values)
            case ask.ExamineSource():
                return self.table.examine(message.source)
            case ask.ListSources():
                return await self.table.find(message.after, message.limit, message.where, message.sort)
            case ask.CountTags():
                return self.table.tags()
            case ask.SetTagDefaults():
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
