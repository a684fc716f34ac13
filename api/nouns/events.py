"""Past events: one by its id, a window of the log page by page, or one file; and the pictures around an event.

History, export and replay share it. Readers of a window must check the log's floor *after* each read: retention runs
concurrently, and deleted events must never look like a quiet period. A page concatenates stored bodies. Only filters
decode events, and an event verifies here as it does on a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple

import trio
from msgspec import Struct

from actors.messages.declaring import Time
from actors.query import Query, QueryError, parse
from api.fields.queries import EventsQuery, ExportQuery
from api.nouns.context import OperationContext, as_id, existing
from api.pagination import decode_cursor, encode_cursor, next_link
from api.problems import Refusal, invalid
from api.route import Answer, Call, Routes
from api.streams.channels import Channel
from api.streams.export import MEDIA, Export
from api.streams.reader import EventFilter, Texts
from storage.records.access import Holder
from storage.records.event import Event, Filter, KeptPicture, Picture, Side, Stored
from storage.records.identity import START, Millis, Seq, id_of, millis_of, parse_rfc3339, rfc3339, seq_at, seq_of
from storage.records.source import tag_of
from storage.records.tiers import TIERS, WATCHED, Kind
from storage.sql.stores.log import EventLog

MOST_VALUES = 50


def event_filter_of(
    source: Sequence[str],
    source_type: Sequence[str],
    tag: Sequence[str],
    keyword: Sequence[str],
    texts: Texts,
    *,
    languages: Sequence[str] = (),
    kinds: Sequence[int] = (),
    channel: Channel | None = None,
    label: str | None = None,
    heartbeats: bool = False,
    hides: Callable[[str], bool] | None = None,
) -> EventFilter:
    """Build the event filter. Raises Refusal (400) for invalid input. A bare word as tag is a label.

    languages: of the keywords. kinds, channel: restrict to a channel, of the service or of alerts. label: restrict to
    events with this tag, in addition to the rest. heartbeats: always let them through. hides: sources to leave out.
    """
    whole, prefixes = _sources(source)
    for name in source_type:
        if name not in TIERS:
            raise invalid("query.source_type", f"must be one of {', '.join(TIERS)}", name)
    tiers = dict.fromkeys(source_type)
    # A notice has its source's tier, which the log's kind does not show: read it from the event.
    asked = [kind for name, tier in TIERS.items() if name in tiers for kind in tier.kinds]
    asked += [Kind.NOTICE] if tiers else []
    both = [kind for kind in asked if kind in kinds] if kinds and asked else asked or list(kinds)
    nothing = bool(kinds and asked and not both)
    asked_tags = tuple(map(tag_of, tag))
    tags, more = (asked_tags, ()) if label is None else ((label,), asked_tags)  # the log's own filter has one set
    also = (Kind.HEARTBEAT,) if heartbeats else ()
    where = Filter(whole, prefixes, (-1,) if nothing else tuple(both), tags, also)
    queries = [query for word in keyword for query in _queries(word, languages)]
    return EventFilter(where, tuple(tiers), queries, texts, channel, tags=more, hides=hides)


def _sources(values: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    whole, prefixes = [], []
    for index, value in enumerate(values):
        if value.endswith(".*"):
            prefixes.append(value[:-2].lower())
        else:
            whole.append(as_id(value, f"query.source[{index}]", "not a source id, nor a prefix that ends in .*"))
    return tuple(whole), tuple(prefixes)


def _queries(word: str, languages: Sequence[str]) -> list[Query]:
    term = word if any(sign in word for sign in '"*') else f'"{word}"'
    try:
        return [parse(term, language) for language in languages]
    except QueryError as error:
        raise invalid("query.keyword", f"{error.reason} (at character {error.position})", word) from None


AT_ONCE = 200  # events per read of the log
FEWEST = 16  # events in the first read, and while events are long
ROUNDS = 25  # Reads of the log per answer. A rare filter continues with the next page's cursor.
MOST_BYTES = 1 << 20  # bytes of events per page, regardless of its limit; at least one event
MOST_TEXT = 4 << 20  # bytes of events whose text one answer searches
WITHIN = 2.0  # seconds after which an answer stops searching
END = Seq((1 << 63) - 1)
_LONGEST_VALUE = 500
Wanted = EventsQuery | ExportQuery
EARLIEST = "earliest"  # the start of the log, as a word in place of an id or time
_NOT_BOUND = ("from", "cursor", "limit")
"""Parameters outside a cursor's checksum. The cursor itself holds the window's start, so it also works as `from`."""


class TimeWindow(NamedTuple):
    """Positions after `after` and before `before`."""

    after: Seq
    before: Seq


class EventCursor(NamedTuple):
    """A cursor's content: the place where its page ended, and the start of its window (-1: the start of the log)."""

    place: int
    after: int


class PastRequest(NamedTuple):
    """A parsed request. began: it named a start. place: the end of the previous page, None for the first page."""

    window: TimeWindow
    began: bool
    place: int | None


class FoundEvents(NamedTuple):
    """Events in the requested order, and the position to continue from (None: the window is exhausted)."""

    events: Sequence[Stored]
    next: Seq | None


def position(text: str, where: str) -> Seq:
    """Return the position of an event id, or the first one of a time. Raises Refusal (400)."""
    with suppress(ValueError):  # no event id: a time
        return seq_of(text)
    try:
        return seq_at(parse_rfc3339(text.replace(" ", "+")))  # a plus sign that was not percent-encoded
    except ValueError:
        raise invalid(where, "neither an RFC 3339 time with an offset nor an event id", text) from None


def page_request_of(query: EventsQuery, target: str) -> PastRequest:
    """Return the window of a page request and the place in it. Raises Refusal (400)."""
    place = None
    try:
        after = _after(query.start)
    except Refusal:
        mark = _mark(query.start or "", target)
        if mark is None:
            says = "neither an RFC 3339 time with an offset nor an event id, nor a next_cursor of these parameters"
            raise invalid("query.from", says, query.start) from None
        after, place = (None if mark.after < 0 else Seq(mark.after)), mark.place
    if query.cursor is not None:
        mark = _mark(query.cursor, target)
        if mark is None or mark.after != (-1 if after is None else after):
            raise invalid("query.cursor", "not a cursor of this list with these parameters", query.cursor)
        place = mark.place
    return PastRequest(_window(after, query), after is not None, place)


def lead_on(asked: PastRequest, position: Seq | None, target: str) -> str | None:
    """Return the cursor that continues from a position, or None at the window's end."""
    if position is None:
        return None
    mark = EventCursor(position, asked.window.after if asked.began else -1)
    return encode_cursor(mark, target, _NOT_BOUND)


def _after(start: str | None) -> Seq | None:
    """Return the position before a window's start; None for the start of the log. Raises Refusal (400)."""
    if start is None or start == EARLIEST:
        return None
    found = position(start, "query.from")
    return found if names_event(start) else Seq(max(0, found - 1))


def _window(after: Seq | None, query: Wanted) -> TimeWindow:
    start = START if after is None else after
    end = END if query.to is None else position(query.to, "query.to")
    if end < start:
        raise invalid("query.to", "is before query.from", query.to)
    return TimeWindow(start, end)


def _mark(text: str, target: str) -> EventCursor | None:
    with suppress(Refusal):
        return decode_cursor(text, EventCursor, target, _NOT_BOUND)
    return None


def names_event(text: str) -> bool:
    with suppress(ValueError):
        return seq_of(text) is not None
    return False


async def event_filter_for(call: OperationContext, query: Wanted, kinds: Sequence[int] = ()) -> EventFilter:
    """Return the filter of a query, whose lists accept commas. kinds: () allows all. Raises Refusal (400)."""
    names = ("source", "source_type", "tag", "keyword")
    sources, types, tags, words = (_split(getattr(query, name), name) for name in names)
    hides = None if query.private or sources else call.context.is_private
    languages, texts = await call.streams.languages() if query.keyword else (), call.streams.texts
    more: dict[str, Any] = {"kinds": kinds, "heartbeats": query.heartbeats, "hides": hides}
    return event_filter_of(sources, types, tags, words, texts, languages=languages, **more)


def _split(values: Sequence[str], name: str) -> tuple[str, ...]:
    parts = tuple(part for value in values for part in value.split(",") if part)
    if len(parts) > MOST_VALUES:
        raise invalid(f"query.{name}", f"at most {MOST_VALUES} values")
    if values and not parts:
        raise invalid(f"query.{name}", "no value between the commas", values[0])
    for part in parts:
        if len(part) > _LONGEST_VALUE:
            raise invalid(f"query.{name}", f"a value has at most {_LONGEST_VALUE} characters", part)
    return parts


async def find(
    log: EventLog, window: TimeWindow, passing: EventFilter, limit: int, *, newest_first: bool
) -> FoundEvents:
    """Return at most `limit` passing events of a window, after at most ROUNDS reads.

    A text search stops after MOST_TEXT bytes or WITHIN seconds, with a position to continue from. Raises Overloaded.
    """
    with passing.texts.asking() if passing.reads_text else nullcontext():
        return await _find(log, window, passing, limit, newest_first=newest_first)


async def _find(
    log: EventLog, window: TimeWindow, passing: EventFilter, limit: int, *, newest_first: bool
) -> FoundEvents:
    read = log.read_back if newest_first else log.read
    at, size, looked, began = window.before if newest_first else window.after, 0, 0, trio.current_time()
    asks, found = FEWEST, list[Stored]()
    for _ in range(ROUNDS):
        page = await read(at, min(asks, limit), passing.where)
        left = [event for event in page.events if window.after < event.seq < window.before]
        over = len(left) < len(page.events)
        bytes_read = sum(len(event.body) for event in page.events)
        asks = max(FEWEST, min(AT_ONCE, MOST_BYTES * len(page.events) // bytes_read)) if bytes_read else AT_ONCE
        while some := left[: passing.portion(left)]:
            for event, passes in zip(some, await passing.sift(some), strict=True):
                looked += len(event.body)
                if passes and found and size + len(event.body) > MOST_BYTES:
                    return FoundEvents(found, found[-1].seq)
                if passes:
                    found.append(event)
                    size += len(event.body)
                    if len(found) == limit or size >= MOST_BYTES:
                        return FoundEvents(found, event.seq)
            del left[: len(some)]
            if passing.reads_text and (looked >= MOST_TEXT or trio.current_time() >= began + WITHIN):
                return FoundEvents(found, some[-1].seq)
            await trio.lowlevel.checkpoint()
        exhausted = page.scanned <= window.after if newest_first else page.scanned >= min(page.head, window.before)
        if over or exhausted or page.scanned == at:
            return FoundEvents(found, None)
        at = page.scanned
    return FoundEvents(found, at)


class HistoryPage(NamedTuple):
    """A page of events. cursor: of the next one. begins: the window's real start. clamped: by retention."""

    events: Sequence[Stored]
    cursor: str | None
    begins: Millis
    clamped: bool


async def named(call: OperationContext, id: str) -> Stored:
    """Return one event as stored in the log. Raises NotFound."""
    return existing(await call.context.storage.log.get(id), "There is no such event, or retention has deleted it.")


async def history(call: OperationContext, query: EventsQuery, target: str) -> HistoryPage:
    """Return a page of history; its cursor is bound to `target`. Raises Refusal (400, 410), Overloaded."""
    event_filter = await event_filter_for(call, query)
    async with nullcontext() if event_filter.reads_text else call.streams.pages:  # text searches have their own limit
        return await _page(call, query, target, event_filter)


async def _page(call: OperationContext, query: EventsQuery, target: str, event_filter: EventFilter) -> HistoryPage:
    asked = page_request_of(query, target)
    log, newest_first = call.context.storage.log, query.order == "desc"
    window, _, cursor = asked
    left = _left(window, cursor, (await log.bounds()).floor, newest_first)
    found = await find(log, left, event_filter, query.limit, newest_first=newest_first)
    bounds = await log.bounds()
    _left(window, cursor, bounds.floor, newest_first)
    # Retention deleted events during the read: others of them may be missing already.
    events = [event for event in found.events if event.seq > bounds.floor]
    further = None if found.next is None else Seq(max(found.next, bounds.floor))
    clamped = window.after < bounds.floor
    begins = bounds.oldest if not asked.began and not clamped else max(window.after, bounds.floor) + 1
    return HistoryPage(events, lead_on(asked, further, target), millis_of(Seq(begins)), asked.began and clamped)


def _left(window: TimeWindow, cursor: int | None, floor: Seq, newest_first: bool) -> TimeWindow:
    """Return the rest of a window after a cursor. Raises Refusal (410) if retention has deleted part of it."""
    start = Seq(max(window.after, floor))
    if cursor is None:
        return window._replace(after=start)
    if newest_first:
        return TimeWindow(start, Seq(min(window.before, cursor)))
    if cursor < floor:
        raise Refusal("cursor-expired", "Events after this cursor have been deleted by retention.")
    return window._replace(after=Seq(max(window.after, cursor)))


_KINDS = (*WATCHED, Kind.NOTICE)  # the default kinds without sources or tags: everything but practice


class OpenExport(NamedTuple):
    """An export that has read its first page, with the answer's media type and headers."""

    file: Export
    media: str
    headers: Mapping[str, str]


async def export(call: OperationContext, query: ExportQuery, holder: Holder) -> OpenExport:
    """Open a window of the log, oldest first. Raises Refusal (400, 429, 503), StorageError."""
    chosen = bool(query.source or query.tag)
    window = _window(_after(query.start), query)
    event_filter = await event_filter_for(call, query, () if chosen else _KINDS)
    call.streams.exports.check_room(holder)
    log = call.context.storage.log
    end = Seq((await log.bounds()).newest)
    file = Export(log, event_filter, query.format, after=window.after, before=min(window.before, Seq(end + 1)))
    await file.begin()
    began = query.start not in (None, EARLIEST)
    clamped = began and file.first > window.after
    begins = file.first + 1 if began else (await log.bounds()).oldest
    now = rfc3339(call.context.world.now())
    stamp = "".join(sign for sign in now[:19] if sign.isalnum())
    headers = {
        "Content-Disposition": f'attachment; filename="sanderling-events-{stamp}Z.{query.format}"',
        "Sanderling-Window-From": rfc3339(millis_of(Seq(begins))),
        "Sanderling-Retention-Clamped": "true" if clamped else "false",
        "Sanderling-Export-End": id_of(end, 0),
        "X-Accel-Buffering": "no",
    }
    return OpenExport(file, MEDIA[query.format], headers)


class EventsPage(Struct, frozen=True):
    """A page of history. `window_from`: where the window really began, later than asked when retention clamped it."""

    events: tuple[Event, ...]
    next_cursor: str | None
    window_from: Time
    retention_clamped: bool


ROUTES = Routes("/v1/events", "stream")


@ROUTES("GET", "", {200: EventsPage}, query=EventsQuery, refuses=("cursor-expired",))
async def read_history(call: Call) -> Answer:
    """Read the events of a period, page by page."""
    page = await history(call, call.query, call.target)
    base_url = call.context.settings.public_url()
    headers = {} if page.cursor is None else {"Link": next_link(base_url, call.target, page.cursor)}
    # The bodies are JSON already; cursors and times need no escaping.
    answer = b'{"events":[%b],"next_cursor":%b,"window_from":"%b","retention_clamped":%b}' % (
        b",".join(event.body for event in page.events),
        b"null" if page.cursor is None else b'"%b"' % page.cursor.encode(),
        rfc3339(page.begins).encode(),
        b"true" if page.clamped else b"false",
    )
    return Answer(answer, headers=headers)


@ROUTES("GET", "/{id}", {200: Event})
async def one(call: Call) -> Answer:
    """Read one event."""
    return Answer((await named(call, call.path["id"])).body)


NO_SCREENSHOT = "There is no such screenshot, or it has been deleted."


class ScreenshotQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The screenshot to return."""

    side: Side = "after"


class EventPictures(NamedTuple):
    """A page's stored pictures around an event; None if not stored."""

    before: KeptPicture | None = None
    after: KeptPicture | None = None


async def of_event(call: OperationContext, id: str) -> EventPictures:
    """Return the stored pictures around an event. Raises NotFound."""
    event = await named(call, id)
    return EventPictures(*await call.context.storage.pictures.around(event.source, event.seq))


async def picture(call: OperationContext, id: str, side: Side) -> Picture:
    """Return the picture of the page before or after an event. Raises NotFound."""
    event = await named(call, id)
    before, after = await call.context.storage.pictures.around(event.source, event.seq)
    wanted = before if side == "before" else after
    found = None if wanted is None else await call.context.storage.pictures.get(event.source, wanted.seq)
    return existing(found, NO_SCREENSHOT)


def headers_of(found: Picture, name: str) -> dict[str, str]:
    """Return a picture's headers: display it inline, only on our own site, with no active content."""
    ending = found.media.partition("/")[2]
    return {
        "Content-Disposition": f'inline; filename="{name}.{ending}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }


@ROUTES(
    "GET", "/{id}/screenshot", {200: str}, query=ScreenshotQuery, media="image/webp", also=("image/png", "image/jpeg")
)
async def screenshot(call: Call) -> Answer:
    """Read a screenshot of the rendered page, before the event or after it."""
    side: Side = call.query.side
    found = await picture(call, call.path["id"], side)
    return Answer(found.body, media=found.media, headers=headers_of(found, f"{call.path['id']}-{side}"))


_NAMED = ("Content-Disposition", "Sanderling-Window-From", "Sanderling-Retention-Clamped", "Sanderling-Export-End")


@ROUTES("GET", "/export", {200: list[Event]}, query=ExportQuery, also=(MEDIA["ndjson"], "text/csv"), headers=_NAMED)
async def _export(call: Call) -> Answer:
    """Export the events of a period into one file: JSON, NDJSON or CSV."""
    assert call.key is not None
    opened = await export(call, call.query, call.key)
    return Answer(b"", media=opened.media, headers=dict(opened.headers), stream=opened.file)
