"""The reader: a list of entries, and the text of the open one.

Cookies mark the read entries: all events up to the one that *Mark all as read* stored, and of later ones those
that were opened, at most `MOST_MARKS`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta
from werkzeug.http import parse_cookie

from actors.language.speaking import say
from api.dashboard.events import main_parts
from api.dashboard.forms import Form
from api.dashboard.lists import address
from api.dashboard.screen import Go, Page, Screen, Visit, post
from api.dashboard.sessions import Sessions, own_path
from api.dashboard.stream import ListQuery, filters_of, newest
from api.nouns import events
from api.problems import invalid
from storage.records.event import Filter
from storage.records.identity import seq_of

PATH: Final = "/stream/read"
COOKIE: Final = "read_entries"
MOST_MARKS: Final = 150
COUNTED: Final = 300
"""The newest events, for the counts of unread ones by tag."""
MOST_TAGS: Final = 30


class ReadMarks(NamedTuple):
    """The read events: all up to a position, and later ones by position."""

    upto: int
    later: frozenset[int]

    def has(self, seq: int) -> bool:
        return seq <= self.upto or seq in self.later

    def changed(self, seqs: set[int], *, read: bool) -> ReadMarks:
        later = self.later | seqs if read else self.later - seqs
        return self._replace(later=frozenset(sorted(seq for seq in later if seq > self.upto)[-MOST_MARKS:]))

    def cookie(self, visit: Visit) -> str:
        return Sessions.of_context(visit.context).keep(COOKIE, "-".join(f"{seq:x}" for seq in sorted(self.later)))


def marks_of(visit: Visit) -> ReadMarks:
    read = Sessions.of_context(visit.context).read_up_to(visit.headers)
    text = parse_cookie(visit.headers.get("Cookie", "")).get(COOKIE, "")
    later = {int(one, 16) for one in re.findall(r"[0-9a-f]{1,16}", text)}
    return ReadMarks(seq_of(read) if read else 0, frozenset()).changed(later, read=True)


class ReaderQuery(ListQuery, frozen=True, forbid_unknown_fields=True):
    """entry: the open event."""

    entry: Annotated[str, Meta(max_length=100)] = ""


class MarkForm(Form, frozen=True):
    """Marks these events, separated by commas. back: the page to show then."""

    ids: str
    read: bool = False
    back: str = PATH


async def show(visit: Visit) -> Page:
    wanted: ReaderQuery = visit.query
    here = address(PATH, **wanted.typed())
    items, onward = await newest(visit, await filters_of(visit, wanted), cursor=wanted.cursor, target=here)
    there, marks = address(PATH, **wanted.typed(), cursor=wanted.cursor), marks_of(visit)
    entry, cookies = dict[str, Any](), tuple[str, ...]()
    if wanted.entry:
        stored = await events.named(visit, wanted.entry)
        entry = await main_parts(visit, stored) | {"keepable": stored.seq > marks.upto}
        marks = marks.changed({stored.seq}, read=True)
        cookies = (marks.cookie(visit),)
    unread = [item.id for item in items if not marks.has(seq_of(item.id))]
    shows = {
        "rows": [(item, item.id in unread, f"{there}{'&' if '?' in there else '?'}entry={item.id}") for item in items],
        "unread": unread,
        "entry": entry,
        "onward": onward,
        "here": here,
        "there": there,
        "tags": await _unread_by_tag(visit, marks),
        "tag": wanted.tag,
        "filtered": any(wanted.typed().values()),
        "stream": address("/stream", **wanted.typed()),
        "since": await visit.streams.newest_id(),
    }
    title = entry.get("heading") or say("Reader")
    return Page("reader.html", title, shows, cookies=cookies)


async def _unread_by_tag(visit: Visit, marks: ReadMarks) -> list[tuple[str, str, int]]:
    """Return tags of the newest events, each with its page and unread events, the fullest first."""
    page = await visit.context.storage.log.read_back(events.END, COUNTED, Filter())
    counts = Counter[str]()
    for stored in page.events:
        counts.update(dict.fromkeys(stored.tags, int(not marks.has(stored.seq))))
    fullest = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_TAGS]
    return [(tag.removeprefix("label:"), address(PATH, tag=tag), count) for tag, count in fullest]


async def mark(visit: Visit) -> Go:
    form: MarkForm = visit.form
    try:
        seqs = {int(seq_of(id)) for id in form.ids.split(",")}
    except ValueError:
        raise invalid("form.ids", "not ids of events", form.ids) from None
    return Go(own_path(form.back), cookies=(marks_of(visit).changed(seqs, read=form.read).cookie(visit),))


SCREENS: tuple[Screen, ...] = (
    Screen(path=PATH, run=show, query=ReaderQuery),
    post(f"{PATH}/entries", mark, MarkForm, show),
)
