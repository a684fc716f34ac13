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
from actors.egress.failures import Blame, LookFailed
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse
from actors.errors import UrlRefused
from actors.observer import CheckSteps
from actors.sources import following as items
from actors.sources.checks.access import SIGNED_OUT_STATUSES, access_of, asks_password, renewal_of
from actors.sources.checks.body_reader import BodyReading, feed_deadline, in_jail, page_deadline
from actors.sources.checks.fetch import fetch, refusal
from actors.sources.following import FollowQueue, WaitingItem, drafts_of, in_words, note_of
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
_FOR_GOOD: Final = frozenset({Blame.REMOTE_PERMANENT, Blame.CONTENT})
Commit = Callable[[tuple[Draft, ...], bytes, int], Awaitable[None]]


class HopResult(Struct, frozen=True):
    """Drafts to report at once, and the base to store (None: unchanged)."""

    told: tuple[Draft, ...]
    base: bytes | None


def stored_of(
    source: Source, kept: StoredMemory, reading: BodyReading, at: Millis, *, first: bool = False
) -> HopResult:
    """Return a reading in stored form: if the source follows, new items wait for their pages.

    first: the first check, whose backfill uses the feed's entries as they are.
    """
    before = items.unpacked(kept.waiting)
    found = items.found(before, source, () if first else reading.drafts, at, reading.files)
    told = reading.drafts if first else found.told
    waiting = None if found.following == before else items.packed(found.following)
    said = reading.note
    if said is not None and not first:
        said = replace(said, reason=said.reason + in_words(found.elsewhere, found.left))
    return HopResult(told, trail.after(kept, reading.base, said, waiting))


class Hops:
    """The time and execution of a source's next hop. `at` None: no known item waits."""

    __slots__ = ("_commit", "_live", "_ports", "at")

    def __init__(self, ports: Ports, live: LiveSource, draw: float, commit: Commit) -> None:
        self._ports, self._live, self._commit = ports, live, commit
        follows = live.source.follow != "none"
        self.at = self._in(_START * draw) if follows else None

    def is_due(self, now: Millis) -> bool:
        hot = self._live.hot
        return self.at is not None and self.at <= now and hot.breaker.state == "closed" and not hot.breaker.failures

    def rest(self) -> None:
        self.at = self._in(_REST)

    def know(self, base: bytes | None) -> None:
        """Take the stored base; None: unchanged."""
        if base is not None and self._live.source.follow != "none":
            self.at = self._due(items.unpacked(trail.opened(base).waiting))

    def ask_soon(self) -> None:
        """Read storage soon: it is unknown whether the last harvest was committed."""
        self.at = self._in(1.0) if self._live.source.follow != "none" else None

    async def make(self) -> None:
        stored, now = await self._ports.storage.sources.get(self._live.source.id), self._ports.world.now()
        kept = trail.opened(stored.base if stored is not None else b"")
        following = items.unpacked(kept.waiting)
        one = items.next_of(following, now)
        due = self._due(following)
        if one is None or due is None or due > now:
            self.at = due
            return
        if wait := self._ports.item_page_budget.take(trio.current_time()):
            self.at = self._in(wait)
            return
        spent = items.spent(following, now)
        steps = self._ports.world.observer.steps(self._live.source.id, "hop")
        try:
            if one.file:
                fetched = await _fetched(self._ports, self._live, one, _FILE, steps)
                look = await _read_file(self._ports, one, kept.tier, fetched.body)
                steps.hopped(self._live.source, one.url, self._ports.world.now())
                await self._after_file(kept, spent, one, look)
            else:
                draft = await page_of(self._ports, self._live, one, steps)
                steps.hopped(self._live.source, one.url, draft.fetched_at)
                await self._done((draft,), kept, items.without(spent, one))
        except (LookFailed, UrlRefused) as error:
            failure = error if isinstance(error, LookFailed) else refusal(error)
            steps.hopped(self._live.source, one.url, self._ports.world.now(), failure)
            await self._failed(kept, spent, one, failure)
        finally:
            steps.end()

    async def _after_file(self, kept: StoredMemory, following: FollowQueue, one: WaitingItem, look: ListLook) -> None:
        source, now = self._live.source, self._ports.world.now()
        found = items.found(items.without(following, one), source, drafts_of(source, look, now), now)
        after = items.with_turn(found.following, look.next_file, now)
        tier = kept.tier if look.memory is None else look.memory
        said = note_of(look, now, None) if look.new or look.bulk else None
        base = trail.after(kept, tier, said, items.packed(after))
        await self._send(found.told, base, len(look.new))

    async def _failed(self, kept: StoredMemory, following: FollowQueue, one: WaitingItem, failure: LookFailed) -> None:
        """Retry later, or report the item without its page. Only the page's own failures count as attempts."""
        now, for_good = self._ports.world.now(), failure.blame in _FOR_GOOD
        why = f"Its page could not be read: {failure.reason}"
        self._ports.world.log("hop.failed", source_id=self._live.source.id, url=one.url, why=failure.reason)
        if one.file and for_good:
            # A file that is permanently unavailable counts as read.
            await self._after_file(kept, following, one, await _read_file(self._ports, one, kept.tier, b""))
        elif (
            failure.blame is Blame.THROTTLED
            and items.is_elsewhere(self._live.source, one)
            and not items.is_late(one, now)
        ):
            await self._done((), kept, items.rested(following, one, now, max(failure.hold, 1.0)))
        elif failure.blame in (Blame.THROTTLED, Blame.LOCAL) and not items.is_late(one, now):
            self.at = self._in(max(failure.hold, 1.0))
        elif one.file or not items.gives_up(one, now, for_good=for_good):
            await self._done((), kept, items.tried(following, one, now))
        else:
            assert one.draft is not None, "else it is a file"
            draft = replace(one.draft, unread=why)
            part = Part(draft.title or draft.url, "reported without the text of its page", draft.url, told=True)
            said = Note(now, "told", f"{why}. The item was reported as in its list.", parts=(part,))
            await self._done((draft,), kept, items.without(following, one), said)

    async def _done(
        self, drafts: tuple[Draft, ...], kept: StoredMemory, after: FollowQueue, said: Note | None = None
    ) -> None:
        await self._send(drafts, trail.after(kept, kept.tier, said, items.packed(after)), 0)

    async def _send(self, drafts: tuple[Draft, ...], base: bytes | None, found: int) -> None:
        assert base is not None, "a hop always changes what waits"
        self.know(base)
        await self._commit(drafts, base, found)

    def _due(self, following: FollowQueue) -> Millis | None:
        return items.due_at(following, self._ports.settings.follow_per_hour)

    def _in(self, seconds: float) -> Millis:
        return Millis(self._ports.world.now() + round(1000 * seconds))


_PAGE = "text/html, application/xhtml+xml, */*;q=0.5"
_FILE = "application/xml, text/xml, application/gzip;q=0.9, */*;q=0.5"


async def page_of(ports: Ports, live: LiveSource, one: WaitingItem, steps: CheckSteps) -> Draft:
    """Return the draft of an item with the text of its page. Raises LookFailed, UrlRefused."""
    assert one.draft is not None
    fetched = await _fetched(ports, live, one, _PAGE, steps)
    request = PageRequest(fetched.body, fetched.content_type, fetched.url)
    deadline = page_deadline(ports.settings.parse_deadline, fetched.body)
    with steps.step("read"):
        page = await in_jail(ports.world.jail, "read_item", request, ItemPage, deadline=deadline)
    if page.trouble is not None:
        raise LookFailed(Blame.REMOTE_PERMANENT, f"not the page itself: {page.trouble}", status=fetched.status)
    return _told(one.draft, page, ports)


async def _read_file(ports: Ports, one: WaitingItem, memory: bytes, body: bytes) -> ListLook:
    request = ListRequest(body, "", one.file, memory=memory, file=one.file)
    deadline = feed_deadline(ports.settings.parse_deadline, body)
    return await in_jail(ports.world.jail, "look_list", request, ListLook, deadline=deadline)


async def _fetched(ports: Ports, live: LiveSource, one: WaitingItem, accept: str, steps: CheckSteps) -> FetchedResponse:
    """Fetch a page in the host's turn, with the user's access to its own origin; never posts."""
    claim = TurnRequest(live.source.id, live.hot.last_look_at or 0, steps=steps, own=True)
    seen = ports.lenders.resolve(live)
    renewal = renewal_of(ports, seen)
    access = access_of(seen.source, renewal.current)._replace(body=None)
    try:
        fetched = await fetch(ports, claim, one.url, accept=accept, robots=True, access=access, renewal=renewal)
    except LookFailed as failure:
        if failure.status in SIGNED_OUT_STATUSES:
            renewal.reject()
        raise
    if access.headers and not seen.source.detection.asks_password and asks_password(fetched.body):
        renewal.reject()
    else:
        renewal.confirm()
    return fetched


def _told(draft: Draft, page: ItemPage, ports: Ports) -> Draft:
    """Return a draft completed from its page. Longer text and other details from the list or feed win."""
    title = draft.title or page.title
    after = replace(
        draft,
        title=title,
        author=draft.author or page.author,
        published_at=draft.published_at if draft.published_at is not None else page.published_at,
        fetched_at=ports.world.now(),
    )
    if len(page.content) <= len(draft.content):
        return after
    return replace(
        after,
        content=page.content,
        content_truncated=page.truncated,
        content_hash=page.content_hash,
        simhash=page.simhash,
        changes=values_of_entry(title, page.content),
    )
