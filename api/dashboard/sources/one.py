"""One source: its state and reasons, its schedule, its events, and the texts that it did not report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta, Struct

from actors.messages.views import SourceView
from api.dashboard.amounts import size
from api.dashboard.difference import Changed, Line, lines_of
from api.dashboard.forms import Form
from api.dashboard.items import Item, item_of
from api.dashboard.language.speaking import say
from api.dashboard.screen import Download, Page, Screen, Shown, Visit
from api.dashboard.sources import words
from api.dashboard.sources.course import course
from api.dashboard.sources.inherited import inherited
from api.dashboard.sources.timeline import timeline
from api.dashboard.sources.values import drawn, listed
from api.operations import coverage, events, sources, values, versions
from api.operations.events import END
from api.operations.why import notes_of
from api.schemas.queries import EventsQuery
from api.schemas.why import SourceWhy
from api.v1.why import explanation_of
from storage.records import health, trail
from storage.records.event import REVERTED, Filter
from storage.records.identity import Millis, SourceId
from storage.records.states import LOOKS as LOOK_STATES
from storage.records.tiers import Kind, SourceType
from storage.records.times import parse_rfc3339
from storage.records.trail import Note, Row, Verdict

PATH: Final = "/sources/{id}"
EVENTS: Final = 10
LOOKS: Final = 20
HISTORY: Final = 8
MOST_LINES: Final = 60
"""Lines of the latest difference."""
_Text = Annotated[str, Meta(max_length=500)]


class ShowQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """cursor: of its events. text: the text to explain."""

    cursor: Annotated[str, Meta(max_length=500)] = ""
    text: _Text = ""


class Why(Form, frozen=True, kw_only=True):
    """A text to explain, after a check now."""

    text: _Text


class ShownEvent(Changed, frozen=True, kw_only=True):
    """The fields of an event that the page shows."""

    id: str
    source_type: SourceType
    title: str = ""
    content: str = ""
    url: str = ""
    emitted_at: str = ""
    alert_type: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def went_back(self) -> bool:
        """Whether the page reverted to an earlier text."""
        return REVERTED in self.tags

    @property
    def says(self) -> str:
        """Its title, or the beginning of its content."""
        return self.title or self.content[:120] or self.url or say("(no title)")

    @property
    def lines(self) -> list[Line]:
        return lines_of(self, MOST_LINES)


class EventsShown(Struct, frozen=True):
    """A page of events, newest first. items: the same as list items."""

    events: tuple[ShownEvent, ...]
    items: tuple[Item, ...]
    next_cursor: str | None


class LookRow(NamedTuple):
    """A row of the check trail with the note of its last check."""

    row: Row
    says: str
    failed: bool
    note: str


class Untold(NamedTuple):
    """When a page last changed without an event, and why; "" if no check recorded the reason."""

    at: Millis
    reason: str


_told = msgspec.json.Decoder(ShownEvent)


async def show(visit: Visit) -> Page:
    query: ShowQuery = visit.query
    answer = None
    if query.text.strip():
        answer = explanation_of(query.text, await sources.explain(visit, visit.path["id"], query.text))
    return await shown(visit, answer, query)


async def look_why(visit: Visit) -> Page:
    """Show why a text was not reported, after a check now."""
    query = ShowQuery(text=visit.form.text)
    found = await sources.explain(visit, visit.path["id"], query.text, look=True)
    return await shown(visit, explanation_of(query.text, found), query)


async def shown(visit: Visit, answer: SourceWhy | None, query: ShowQuery) -> Page:
    """Return a source's page, with the explanation of a text if given."""
    id = sources.known(visit.path["id"])
    found = await sources.examine(visit, id)
    view, hot = found.view, found.view.hot
    rows = trail.read(hot.trail)
    told = await _events(visit, id, query.cursor)
    held = await visit.context.storage.log.held(id)
    valued = await values.values(visit, id)
    notes = await notes_of(visit.context.storage.sources, id)
    latest = next((one for one in told.events if one.lines), None) if not query.cursor else None
    shows = {
        "view": view,
        "source": view.source,
        "hot": hot,
        "id": id,
        "name": words.name_of(view.source),
        "standing": words.standing(view),
        "health": words.health(view),
        "kind": words.KINDS[view.source.type],
        "labels": words.labels(view.source),
        "inherited": list(inherited(view.effective)),
        "examined": found,
        "causes": words.CAUSES,
        "held": held,
        "covered": await coverage.coverage_of(visit, view.source, hot.tally),
        "size": size,
        "line": timeline(rows, visit.now, _next(view)),
        "verdicts": {verdict: state.word for verdict, state in LOOK_STATES.items()},
        "last": rows[-1] if rows else None,
        "looked": _looked(rows, notes),
        "told": told.items,
        "following": f"/sources/{id}?cursor={told.next_cursor}#events" if told.next_cursor else "",
        "first": f"/sources/{id}#events" if query.cursor else "",
        "latest": latest,
        "untold": untold_since(latest.emitted_at, rows, notes) if latest is not None else None,
        "picture": await versions.newest(visit, view.source),
        "course": course(health.read(hot.scores), visit.now, visit.zone),
        "history": await _history(visit, id),
        "values": drawn(valued, visit.now, lambda at: visit.moment(at).words),
        "current": listed(valued),
        "text": query.text,
        "answer": answer,
    }
    return Page("sources/one.html", words.name_of(view.source), shows)


async def receipt(visit: Visit) -> Download:
    """Download the signed receipt of the last 7 days."""
    made = await coverage.coverage(visit, sources.known(visit.path["id"]))
    return Download("coverage.json", await coverage.signed(visit, made), "application/json")


async def screenshot(visit: Visit) -> Shown:
    """Show the source's newest picture. Raises NotFound."""
    found = await versions.newest_picture(visit, visit.path["id"])
    return Shown(found.body, found.media, versions.headers_of(found, visit.path["id"]))


def untold_since(told_at: str, rows: Sequence[Row], notes: Sequence[Note]) -> Untold | None:
    """Return the newest unreported change since an event, or None."""
    told = parse_rfc3339(told_at)
    found = [row for row in rows if row.verdict is Verdict.NOTHING_TO_TELL and row.last_at > told]
    if not found:
        return None
    note = next((note for note in reversed(notes) if note.came == "churn" and note.at > told), None)
    return Untold(found[-1].last_at, "" if note is None else note.reason)


def _next(view: SourceView) -> Millis | None:
    return view.hot.next_look_at if view.source.enabled else None


async def _events(visit: Visit, id: SourceId, cursor: str) -> EventsShown:
    """Return a page of the source's events, newest first."""
    query = EventsQuery(source=(id,), order="desc", limit=EVENTS, cursor=cursor or None)
    # The cursor belongs to this list, independent of the page's other parameters.
    page = await events.history(visit, query, f"/sources/{id}/events")
    bodies = [stored.body for stored in page.events]
    return EventsShown(tuple(map(_told.decode, bodies)), tuple(map(item_of, bodies)), page.cursor)


async def _history(visit: Visit, id: SourceId) -> Sequence[ShownEvent]:
    """Return the source's notices, newest first: the history of its health."""
    where = Filter(sources=(id,), kinds=(Kind.NOTICE,))
    page = await visit.context.storage.log.read_back(END, HISTORY, where)
    return [_told.decode(stored.body) for stored in page.events]


def _looked(rows: Sequence[Row], notes: Sequence[Note]) -> list[LookRow]:
    """Return the last rows of the trail, newest first, each with the newest note of its period."""
    found = []
    for row in reversed(rows[-LOOKS:]):
        # Rows have whole seconds, notes milliseconds.
        noted = next((one for one in reversed(notes) if row.first_at <= one.at < row.last_at + 1000), None)
        failed = row.verdict >= Verdict.REMOTE_TRANSIENT
        found.append(LookRow(row, LOOK_STATES[row.verdict].word, failed, noted.reason if noted is not None else ""))
    return found


SCREENS = (
    Screen(path=PATH, run=show, query=ShowQuery),
    Screen(path=f"{PATH}/coverage", run=receipt),
    Screen(path=f"{PATH}/screenshot", run=screenshot),
    Screen(method="POST", path=f"{PATH}/why", run=look_why, form=Why, again=show),
)
