"""Why did I get this, and why didn't I; and what is learned from "this was noise"."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import trio
from msgspec import UNSET

from actors.errors import NotFound, Unprocessable
from actors.messages.views import SourceExplanation
from actors.query import QueryError, Texts, UnknownLanguage, matches, parse, told_in
from api.operations import sources
from api.problems import Refusal
from api.route import Answer, Call, Route
from api.schemas import why as wire
from api.v1.looks import notes_of
from api.v1.reasons import Before, kind_of, why
from api.v1.sources import time_or_null
from storage.records.alert import Alert, covers
from storage.records.cursor import Filter
from storage.records.event import Event, Kind, Stored
from storage.records.identity import SourceId, millis_of, seq_at
from storage.records.note import Note
from storage.records.times import parse_rfc3339

MOST_ALERTS = 2_000
"""Alerts that are tried on one event for an answer."""
_SLICE = 50
_event = msgspec.json.Decoder(Event)


async def _found(call: Call) -> tuple[Stored, Event]:
    stored = await call.context.storage.log.get(call.path["id"])
    if stored is None:
        raise NotFound("There is no such event, or retention has deleted it.")
    return stored, _event.decode(stored.body)


async def event_why(call: Call) -> Answer:
    """Say why an event was emitted."""
    stored, event = await _found(call)
    notes = await notes_of(call.context.storage.sources, stored.source)
    before = await _before(call, stored, notes) if kind_of(event) == "page" else Before()
    alerts = await _alerts(call, stored, event)
    named = call.key is not None and "alerts:read" in call.key.scopes
    return Answer(why(event, _of_look(notes, event), before, alerts, named=named))


def _of_look(notes: Sequence[Note], event: Event) -> Note | None:
    """Return the note of the look that found an event: the one of that moment."""
    at = parse_rfc3339(event.fetched_at)
    return next((note for note in notes if note.at == at and note.came in ("told", "baseline", "held")), None)


async def _before(call: Call, stored: Stored, notes: Sequence[Note]) -> Before:
    """Return the source's event before this one, or the first look if that is later or nothing can lie between."""
    log = call.context.storage.log
    first = max((note.at for note in notes if note.came == "baseline" and seq_at(note.at) < stored.seq), default=None)
    page = await log.read_back(stored.seq, 1, Filter(sources=(stored.source,), kinds=(Kind.HTML, Kind.PRACTICE)))
    for earlier in page.events:
        if first is None or earlier.seq > seq_at(first):
            return Before(millis_of(earlier.seq), _event.decode(earlier.body).id)
    if first is not None:
        return Before(first)
    source = await call.context.storage.sources.get(stored.source)
    floor = (await log.bounds()).floor
    if source is None or page.scanned or seq_at(source.source.created_at) <= floor:
        return Before()
    return Before(source.source.created_at)


async def _alerts(call: Call, stored: Stored, event: Event) -> list[str]:
    """Return the names of the enabled alerts that match an event as they are now."""
    texts = Texts(told_in(stored.body))
    names = []
    enabled = [alert for alert in await call.context.storage.alerts.all() if alert.enabled]
    for number, alert in enumerate(enabled[:MOST_ALERTS]):
        if number % _SLICE == 0:
            await trio.lowlevel.checkpoint()
        if covers(alert.source_ids, stored) and _matches(alert, event, texts):
            names.append(alert.name)
    return names


def _matches(alert: Alert, event: Event, texts: Texts) -> bool:
    if event.alert_type is not UNSET:
        return event.alert_type in alert.notices
    try:
        return matches(parse(alert.filter_query, alert.language), texts.of(alert.match))
    except (QueryError, UnknownLanguage):
        return False  # the work of another version, which the matcher logs


# --- why didn't I? ----------------------------------------------------------------------------------------------------


async def source_why(call: Call) -> Answer:
    """Say why a text was not told."""
    query: wire.WhyQuery = call.query
    if query.look and (call.key is None or "sources:write" not in call.key.scopes):
        raise Refusal("forbidden", "Looking again now (`look`) needs the scope sources:write.")
    return Answer(explanation_of(query.text, await sources.explain(call, call.path["id"], query.text, look=query.look)))


def explanation_of(text: str, found: SourceExplanation) -> wire.SourceWhy:
    """Return why a text was not told, in the wire's words."""
    reasons = tuple(
        wire.KnownReason(kind=one.kind, says=one.says, at=time_or_null(one.at), event_id=one.event, text=one.text)
        for one in found.reasons
    )
    best = [reasons[0].says] if text.strip() and reasons else []
    return wire.SourceWhy(
        id=found.view.source.id,
        url=found.view.source.url,
        title=found.view.source.name,
        type=found.view.source.type,
        says=" ".join([*best, found.state]),
        state=found.state,
        reasons=reasons,
    )


# --- feedback --------------------------------------------------------------------------------------------------------


async def feedback(call: Call) -> Answer:
    """Learn from a user that an event of a page was noise, or real after all."""
    stored, event = await _found(call)
    verdict: wire.FeedbackVerdict = call.body.verdict
    if event.source_type != "html" or event.alert_type is not UNSET:
        raise Unprocessable(_no_page(event), "path.id", event.id)
    texts = _texts(event)
    learned = await sources.teach(call, SourceId(stored.source), texts, noise=verdict == "noise")
    return Answer(
        wire.Lesson(
            event_id=event.id,
            source_id=event.source_id,
            verdict=verdict,
            noise_count=len(learned.view.source.noise),
            says=_learned(verdict, len(texts), learned.blocks),
        )
    )


def _texts(event: Event) -> tuple[str, ...]:
    """Return what came, went or was altered, each text once."""
    if event.delta is UNSET:
        return ()
    texts = (text for op in event.delta.ops for text in (op.text, op.before, op.after))
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str)))


def _learned(verdict: wire.FeedbackVerdict, texts: int, keys: int) -> str:
    if verdict == "real":
        if not keys:
            return "Nothing of this event was marked as noise: it is told as it was."
        return f"The {texts} blocks of this event are no longer noise: when they come or go, that counts again."
    if not keys:
        return f"The {texts} blocks of this event were noise already."
    return (
        f"The {texts} blocks of this event are noise from now on, also with other figures in them (prices and versions "
        "excepted): when they come or go, that counts for nothing. Whatever else changes on the page is told as before."
    )


def _no_page(event: Event) -> str:
    if event.alert_type is not UNSET:
        return "This is a notice of the service itself; an alert chooses which of them it wants (`notices`)."
    what = (
        "A feed's entries are told because they are new" if event.source_type == "feed" else "Frames are told by query"
    )
    return f"{what}, so there is nothing to learn: leave such ones out by an alert's query (`-word`)."


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/why",
        scope="sources:read",
        run=source_why,
        says="Ask why a text was not told.",
        answers={200: wire.SourceWhy},
        query=wire.WhyQuery,
        refuses=("not-found",),
    ),
    Route(
        method="GET",
        path="/v1/events/{id}/why",
        scope="stream:read",
        run=event_why,
        says="Ask why an event was emitted.",
        answers={200: wire.EventWhy},
        refuses=("not-found",),
    ),
    Route(
        method="POST",
        path="/v1/events/{id}/feedback",
        scope="sources:write",
        run=feedback,
        says="Say that a page's event was noise, or real after all.",
        answers={200: wire.Lesson},
        body=(wire.Feedback,),
        refuses=("not-found", "unprocessable"),
    ),
)
