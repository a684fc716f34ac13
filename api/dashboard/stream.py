"""Stream: the newest events and then all events live, with the API's filters; and the reader, a list and the open text.

The live streams are the API's, opened by a session instead of a key, and ended with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Struct

from actors.language.sentences import translated
from actors.language.speaking import noted, say
from api.dashboard.events import Item, curl, items_of, main_parts
from api.dashboard.forms import Draft, Form
from api.dashboard.lists import Chip, address, chips, views_of
from api.dashboard.picker import named, sources_of, suggested
from api.dashboard.screen import ExportedFile, Go, LiveStream, Page, Screen, Visit, post
from api.dashboard.sessions import own_path
from api.fields.queries import EventsQuery, ExportQuery, StreamQuery
from api.nouns import events, streams
from api.nouns.events import MOST_VALUES, TimeWindow
from api.nouns.streams import Listener
from api.pagination import next_path
from api.problems import Refusal, invalid
from api.streams.reader import Reader
from storage.records.access import ReadEvents
from storage.records.event import Filter
from storage.records.identity import Seq, id_of, seq_of
from storage.records.source import OWN_NAMESPACES
from storage.records.tiers import TIERS, SourceType
from storage.sql.stores.people import MOST_MARKS


async def everything(visit: Visit) -> LiveStream:
    return _live(await streams.everything(visit, visit.query, _listener(visit)))


async def channel(visit: Visit) -> LiveStream:
    return _live(await streams.channel(visit, visit.path["channel"], visit.query, _listener(visit)))


def _listener(visit: Visit) -> Listener:
    assert visit.session is not None
    return Listener(visit.session, visit.headers.get("Last-Event-ID", "").strip())


def _live(reader: Reader) -> LiveStream:
    return LiveStream(reader, streams.HEADERS | {"Sanderling-Replay-From": reader.replay_from})


SHOWN = 50
_Text = Annotated[str, Meta(max_length=500)]
_FIELDS = {"keyword": noted("Words"), "source_type": noted("Kind"), "tag": noted("Tags"), "source": noted("Sources")}
"""The label of each parameter."""
Filters = Sequence[tuple[str, str]]  # filters as parameters of the API


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The filters as typed, by commas. source: names, words of names or addresses, or ids. after: only later events."""

    keyword: _Text = ""
    tag: _Text = ""
    source: _Text = ""
    source_type: Literal[""] | SourceType = ""
    after: _Text = ""
    cursor: str | None = None

    def typed(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in _FIELDS}


class DownloadQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """The events to write into a file, and its form."""

    format: Literal["csv", "ndjson"] = "csv"


class ReadForm(ListQuery, Form, frozen=True, kw_only=True):
    """Marks all events up to this one as read, with filters only those that match. back: the button's page."""

    id: str
    back: str = "/stream"


async def filters_of(visit: Visit, wanted: ListQuery) -> Filters:
    """Return the filters of a page, with sources by id. Raises Refusal (400), and as `picker.named` does."""
    if wanted.source.count(",") >= MOST_VALUES:
        raise invalid("query.source", f"at most {MOST_VALUES} names", wanted.source)
    sources = await named(visit, wanted.source)
    if sources.unknown:
        raise invalid("query.source", f"no source is called “{sources.unknown}”", wanted.source)
    if len(sources.ids) > MOST_VALUES:
        says = f"more than {MOST_VALUES} sources fit; type more of a name, or filter by a tag"
        raise invalid("query.source", says, wanted.source)
    typed = (("keyword", wanted.keyword), ("tag", wanted.tag), ("source", ",".join(sources.ids)))
    pairs = [(name, value.strip()) for name, text in typed for value in text.split(",") if value.strip()]
    return [*pairs, *([("source_type", wanted.source_type)] if wanted.source_type else [])]


def _asked(filters: Filters, **more: str | int | None) -> dict[str, object]:
    given = {name: tuple(value for key, value in filters if key == name) for name, _ in filters}
    return given | {name: value for name, value in more.items() if value}


async def newest(
    visit: Visit,
    filters: Filters = (),
    *,
    limit: int = SHOWN,
    after: str = "",
    cursor: str | None = None,
    target: str = "",
) -> tuple[list[Item], str]:
    """Return a page of events, newest first, and the path to the next one. Raises Refusal (400, 410)."""
    asked, target = _asked(filters, cursor=cursor, order="desc", limit=limit, **{"from": after}), target or visit.target
    page = await events.history(visit, msgspec.convert(asked, EventsQuery), target)
    return await items_of(visit, page.events), "" if page.cursor is None else next_path(target, page.cursor)


async def show(visit: Visit) -> Page:
    wanted: ListQuery = visit.query
    since, here = await visit.streams.newest_id(), {**wanted.typed(), "after": wanted.after}
    filters: Filters = ()
    items: list[Item] = []
    onward, status = "", 200
    try:
        filters = await filters_of(visit, wanted)
        items, onward = await newest(visit, filters, after=wanted.after, cursor=wanted.cursor)
    except (Refusal, msgspec.ValidationError) as error:
        visit.draft, status = Draft(says=_said(error)), 400
    asked, names = urlencode(filters), {"tag": "tag", "source": "source", "source_type": "channel"}
    published = urlencode([(names[name], value) for name, value in filters if name in names])
    upto = (await _read_events(visit)).upto
    read = id_of(Seq(upto), (1 << 59) - 1) if upto else ""  # compares as the last id of its position
    shows = {
        "items": items,
        "views": await views_of(visit, "stream"),
        "filtered": any(wanted.typed().values()),
        "chips": _chips(wanted),
        "onward": onward,
        "wanted": wanted,
        "names": await suggested(visit),
        "read": read,
        "unread": sum(item.id > read for item in items) if read else 0,
        "only_unread": address("/stream", **wanted.typed(), after=read),
        "everything": address("/stream", **wanted.typed()),
        "reader": address(READER, **wanted.typed()),
        "live": "" if status != 200 or wanted.cursor else f"/live?{asked}",
        "since": since,
        "curl": curl(visit, "/v1/stream" + (f"?{asked}" if asked else ""), "-N"),
        "published": f"?{published}" if published else "",
        "downloads": {form: address("/stream/download", **here, format=form) for form in ("csv", "ndjson")},
        "export": curl(visit, f"/v1/events/export?{asked}{'&' if asked else ''}format=csv", "-o events.csv"),
    }
    return Page("stream.html", say("Stream"), shows, status)


def _said(error: Refusal | msgspec.ValidationError) -> str:
    """Return the error of a filter, with the label of its field.

    >>> _said(invalid("query.source[0]", "no source is called “x”", "x"))
    'Sources: no source is called “x”.'
    """
    if not isinstance(error, Refusal) or not error.errors:
        return str(error)
    first = error.errors[0]
    name = first.location.removeprefix("query.").partition("[")[0]
    said = translated(first.message)
    return f"{say(_FIELDS[name])}: {said}." if name in _FIELDS else str(error)


def _chips(wanted: ListQuery) -> list[Chip]:
    kind = say(TIERS[wanted.source_type].plural) if wanted.source_type else ""
    shown = {**wanted.typed(), "source_type": kind}
    return chips("/stream", wanted.typed() | {"after": wanted.after}, [(n, say(_FIELDS[n]), shown[n]) for n in _FIELDS])


async def download(visit: Visit) -> ExportedFile:
    wanted: DownloadQuery = visit.query
    asked = _asked(await filters_of(visit, wanted), format=wanted.format, **{"from": wanted.after})
    assert visit.session is not None
    try:
        query = msgspec.convert(asked, ExportQuery)
    except msgspec.ValidationError as error:
        raise invalid("query", str(error)) from None
    return ExportedFile(await events.export(visit, query, visit.session))


def reader_of(visit: Visit) -> str:
    """Return whose read marks these are: a person's, "" for the service's password."""
    assert visit.session is not None
    return visit.session.person


async def _read_events(visit: Visit) -> ReadEvents:
    return await visit.context.storage.read_marks.of(reader_of(visit))


async def mark_read(visit: Visit) -> Go:
    """Mark events as read: those that its page could show, not later ones. All are one transaction."""
    form: ReadForm = visit.form
    upto, store = _position(form.id, "form.id"), visit.context.storage.read_marks
    if not (filters := await filters_of(visit, form)):
        await store.mark_all(reader_of(visit), upto)
        return Go(own_path(form.back), say("All events so far are marked as read."))
    # One more than the marks of a person: then the position moves up to the oldest of these, and none is left.
    seqs, _ = await _unread(visit, filters, await _read_events(visit), upto, MOST_MARKS + 1)
    await store.mark(reader_of(visit), seqs, read=True)
    return Go(own_path(form.back), say("%(count)s marked as read.", count=len(seqs)))


async def _unread(
    visit: Visit, filters: Filters, marks: ReadEvents, upto: Seq, most: int, *, searches: int | None = None
) -> tuple[Sequence[Seq], bool]:
    """Return the newest unread events up to a position that pass the filters, and whether there may be more. Raises
    Refusal (400), Overloaded.
    """
    passing = await events.event_filter_for(visit, msgspec.convert(_asked(filters), EventsQuery))
    oldest = Seq(min([marks.upto, *(seq - 1 for seq, has in marks.marks.items() if not has)]))
    place: Seq | None = Seq(upto + 1)
    found = list[Seq]()
    while place is not None and len(found) < most and searches != 0:
        window, searches = TimeWindow(oldest, place), searches and searches - 1
        page = await events.find(visit.context.storage.log, window, passing, events.AT_ONCE, newest_first=True)
        found += [event.seq for event in page.events if not marks.has(event.seq)]
        place = page.next
    return found[:most], place is not None or len(found) > most


def _position(id: str, field: str) -> Seq:
    try:
        return seq_of(id)
    except ValueError:
        raise invalid(field, "not the id of an event", id) from None


async def not_read(visit: Visit) -> Go:
    says = say("Nothing was marked: reload the page, and try again.")
    return Go(own_path(visit.draft.value("back") or "/stream"), says, bad=True)


READER: Final = "/stream/read"
COUNTED: Final = 300
"""The newest events, for the counts of unread ones by tag; also the most unread ones that a button counts."""
SEARCHES: Final = 4  # bounded reads of the log for that count, however long it is
MOST_TAGS: Final = 30


class ReaderQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """entry: the open event."""

    entry: Annotated[str, Meta(max_length=100)] = ""


class MarkForm(Form, frozen=True):
    """Keeps these events unread, separated by commas. back: the page to show then."""

    ids: str
    back: str = READER


async def read(visit: Visit) -> Page:
    wanted: ReaderQuery = visit.query
    here = address(READER, **wanted.typed())
    filters, since = await filters_of(visit, wanted), await visit.streams.newest_id()
    items, onward = await newest(visit, filters, cursor=wanted.cursor, target=here)
    there, marks = address(READER, **wanted.typed(), cursor=wanted.cursor), await _read_events(visit)
    entry = dict[str, Any]()
    if wanted.entry:
        stored = await events.named(visit, wanted.entry)
        entry = await main_parts(visit, stored)
        if not marks.has(stored.seq):
            await visit.context.storage.read_marks.mark(reader_of(visit), {stored.seq}, read=True)
            marks = marks._replace(marks={**marks.marks, stored.seq: True})
    unread = {item.id for item in items if not marks.has(seq_of(item.id))}
    watched = await sources_of(visit, [value for name, value in filters if name == "source"])
    counted, more = await _unread(visit, filters, marks, _position(since, "id"), COUNTED, searches=SEARCHES)
    shows = {
        "rows": [(item, item.id in unread, f"{there}{'&' if '?' in there else '?'}entry={item.id}") for item in items],
        "unread": f"{len(counted)}{'+' if more else ''}" if counted else "",
        "marks": {"id": since, "back": here} | wanted.typed(),
        "entry": entry,
        "onward": onward,
        "here": here,
        "there": there,
        "tags": await _unread_by_tag(visit, marks),
        "tag": wanted.tag,
        "of": wanted.tag or ", ".join(source.called for source in watched),
        "filtered": any(wanted.typed().values()),
        "stream": address("/stream", **wanted.typed()),
    }
    return Page("reader.html", entry.get("heading") or say("Reader"), shows)


async def _unread_by_tag(visit: Visit, marks: ReadEvents) -> list[tuple[str, str, int]]:
    page = await visit.context.storage.log.read_back(events.END, COUNTED, Filter())
    counts = Counter[str]()
    for stored in page.events:
        tags = [tag for tag in stored.tags if tag.partition(":")[0] not in OWN_NAMESPACES]
        counts.update(dict.fromkeys(tags, int(not marks.has(stored.seq))))
    fullest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TAGS]
    return [(tag.removeprefix("label:"), address(READER, tag=tag), count) for tag, count in fullest]


async def mark(visit: Visit) -> Go:
    form: MarkForm = visit.form
    seqs = {_position(id, "form.ids") for id in form.ids.split(",")}
    await visit.context.storage.read_marks.mark(reader_of(visit), seqs, read=False)
    return Go(own_path(form.back))


SCREENS: tuple[Screen, ...] = (
    Screen(path="/live", run=everything, query=StreamQuery, live=True),
    Screen(path="/live/{channel}", run=channel, query=StreamQuery, live=True),
    Screen(path="/stream", run=show, query=ListQuery),
    Screen(path="/stream/download", run=download, query=DownloadQuery),
    post("/stream/read", mark_read, ReadForm, not_read),
    Screen(path=READER, run=read, query=ReaderQuery),
    post(f"{READER}/entries", mark, MarkForm, read),
)
