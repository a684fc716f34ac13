"""The newest events of publications, cached, so that a poll without new events does not read the log.

The ring of the newest events extends the cache. The log is read at first, if the ring does not reach back far enough,
if the publication, alerts or sources have changed, and once an hour because of retention.

A publication's events as a feed, for readers and for the hub.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar
from zlib import crc32

import msgspec
import trio

from actors.sources.ordering import KeyedLocks
from actors.world import World
from api.nouns.context import OperationContext
from api.nouns.events import END, TimeWindow, find
from api.streams.reader import EventFilter
from extras.publish import operations as acts
from extras.publish.formats import FORMATS, DeletedEntry, FeedPage, entry_of
from storage.records.event import Stored, id_in
from storage.records.identity import START, Seq, id_of, millis_of, rfc3339
from storage.records.publication import Publication, Retraction
from storage.records.revision import revision_of
from storage.sql.stores.publications import Published

MOST = 50  # events per page
MOST_BYTES = 1 << 20  # bytes of events per page, but at least one event
KEPT = 32 << 20  # bytes of cached events for all publications
LIFE = 3_600.0  # seconds until a cached page is read again


class PublishedPage(NamedTuple):
    """Events, newest first, and their retractions. older: where the next page ends, None on the last."""

    events: Sequence[Stored]
    retracted: Sequence[Retraction]
    older: Seq | None


class NewestPage(NamedTuple):
    """The newest page of a publication, and a tag that names it while it is unchanged."""

    page: PublishedPage
    tag: str


class _CachedEvents:
    """A publication's cached events, newest first. The log is covered up to `upto`."""

    def __init__(self, publication: Publication, changes: tuple[int, int], passing: EventFilter, upto: Seq) -> None:
        self.publication, self.changes = publication, changes
        self.passing, self.upto = passing, upto
        self.made_at = trio.current_time()
        self.events: list[Stored] = []
        self.older: Seq | None = None
        self.retractions = -1
        self.newest: NewestPage | None = None
        self.hidden = 0

    def holds(self, publication: Publication, changes: tuple[int, int]) -> bool:
        same = self.publication == publication and self.changes == changes
        return same and trio.current_time() < self.made_at + LIFE

    def size(self) -> int:
        return sum(len(event.body) for event in self.events)


class NewestEvents:
    """The cache of all publications. The least recently used goes first."""

    def __init__(self, call: OperationContext) -> None:
        self._call = call
        self._kept: OrderedDict[str, _CachedEvents] = OrderedDict()
        self._locks = KeyedLocks()

    async def of(self, published: Published) -> NewestPage:
        """Return the newest page of a publication. Raises NotFound, Overloaded, StorageError."""
        publication = published.publication
        async with self._locks.hold(publication.id):
            kept = await self._level(publication)
            # Events of sources that have become private disappear at once.
            shown = [one for one in kept.events if not acts.is_left_out(self._call, publication, one.source)]
            hidden = len(kept.events) - len(shown)
            if kept.newest is None or (kept.retractions, kept.hidden) != (published.retractions, hidden):
                page = await self._page(shown, kept.older)
                head = id_in(shown[0].body) if shown else "none"
                mark = crc32(repr([event.seq for event in shown]).encode())
                tag = f"{head}-{mark:x}-{revision_of(publication)}-{published.retractions}"
                kept.newest, kept.retractions, kept.hidden = NewestPage(page, tag), published.retractions, hidden
            return kept.newest

    async def before(self, publication: Publication, place: Seq, only: Sequence[str] = ()) -> PublishedPage:
        """Raises as `of`."""
        passing = await acts.filter_of(self._call, publication, only)
        found = await find(self._call.context.storage.log, TimeWindow(START, place), passing, MOST, newest_first=True)
        return await self._page(found.events, found.next)

    async def after(self, publication: Publication, place: Seq) -> tuple[PublishedPage, Seq | None]:
        """Return the page after a position, and where it ends (None: now). Raises as `of`."""
        passing = await acts.filter_of(self._call, publication)
        found = await find(self._call.context.storage.log, TimeWindow(place, END), passing, MOST, newest_first=False)
        return await self._page(found.events[::-1], None), found.next

    async def shows(self, publication: Publication, event: Stored) -> bool:
        """Return whether an event is published. Raises NotFound, Overloaded."""
        passing = await acts.filter_of(self._call, publication)
        if not await passing.admits(event):
            return False
        return not await self._retracted(event.seq, event.seq)

    async def _level(self, publication: Publication) -> _CachedEvents:
        """Return a publication's cache, level with the log."""
        context = self._call.context
        changes, tail = (context.alert_changes(), context.source_changes()), context.storage.tail
        kept = self._kept.get(publication.id)
        recent = None if kept is None or not kept.holds(publication, changes) else tail.since(kept.upto)
        if kept is None or recent is None:
            kept = await self._read(publication, changes)
        elif recent:
            await self._extend(kept, [each.stored for each in recent])
        self._kept[publication.id] = kept  # it may have left the cache by now
        self._kept.move_to_end(publication.id)
        while len(self._kept) > 1 and sum(each.size() for each in self._kept.values()) > KEPT:
            self._kept.popitem(last=False)
        return kept

    async def _read(self, publication: Publication, changes: tuple[int, int]) -> _CachedEvents:
        passing = await acts.filter_of(self._call, publication)
        storage = self._call.context.storage
        kept = _CachedEvents(publication, changes, passing, storage.tail.head)
        window = TimeWindow(START, Seq(kept.upto + 1) if kept.upto < END else END)
        found = await find(storage.log, window, passing, MOST, newest_first=True)
        kept.events, kept.older = list(found.events), found.next
        return kept

    async def _extend(self, kept: _CachedEvents, events: Sequence[Stored]) -> None:
        """Add new events, a portion at a time. If cancelled between two, the next poll continues."""
        left = list(events)
        while left:
            some = left[: max(1, kept.passing.portion(left))]
            within = [event for event in some if kept.passing.where.admits(event)]
            passed = [event for event, passes in zip(within, await kept.passing.sift(within), strict=True) if passes]
            if passed:
                kept.events[:0] = reversed(passed)
                kept.newest = None
                _cut(kept)
            kept.upto = some[-1].seq
            del left[: len(some)]

    async def _page(self, events: Sequence[Stored], older: Seq | None) -> PublishedPage:
        if not events:
            return PublishedPage((), (), older)
        gone = await self._retracted(events[-1].seq, events[0].seq)
        named = {each.seq for each in gone}
        shown = [event for event in events if event.seq not in named]
        there = {event.seq for event in events}
        return PublishedPage(shown, [each for each in gone if each.seq in there], older)

    async def _retracted(self, first: Seq, last: Seq) -> Sequence[Retraction]:
        return await self._call.context.storage.publications.retracted(Seq(first - 1), Seq(min(last + 1, END)), 10_000)


def _cut(kept: _CachedEvents) -> None:
    size = 0
    for count, event in enumerate(kept.events):
        size += len(event.body)
        if count == MOST or (count and size > MOST_BYTES):
            kept.older = kept.events[count - 1].seq
            del kept.events[count:]
            return


T = TypeVar("T")


class FeedPlace(NamedTuple):
    """base: the publication's page. hub: its address. ending: of `FORMATS`. query: "" for the newest document."""

    base: str
    hub: str
    ending: str
    query: str = ""


async def feed_of(world: World, publication: Publication, page: PublishedPage, place: FeedPlace) -> bytes:
    base, hub, ending, query = place
    first = f"{base}.{ending}"
    feed = FeedPage(
        id=publication.id,
        title=publication.title,
        page=base,
        here=first + query,
        first=first,
        older="" if page.older is None else first + query_of(page.older),
        hub=hub,
        updated=_updated(publication, page),
        entries=await told(world, page, lambda event: entry_of(id_in(event.body), event.body)),
        deleted=[DeletedEntry(each.id, rfc3339(each.at)) for each in page.retracted],
    )
    return FORMATS[ending].write(feed)


async def told(world: World, page: PublishedPage, tell: Callable[[Stored], T]) -> list[T]:
    """Apply `tell` to each event. Skip unreadable ones and log them."""
    found = []
    for event in page.events:
        try:
            found.append(tell(event))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            world.log("published.unreadable", seq=event.seq, error=str(error)[:200])
        await trio.lowlevel.checkpoint()
    return found


def query_of(place: Seq) -> str:
    return f"?before={id_of(place, 0)}"


def _updated(publication: Publication, page: PublishedPage) -> str:
    """Return when a page last changed: by an event, a retraction, or an edit of the publication."""
    moments = [publication.updated_at, *(each.at for each in page.retracted)]
    return rfc3339(max(*moments, *(millis_of(event.seq) for event in page.events[:1])) if page.events else max(moments))
