"""The hops of one source that follows: the next page and its time, and the commit after it.

A hop reads the waiting items from storage and commits its event with the memory that no longer has the item waiting,
so a crash neither loses nor repeats it. Hops share the source's breaker: while it is open, or the source is down, none
is made. A page's failure does not count against the source.

An item's own page is fetched politely and read in the jail, and becomes the text of its event.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.content.messages.requests import ItemPage, ListLook, ListRequest, PageRequest
from actors.content.values.kinds import values_of_entry
from actors.egress.failures import Blame, CheckFailed
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse
from actors.errors import UrlRefused
from actors.observer import CheckSteps
from actors.sources import following as items
from actors.sources.checks.access import SIGNED_OUT_STATUSES, access_of, asks_password, renewal_of
from actors.sources.checks.body_reader import BodyReading, feed_deadline, in_jail, page_deadline
from actors.sources.checks.fetch import as_failure, fetch
from actors.sources.following import FollowQueue, WaitingItem, drafts_of, note_of, other_hosts_text
from actors.sources.ports import LiveSource, Ports
from storage.records import trail
from storage.records.event import Draft
from storage.records.identity import Millis
from storage.records.source import Source
from storage.records.trail import Note, Part, StoredMemory

_START: Final = 60.0
"""Seconds until a source reads its waiting items after a restart, at most."""
_REST: Final = 60.0
"""Seconds between attempts while the service is drained or our uplink is down."""
_PERMANENT: Final = frozenset({Blame.REMOTE_PERMANENT, Blame.CONTENT})
Commit = Callable[[tuple[Draft, ...], bytes, int], Awaitable[None]]


class StoredReading(Struct, frozen=True):
    """Drafts to report at once, and the base to store (None: unchanged)."""

    drafts: tuple[Draft, ...]
    base: bytes | None


def stored_of(
    source: Source, memory: StoredMemory, reading: BodyReading, at: Millis, *, first: bool = False
) -> StoredReading:
    """Return a reading in stored form: if the source follows, items wait for their pages, save a first backfill."""
    queue = items.decode(memory.waiting)
    result = items.enqueue(queue, source, () if first else reading.drafts, at, reading.files)
    drafts = reading.drafts if first else result.drafts
    waiting = None if result.queue == queue else items.encode(result.queue)
    note = reading.note
    if note is not None and not first:
        note = replace(note, reason=note.reason + other_hosts_text(result.other_hosts, result.skipped_hosts))
    return StoredReading(drafts, trail.after(memory, reading.base, note, waiting))


class ItemPages:
    """The time and execution of a next page fetch of an item. `at` None: no known item waits."""

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
            self.at = self._due(items.decode(trail.opened(base).waiting))

    def reload_soon(self) -> None:
        """Read storage soon: it is unknown whether the last harvest was committed."""
        self.at = self._in(1.0) if self._live.source.follow != "none" else None

    async def fetch_next(self) -> None:
        stored, now = await self._ports.storage.sources.get(self._live.source.id), self._ports.world.now()
        memory = trail.opened(stored.base if stored is not None else b"")
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
            failure = as_failure(error)
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
        base = trail.after(memory, tier, note, items.encode(after))
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
        await self._send(drafts, trail.after(memory, memory.tier, note, items.encode(queue)), 0)

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
    deadline = page_deadline(ports.settings.parse_deadline, fetched.body)
    with steps.step("read"):
        page = await in_jail(ports.world.jail, "read_item", request, ItemPage, deadline=deadline)
    if page.trouble is not None:
        raise CheckFailed(Blame.REMOTE_PERMANENT, f"not the page itself: {page.trouble}", status=fetched.status)
    return _completed(item.draft, page, ports)


async def _read_sitemap(ports: Ports, item: WaitingItem, memory: bytes, body: bytes) -> ListLook:
    request = ListRequest(body, "", item.file, memory=memory, file=item.file)
    deadline = feed_deadline(ports.settings.parse_deadline, body)
    return await in_jail(ports.world.jail, "look_list", request, ListLook, deadline=deadline)


async def _fetch(ports: Ports, live: LiveSource, one: WaitingItem, accept: str, steps: CheckSteps) -> FetchedResponse:
    """Fetch a page in the host's turn, with the user's access to its own origin; never posts."""
    claim = TurnRequest(live.source.id, live.hot.last_look_at or 0, steps=steps, own=True)
    resolved = ports.lenders.resolve(live)
    renewal = renewal_of(ports, resolved)
    access = access_of(resolved.source, renewal.current)._replace(body=None)
    try:
        fetched = await fetch(ports, claim, one.url, accept=accept, robots=True, access=access, renewal=renewal)
    except CheckFailed as failure:
        if failure.status in SIGNED_OUT_STATUSES:
            renewal.reject()
        raise
    if access.headers and not resolved.source.detection.asks_password and asks_password(fetched.body):
        renewal.reject()
    else:
        renewal.confirm()
    return fetched


def _completed(draft: Draft, page: ItemPage, ports: Ports) -> Draft:
    """Return a draft completed from its page. Longer text and other details from the list or feed win."""
    title = draft.title or page.title
    completed = replace(
        draft,
        title=title,
        author=draft.author or page.author,
        published_at=draft.published_at if draft.published_at is not None else page.published_at,
        fetched_at=ports.world.now(),
    )
    if len(page.content) <= len(draft.content):
        return completed
    return replace(
        completed,
        content=page.content,
        content_truncated=page.truncated,
        content_hash=page.content_hash,
        simhash=page.simhash,
        changes=values_of_entry(title, page.content),
    )
