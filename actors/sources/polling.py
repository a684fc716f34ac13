"""The life of a polled source: sleep, check, harvest, send. Its tier (`actors/sources/tiers.py`) reads the bodies.

A harvest owns the memory it carries: until the recorder acknowledges it, this actor does not know whether it was
committed. So a request without an answer is followed by reading the state back from storage. The tier's own memory
(seen entries, page blocks) is read from storage only when a body has changed: an idle source takes a few kilobytes.

A source that follows fetches the pages of its items one at a time, each committed with the memory that no longer has it
waiting, so a crash neither loses nor repeats it. None is fetched while the source's breaker is open; a page's failure
does not count against the source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Final

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors import series
from actors.content.messages import ItemPage, ListLook, ListRequest, PageRequest
from actors.content.values.kinds import values_of_entry
from actors.coverage import ClockSteps
from actors.egress.failures import Blame, CheckFailed, NotRendered
from actors.egress.hosts import HostOpen, TurnRequest
from actors.egress.http import FetchedResponse
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.inheritance import part_mark
from actors.messages.declaring import made_of
from actors.messages.sources import SettingsChanged, SourceMessage
from actors.messages.workers import Record, SaveStates
from actors.observer import CheckSteps
from actors.sources import detection
from actors.sources import following as items
from actors.sources.checks import fetch as fetching
from actors.sources.checks import progress
from actors.sources.checks.access import SIGNED_OUT_STATUSES, Renewal, asks_password, renewal_of
from actors.sources.checks.progress import CheckResult
from actors.sources.checks.rendering import screenshot_to_store
from actors.sources.checks.source_fetch import fetch_source
from actors.sources.following import FollowQueue, WaitingItem, drafts_of, note_of, other_hosts_text
from actors.sources.health.notices import FailureTimer
from actors.sources.lending import ResolvedSource
from actors.sources.ports import LiveSource, Ports, limits_of, new_version
from storage.errors import StorageError, Unavailable
from storage.records.checks import Note, Part, Row, StoredMemory, Verdict, add_row, check_row, new_memory, unpack_memory
from storage.records.event import Draft, Picture
from storage.records.identity import Millis
from storage.records.source import Harvest, Source, SourceRuntime, SourceState, Validators
from storage.records.tiers import SourceType
from supervision import Child, MailboxFull, Unanswered

_START: Final = 60.0  # seconds until a source reads its waiting items after a restart, at most
_REST: Final = 60.0  # seconds between attempts while the service is drained or our uplink is down
_PERMANENT: Final = frozenset({Blame.REMOTE_PERMANENT, Blame.CONTENT})
Commit = Callable[[tuple[Draft, ...], bytes, int], Awaitable[None]]


class StoredReading(Struct, frozen=True):
    """Drafts to report at once, and the base to store (None: unchanged)."""

    drafts: tuple[Draft, ...]
    base: bytes | None


def stored_of(
    source: Source, memory: StoredMemory, reading: fetching.BodyReading, at: Millis, *, first: bool = False
) -> StoredReading:
    """Return a reading in stored form: if the source follows, items wait for their pages, save a first backfill."""
    queue = items.decode(memory.waiting)
    result = items.enqueue(queue, source, () if first else reading.drafts, at, reading.files)
    drafts = reading.drafts if first else result.drafts
    waiting = None if result.queue == queue else items.encode(result.queue)
    note = reading.note
    if note is not None and not first:
        note = replace(note, reason=note.reason + other_hosts_text(result.other_hosts, result.skipped_hosts))
    return StoredReading(drafts, new_memory(memory, reading.base, note, waiting))


class ItemPages:
    """The time and execution of a next page fetch of an item. `at` None: no known item waits. draw: in [0, 1)."""

    __slots__ = ("_commit", "_live", "_ports", "at")

    def __init__(self, ports: Ports, live: LiveSource, draw: float, commit: Commit) -> None:
        self._ports, self._live, self._commit = ports, live, commit
        self.at = self._in(_START * draw) if live.source.follow != "none" else None

    def is_due(self, now: Millis) -> bool:
        hot = self._live.hot
        return self.at is not None and self.at <= now and hot.breaker.state == "closed" and not hot.breaker.failures

    def postpone(self) -> None:
        self.at = self._in(_REST)

    def update(self, base: bytes | None) -> None:
        """Take the stored base; None: unchanged."""
        if base is not None and self._live.source.follow != "none":
            self.at = self._due(items.decode(unpack_memory(base).waiting))

    def reload_soon(self) -> None:
        """Read storage soon: it is unknown whether the last harvest was committed."""
        self.at = self._in(1.0) if self._live.source.follow != "none" else None

    async def fetch_next(self) -> None:
        memory, now = await self._ports.memory_of(self._live.source.id), self._ports.world.now()
        queue = items.decode(memory.waiting)
        item = items.next_item(queue, now)
        due = self._due(queue)
        if item is None or due is None or due > now:
            self.at = due
            return
        if wait := self._ports.item_page_budget.take(trio.current_time()):
            self.at = self._in(wait)
            return
        counted = items.count_fetch(queue, now)
        steps = self._ports.world.observer.steps(self._live.source.id, "hop")
        try:
            if item.file:
                fetched = await _fetch(self._ports, self._live, item, _ACCEPT_FILE, steps)
                result = await _read_sitemap(self._ports, item, memory.tier, fetched.body)
                steps.hopped(self._live.source, item.url, self._ports.world.now())
                await self._after_file(memory, counted, item, result)
            else:
                draft = await page_of(self._ports, self._live, item, steps)
                steps.hopped(self._live.source, item.url, draft.fetched_at)
                await self._commit_queue((draft,), memory, items.remove(counted, item))
        except (CheckFailed, UrlRefused) as error:
            failure = fetching.as_failure(error)
            steps.hopped(self._live.source, item.url, self._ports.world.now(), failure)
            await self._failed(memory, counted, item, failure)
        finally:
            steps.end()

    async def _after_file(self, memory: StoredMemory, queue: FollowQueue, item: WaitingItem, result: ListLook) -> None:
        source, now = self._live.source, self._ports.world.now()
        sorted_items = items.enqueue(items.remove(queue, item), source, drafts_of(source, result, now), now)
        after = items.enqueue_file(sorted_items.queue, result.next_file, now)
        tier = memory.tier if result.memory is None else result.memory
        note = note_of(result, now, None) if result.new or result.bulk else None
        base = new_memory(memory, tier, note, items.encode(after))
        await self._send(sorted_items.drafts, base, len(result.new))

    async def _failed(self, memory: StoredMemory, queue: FollowQueue, item: WaitingItem, failure: CheckFailed) -> None:
        now, is_permanent = self._ports.world.now(), failure.blame in _PERMANENT
        reason = f"Its page could not be read: {failure.reason}"
        self._ports.world.log("hop.failed", source_id=self._live.source.id, url=item.url, why=failure.reason)
        if item.file and is_permanent:
            # A file that is permanently unavailable counts as read.
            await self._after_file(memory, queue, item, await _read_sitemap(self._ports, item, memory.tier, b""))
        elif (
            failure.blame is Blame.THROTTLED
            and items.is_on_other_host(self._live.source, item)
            and not items.is_late(item, now)
        ):
            await self._commit_queue((), memory, items.hold_host(queue, item, now, max(failure.hold, 1.0)))
        elif failure.blame in (Blame.THROTTLED, Blame.LOCAL) and not items.is_late(item, now):
            self.at = self._in(max(failure.hold, 1.0))
        elif item.file or not items.gives_up(item, now, is_permanent=is_permanent):
            await self._commit_queue((), memory, items.retry_later(queue, item, now))
        else:
            assert item.draft is not None, "else it is a file"
            draft = replace(item.draft, unread=reason)
            part = Part(draft.title or draft.url, "reported without the text of its page", draft.url, told=True)
            note = Note(now, "told", f"{reason}. The item was reported as in its list.", parts=(part,))
            await self._commit_queue((draft,), memory, items.remove(queue, item), note)

    async def _commit_queue(
        self, drafts: tuple[Draft, ...], memory: StoredMemory, queue: FollowQueue, note: Note | None = None
    ) -> None:
        await self._send(drafts, new_memory(memory, memory.tier, note, items.encode(queue)), 0)

    async def _send(self, drafts: tuple[Draft, ...], base: bytes | None, count: int) -> None:
        assert base is not None, "a fetched page always changes what waits"
        self.update(base)
        await self._commit(drafts, base, count)

    def _due(self, queue: FollowQueue) -> Millis | None:
        return items.due_at(queue, self._ports.settings.follow_per_hour)

    def _in(self, seconds: float) -> Millis:
        return Millis(self._ports.world.now() + round(1000 * seconds))


_ACCEPT_PAGE = "text/html, application/xhtml+xml, */*;q=0.5"
_ACCEPT_FILE = "application/xml, text/xml, application/gzip;q=0.9, */*;q=0.5"


async def page_of(ports: Ports, live: LiveSource, item: WaitingItem, steps: CheckSteps) -> Draft:
    """Return the draft of an item with the text of its page. Raises CheckFailed, UrlRefused."""
    assert item.draft is not None
    fetched = await _fetch(ports, live, item, _ACCEPT_PAGE, steps)
    request = PageRequest(fetched.body, fetched.content_type, fetched.url)
    deadline = fetching.page_deadline(ports.settings.parse_deadline, fetched.body)
    with steps.step("read"):
        page = await fetching.in_jail(ports.world.jail, "read_item", request, ItemPage, deadline=deadline)
    if page.trouble is not None:
        raise CheckFailed(Blame.REMOTE_PERMANENT, f"not the page itself: {page.trouble}", status=fetched.status)
    return _completed(item.draft, page, ports)


async def _read_sitemap(ports: Ports, item: WaitingItem, memory: bytes, body: bytes) -> ListLook:
    request = ListRequest(body, "", item.file, memory=memory, file=item.file)
    deadline = fetching.feed_deadline(ports.settings.parse_deadline, body)
    return await fetching.in_jail(ports.world.jail, "look_list", request, ListLook, deadline=deadline)


async def _fetch(ports: Ports, live: LiveSource, item: WaitingItem, accept: str, steps: CheckSteps) -> FetchedResponse:
    """Fetch a page in the host's turn, with the user's access to its own origin; never posts."""
    claim = TurnRequest(live.source.id, live.hot.last_look_at or 0, steps=steps, own=True)
    resolved = ports.lenders.resolve(live)
    renewal = renewal_of(ports, resolved)
    renewal.access = renewal.access._replace(body=None)
    try:
        fetched = await fetching.fetch(ports, claim, item.url, accept=accept, robots=True, renewal=renewal)
    except CheckFailed as failure:
        if failure.status in SIGNED_OUT_STATUSES:
            renewal.reject()
        raise
    if renewal.access.headers and not resolved.source.detection.asks_password and asks_password(fetched.body):
        renewal.reject()
    else:
        renewal.confirm()
    return fetched


def _completed(draft: Draft, page: ItemPage, ports: Ports) -> Draft:
    """Return a draft completed from its page. Longer text and other details from the list or feed win."""
    title, author = draft.title or page.title, draft.author or page.author
    published_at = draft.published_at if draft.published_at is not None else page.published_at
    own = {"title": title, "author": author, "published_at": published_at, "fetched_at": ports.world.now()}
    if len(page.content) <= len(draft.content):
        return replace(draft, **own)
    changes = values_of_entry(title, page.content)
    return made_of(Draft, page, draft, content_truncated=page.truncated, changes=changes, **own)


_DAY = 86_400_000
_page_of = attrgetter("type", "watch_url", "headers", "headers_for", "follow", "render", "wait_for")


class NotPolled(Exception):
    """A source that had never answered is a stream, which is not polled."""


class PolledSource:
    """The actor of one feed or page."""

    __slots__ = (
        "_chance", "_failure_timer", "_item_pages", "_limits", "_live", "_planned_source", "_ports", "_readers",
    )  # fmt: skip

    def __init__(self, ports: Ports, live: LiveSource, readers: Mapping[SourceType, fetching.BodyReader]) -> None:
        self._ports, self._live, self._readers = ports, live, readers
        self._limits = limits_of(live.effective, ports.settings)
        self._planned_source: Source | None = None
        """The settings that the next check was planned with; None: planned by an earlier process."""
        self._chance = ports.world.chance(f"source/{live.source.id}")
        self._failure_timer = FailureTimer(ports, live)
        draw = self._chance.random() if live.source.follow != "none" else 0.0
        self._item_pages = ItemPages(ports, live, draw, self._commit_item_page)

    async def run(self, child: Child) -> None:
        while True:
            try:
                self._plan()
                message = await self._sleep(child)
                if isinstance(message, SettingsChanged):
                    continue
                on_request, now = message is not None, self._ports.world.now()
                if not on_request and self._item_pages.is_due(now) and now < (self._live.hot.next_look_at or 0):
                    await self._fetch_item_page(child)
                elif await self._may_check(child):
                    child.note("looking")
                    await self._check(on_request=on_request)
                    with suppress(trio.WouldBlock):
                        self._live.mailbox.receive_nowait()  # the check also serves requests that arrived during it
            except NotPolled:
                return
            except Unavailable as error:
                # A restart would hit the same error and fetch for nothing.
                self._ports.world.log("look.parked", level="debug", source_id=self._live.source.id, error=str(error))
                self._live.hot, self._live.unconfirmed = replace(self._live.hot, next_look_at=self._retry_time()), True

    def _retry_time(self) -> Millis:
        return Millis(self._ports.world.now() + round(1000 * (self._limits.floor * (0.5 + self._chance.random()))))

    def _plan(self) -> None:
        live, planned = self._live, self._planned_source
        source = live.effective
        if source is planned:
            return
        self._remember_settings(source)
        hot, former, limits = live.hot, self._limits, limits_of(source, self._ports.settings)
        self._planned_source, self._limits = source, limits
        keeps_pace = limits.schedule in (None, hot.interval) if planned is None else limits == former
        if not keeps_pace or hot.part != part_mark(source):
            rescheduled = progress.rescheduled(hot, self._ports.world.now(), limits, self._chance.random())
            if rescheduled is not hot:
                live.hot, live.unsaved = rescheduled, True

    def _remember_settings(self, source: Source) -> None:
        if self._live.hot.part == part_mark(source):
            self._live.compared_as = source

    async def _sleep(self, child: Child) -> SourceMessage | None:
        live, now = self._live, self._ports.world.now()
        before = live.hot
        hot = progress.cap_waits(before, now, self._limits)
        if hot is not before:
            live.hot = hot
        due = hot.next_look_at
        wait = 0.0 if due is None else (due - now) / 1000
        if self._item_pages.at is not None and self._item_pages.is_due(self._item_pages.at):
            wait = min(wait, (self._item_pages.at - now) / 1000)
        child.note("asleep")
        steps = ClockSteps(self._ports.world.wall)
        live.sleeps_until = trio.current_time() + max(0.0, wait)
        try:
            if hot.health.down_since is not None:
                return await self._failure_timer.sleep(wait, self._send_notices)
            return await live.mailbox.receive_by(live.sleeps_until)
        finally:
            live.sleeps_until = None
            step, due = steps.take_step(), live.hot.next_look_at
            if step and due is not None:  # the wait stays the same
                live.hot = replace(live.hot, next_look_at=Millis(due + round(1000 * step)))

    async def _fetch_item_page(self, child: Child) -> None:
        if self._ports.pause_switch.is_closed or self._ports.egress.uplink.down:
            self._item_pages.postpone()
            return
        child.note("fetching the page of a new item")
        await self._item_pages.fetch_next()

    async def _commit_item_page(self, drafts: tuple[Draft, ...], base: bytes, count: int) -> None:
        hot = self._live.hot
        if count:
            hot = replace(hot, events=hot.events + count, last_event_at=self._ports.world.now())
        await self._send(self._harvest(drafts, hot, base), checked=True)

    async def _may_check(self, child: Child) -> bool:
        """Pause while the gate is closed or our uplink is down. False: this check was spread to a new time."""
        line, gate = self._ports.egress.uplink, self._ports.pause_switch
        if gate.is_closed:
            child.note("on hold: the service is drained", on_hold=True)
            wait = await gate.wait_open(self._chance.random(), self._live.hot.interval)
        elif line.down:
            child.note("on hold: our own connection is down", on_hold=True)
            wait = await line.clearance(fetching.host_of(self._live.source.watch_url), self._chance.random())
        else:
            return True
        if wait:
            due = Millis(self._ports.world.now() + round(wait * 1000))
            self._live.hot, self._live.unconfirmed = replace(self._live.hot, next_look_at=due), True
        return not wait

    async def _check(self, *, on_request: bool) -> None:
        steps = self._ports.world.observer.steps(self._live.source.id)
        try:
            await self._run_check(on_request, steps)
        finally:
            steps.end()

    async def _run_check(self, on_request: bool, steps: CheckSteps) -> None:
        live, ports = self._live, self._ports
        if live.hot.part != part_mark(live.effective):  # the memory is of another part: fetch the whole page
            live.hot = replace(live.hot, validators=Validators())
        before, resolved = live.hot, ports.lenders.resolve(live)
        same = before.lent is bool(resolved.lender)
        claim = TurnRequest(live.source.id, before.last_look_at or 0, on_request, steps, own=True)
        tier, source = self._readers[live.source.type], live.effective
        reading: fetching.BodyReading | None
        drafts: tuple[Draft, ...] = ()
        try:
            renewal = renewal_of(ports, resolved)
            if live.source.detection.pending:
                fetched, at, reading = await self._classify(claim, resolved, renewal)
                drafts = reading.drafts
                before, source = live.hot, live.effective
            else:
                known = before.validators if same and not self._skips_validators(before) else fetching.NO_VALIDATORS
                rendered = before.rendered and same
                fetched = await fetch_source(ports, claim, resolved, tier, renewal, validators=known, rendered=rendered)
                at = ports.world.now()
                with renewal.rejecting_unreadable():
                    reading, drafts = await self._read(source, fetched, at, steps, lent=bool(resolved.lender))
        except HostOpen as host:
            await self._postpone(host)
            return
        except (CheckFailed, UrlRefused) as error:
            await self._fail(before, fetching.as_failure(error), steps)
            return
        self._failure_timer.on_check()
        renewal.confirm()
        if reading is not None:
            await detection.save_title(ports, live, reading.title)
        lent, private = bool(resolved.lender), _is_private(ports, resolved.source, fetched)
        result = replace(_check_result(before, fetched, reading, at), lent=lent, private=private)
        after = progress.succeeded(before, result, self._limits, self._chance.random(), ports.pricing.price)
        reported, base = (drafts, None) if reading is None else (drafts, reading.base)
        if series.has_prices(reported):
            own, since = live.source, reading.watched_since if reading is not None else 0
            reported = await series.with_records(ports.storage.log, own.id, own.created_at, reported, since)
        after = replace(after, part=part_mark(source))
        drafted = Verdict.CHANGED if reading and reading.drafts else Verdict.NOTHING_TO_TELL
        verdict = Verdict.UNCHANGED if reading is None else drafted
        row = check_row(at, verdict, fetched.status, size=fetched.wire_bytes, ms=fetched.elapsed_ms)
        steps.looked(live.source, row, len(reported))
        self._count(row, rendered=fetched.rendered is not None)
        live.count(at, row.verdict, _body_mark(fetched, result))
        picture = screenshot_to_store(live.source, fetched, reading, reported, at)
        await self._save(_with_row(after, row), at, reported, base, picture=picture)
        if after.private_since and before.private_since is None:
            await _log_became_private(ports, live.source, after)
        self._remember_settings(source)

    def _skips_validators(self, before: SourceRuntime) -> bool:
        """Return whether to send no validators, once a day: some servers answer 304 for ever."""
        created, last = self._live.source.created_at, before.last_success_at or 0
        # A clock that was set back may be before the creation: that counts as the first day.
        return max(self._ports.world.now() - created, 0) // _DAY > max(last - created, 0) // _DAY

    async def _fail(self, before: SourceRuntime, failure: CheckFailed, steps: CheckSteps) -> None:
        live, ports = self._live, self._ports
        ports.world.log("look.failed", source_id=live.source.id, blame=failure.blame.value, why=failure.reason)
        now = ports.world.now()
        self._failure_timer.on_check(local=failure.blame is Blame.LOCAL)
        after = progress.failed(before, failure, now, self._limits, self._chance.random())
        row = check_row(now, Verdict[failure.blame.name], failure.status)
        steps.failed(live.source, failure, now)
        self._count(row, rendered=isinstance(failure, NotRendered) and failure.blame is not Blame.LOCAL)
        live.count(now, row.verdict)
        await self._save(_with_row(after, row), now, base=await self._with_failure_note(failure, now))

    async def _classify(
        self, claim: TurnRequest, resolved: ResolvedSource, renewal: Renewal
    ) -> tuple[FetchedResponse, Millis, fetching.BodyReading]:
        """Classify a source that has never answered, and read the same body for the baseline. After a crash in between,
        the classified source's next check is the first.
        """
        ports, live = self._ports, self._live
        borrowing = replace(live.source, headers=resolved.source.headers)
        found = await detection.classify_pending(ports, borrowing, claim, renewal)
        if found.fetched is None:
            await detection.store_classification(ports, live, found)
            raise NotPolled
        classified = replace(live.source, type=found.type, watch_url=found.watch_url, detection=found.detection)
        source = live.tags.of(classified)
        reader = self._readers[found.type]
        check = fetching.BodyCheck(source, b"", found.fetched, found.at)
        reading = await reader.first(ports.world.jail, check, found.feed)
        memory = (await ports.memory_of(source.id))._replace(tier=b"")
        await detection.store_classification(ports, live, found)
        base = stored_of(source, memory, reading, found.at, first=True).base
        reading = replace(reading, base=base, changed=False)
        return found.fetched, found.at, reading

    def _count(self, row: Row, *, rendered: bool) -> None:
        if self._live.source.practice is not None:
            return
        metrics, due = self._ports.world.metrics, self._live.hot.next_look_at
        metrics.looks.add(self._live.source.type, row.verdict.name.lower())
        if rendered:
            metrics.rendered_looks.add(row.verdict.name.lower())
        if due is not None and row.last_at >= due:  # else someone requested it earlier
            metrics.look_delay.observe((row.last_at - due) / 1000)

    async def _postpone(self, host: HostOpen) -> None:
        """Reschedule until the host has rested. No check counts, but the health shows an unreachable host."""
        hot, now = self._live.hot, self._ports.world.now()
        wait = (host.retry_after or 0.0) + self._limits.floor * self._chance.random()
        after = replace(hot, next_look_at=Millis(now + round(1000 * wait)), last_error=host.reason)
        if host.failing:
            self._failure_timer.on_check()
            after = progress.host_unreachable(after, now, host.reason)
        await self._save(after, now, checked=False)

    async def _save(
        self,
        after: SourceRuntime,
        at: Millis,
        drafts: tuple[Draft, ...] = (),
        base: bytes | None = None,
        *,
        checked: bool = True,
        picture: Picture | None = None,
    ) -> None:
        if self._live.source.detection.pending:
            after = detection.with_pending_health(after, at)
        health, notices = self._failure_timer.due_notices(self._live.hot.health, after.health, at)
        after, drafts = replace(after, health=health), (*notices, *drafts)
        if drafts or base is not None:
            self._item_pages.update(base)
            await self._send(replace(self._harvest(drafts, after, base), picture=picture), checked=checked)
        else:
            self._save_lazily(after)

    async def _send_notices(self, after: SourceRuntime, notices: tuple[Draft, ...]) -> None:
        due = self._live.hot.next_look_at
        await self._send(self._harvest(notices, after))
        self._live.hot = replace(self._live.hot, next_look_at=due)

    async def _read(
        self, source: Source, fetched: FetchedResponse, at: Millis, steps: CheckSteps, *, lent: bool
    ) -> tuple[fetching.BodyReading | None, tuple[Draft, ...]]:
        """Return a body's reading, its base ready to store (None: byte for byte as the last one), and the drafts to
        report at once: if the source follows, new items wait for their pages.
        """
        live, known = self._live, self._live.hot.validators.body_hash
        same, moved = live.hot.lent is lent, live.hot.part != part_mark(source)
        if fetched.status == 304 or (same and known is not None and known == body_hash(fetched)):
            return None, ()
        memory = await self._ports.memory_of(live.source.id)
        if (fetched.rendered is not None) is not live.hot.rendered or not same:
            memory = memory._replace(tier=b"")  # a page as sent, rendered, or signed in are different pages
        jail = steps.jail(self._ports.world.jail)
        reader, since, number = self._readers[source.type], live.hot.last_success_at, live.hot.looks + 1
        with steps.step("judge"):
            last, check = None, fetching.BodyCheck(source, memory.tier, fetched, at, since, number)
            if moved:  # two parts are different pages, and the old one may have changed before the edit
                if check.base and live.compared_as is not None and _page_of(live.compared_as) == _page_of(source):
                    with suppress(CheckFailed):  # the old part may be gone: only the new one counts
                        last = await reader.read(jail, check._replace(source=live.compared_as))
                memory, check = memory._replace(tier=b""), check._replace(base=b"")
            reading = await reader.read(jail, check)
            if last is not None and last.drafts:
                reading = replace(reading, drafts=last.drafts, changed=True, note=last.note)
        after = stored_of(source, memory, reading, at)
        return replace(reading, base=after.base), after.drafts

    async def _with_failure_note(self, failure: CheckFailed, now: Millis) -> bytes | None:
        """Return the base with a note on an unreadable body; None if there is nothing new to note."""
        if failure.blame is not Blame.CONTENT:
            return None
        memory = await self._ports.memory_of(self._live.source.id)
        return new_memory(memory, None, Note(now, "failed", failure.reason, self._live.hot.last_success_at))

    def _save_lazily(self, hot: SourceRuntime) -> None:
        """Keep a state without a harvest: in memory, and in the next commit if it must not be lost."""
        urgent = progress.is_urgent(self._live.hot, hot)
        self._live.hot, self._live.unsaved = hot, True
        if urgent:
            with suppress(MailboxFull):  # the sweep saves it
                self._ports.recorder.send_nowait(SaveStates((self._live.state_to_save(),)))

    def _harvest(self, drafts: tuple[Draft, ...], after: SourceRuntime, base: bytes | None = None) -> Harvest:
        live, version = self._live, new_version(self._ports.world)
        after = replace(after, tally=live.tally, cookies=live.cookies.text)
        return Harvest(live.source.id, drafts, SourceState(live.source.id, after, base, live.version, version))

    async def _send(self, harvest: Harvest, *, checked: bool = False) -> None:
        """Commit a harvest; if that is refused or unanswered, read the truth from storage."""
        live, state = self._live, harvest.state
        assert state is not None
        self._live.unsaved = False  # else a sweep would save the older state after this one
        try:
            await self._ports.recorder.ask(lambda reply: Record(harvest, reply, checked))
        except (Unanswered, StorageError) as error:
            self._ports.world.log("harvest.unacknowledged", source_id=harvest.source, error=str(error))
            await self._reload()
        else:
            live.hot, live.version = state.hot, state.version
            live.mark_stored(state.hot)

    async def _reload(self) -> None:
        live, stored = self._live, await self._ports.storage.sources.get(self._live.source.id)
        if stored is not None and stored.version != live.version:
            live.hot, live.version = progress.newer(live.hot, stored.hot), stored.version
        live.hot, live.unsaved = replace(live.hot, next_look_at=self._retry_time()), True
        self._item_pages.reload_soon()


def body_hash(fetched: FetchedResponse) -> str:
    return hashlib.blake2b(fetched.body, digest_size=12).hexdigest()


def _body_mark(fetched: FetchedResponse, result: CheckResult) -> bytes:
    return b"" if fetched.status == 304 else bytes.fromhex((result.validators.body_hash or body_hash(fetched))[:8])


def _with_row(hot: SourceRuntime, row: Row) -> SourceRuntime:
    return replace(hot, trail=add_row(hot.trail, row))


def _check_result(
    before: SourceRuntime, fetched: FetchedResponse, reading: fetching.BodyReading | None, at: Millis
) -> CheckResult:
    if reading is None:
        known, rendered = before.validators, fetched.rendered is not None
        validators = validators_of(fetched, unreliable=known.lies)
        if fetched.status == 304:
            validators, rendered = revalidated(known, fetched), before.rendered
        return CheckResult(at, fetched.status, validators, changed=False, remark=None, rendered=rendered)
    after, known = validators_of(fetched), before.validators
    named = known.etag, known.last_modified
    same = any(named) and (after.etag, after.last_modified) == named
    unreliable = known.lies or bool(same and reading.changed)
    validators = validators_of(fetched, unreliable=unreliable)
    if reading.again_soon or reading.unsettled:  # read the page again to settle a doubt, even if it stays the same
        validators = Validators(lies=unreliable)
    events, rendered = sum(draft.alert_type is None for draft in reading.drafts), fetched.rendered is not None
    own = {"status": fetched.status, "validators": validators, "events": events, "rendered": rendered}
    return made_of(CheckResult, reading, at=at, **own)


def validators_of(fetched: FetchedResponse, *, unreliable: bool = False) -> Validators:
    validators = (None, None) if unreliable else (fetched.etag, fetched.last_modified)
    return Validators(*validators, body_hash(fetched), fetched.url, unreliable)


def revalidated(validators: Validators, fetched: FetchedResponse) -> Validators:
    """Return the validators after a 304, whose headers are newer than the body's (RFC 9111, 4.3.4)."""
    etag, last_modified = fetched.etag or validators.etag, fetched.last_modified or validators.last_modified
    return replace(validators, etag=etag, last_modified=last_modified)


def _is_private(ports: Ports, source: Source, fetched: FetchedResponse) -> bool:
    urls, is_internal = (source.watch_url, fetched.url), ports.egress.hosts.is_internal
    return source.headers is not None or any(is_internal(parse_url(url).host) for url in urls)


async def _log_became_private(ports: Ports, source: Source, hot: SourceRuntime) -> None:
    removed: dict[str, list[str]] = {}
    with suppress(StorageError):  # then the line names none
        alerts = await ports.storage.alerts.all()
        publications = await ports.storage.publications.all()
        removed["publications"] = [each.id for each in publications if each.has_left(source, hot, alerts)]
        removed["alerts"] = [each.id for each in alerts if each.has_left(source, hot)]
    ports.world.log("source.became_private", level="warning", source_id=source.id, **removed)


def first_state(
    fetched: FetchedResponse, reading: fetching.BodyReading, at: Millis, ports: Ports, live: LiveSource
) -> SourceState:
    resolved = ports.lenders.resolve(live)
    limits = limits_of(live.effective, ports.settings)
    draw = ports.world.chance(f"source/{live.source.id}/first").random()
    lent, private = bool(resolved.lender), _is_private(ports, resolved.source, fetched)
    reading = replace(reading, changed=False)
    result = replace(_check_result(live.hot, fetched, reading, at), lent=lent, private=private)
    live.count(at, Verdict.UNCHANGED, _body_mark(fetched, result))
    hot = progress.succeeded(live.hot, result, limits, draw, ports.pricing.price)
    hot = replace(hot, part=part_mark(live.effective))
    base = stored_of(live.source, StoredMemory(b""), reading, at, first=True).base
    return SourceState(live.source.id, hot, base, live.version, new_version(ports.world))
