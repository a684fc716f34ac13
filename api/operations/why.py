"""Why an event was emitted, for any face: as a sentence and in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
import trio
from msgspec import UNSET

from actors.query import QueryError, Texts, UnknownLanguage, matches, parse, told_in
from api.operations import events
from api.operations.context import OperationContext
from api.schemas import why as wire
from api.schemas.why import EventWhy
from storage.records import trail
from storage.records.alert import Alert
from storage.records.event import RESET, Event, Filter, Stored
from storage.records.identity import Millis, SourceId, millis_of, seq_at, seq_of
from storage.records.tiers import Kind
from storage.records.times import parse_rfc3339, rfc3339, spoken
from storage.records.trail import Note, Part
from storage.sql.stores.sources import Sources

ReasonKind = Literal["page", "new_item", "new_entry", "edited_entry", "frame", "notice"]
_SHOWN = 60
_HELD = "So were all the others, as after a move, and its date is not new: so it is for no alert."
_NO_NOTE = "The note of that look is no longer kept, so this is what the event itself says."


class Before(NamedTuple):
    """The baseline of a page's event: the event before it, or the first check. `at` None: unknown."""

    at: Millis | None = None
    event_id: str | None = None


def _time_or_null(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)


def _part(part: Part) -> wire.LookPart:
    score = round(part.score, 3)
    return wire.LookPart(text=part.text, rule=part.rule, key=part.key, came=part.came, told=part.told, score=score)


def note_of(one: Note) -> wire.LookNote:
    return wire.LookNote(
        at=rfc3339(one.at),
        verdict=one.came,
        reason=one.reason,
        compared_with=_time_or_null(one.since),
        score=None if one.score is None else round(one.score, 3),
        bar=one.bar,
        withheld=tuple(_part(part) for part in one.parts if not part.told),
        told=tuple(_part(part) for part in one.parts if part.told),
        counts=dict(one.counts),
        until=_time_or_null(one.until),
    )


def kind_of(event: Event) -> ReasonKind:
    if isinstance(event.alert_type, str):
        return "notice"
    if event.source_type == "html":
        return "new_item" if "change:new" in event.tags and event.delta is UNSET else "page"
    if event.source_type == "push":
        return "frame"
    return "edited_entry" if "change:updated" in event.tags else "new_entry"


class Matching(NamedTuple):
    """The names of the alerts that match an event today. once: those that had its story from an earlier event."""

    names: list[str]
    once: list[str]


def why(event: Event, note: Note | None, before: Before, alerts: Matching, *, named: bool) -> wire.EventWhy:
    """Return why an event was emitted. Include alert names only if `named`."""
    kind = kind_of(event)
    known = note_of(note) if note is not None else None
    told = known.told if known is not None else ()
    mine = [part for part in told if part.text and event.title.startswith(part.text)]
    return wire.EventWhy(
        id=event.id,
        source_id=event.source_id,
        source_type=event.source_type,
        kind=kind,
        says=" ".join(
            filter(None, (_says(event, kind, note), _compared(kind, note, before), _matched_alerts(alerts, named)))
        ),
        noted=note is not None,
        compared_with=_moment(note.since if kind != "page" and note is not None else before.at),
        compared_with_event=before.event_id,
        score=known.score if known is not None and kind == "page" else None,
        bar=known.bar if known is not None and kind == "page" else None,
        identity=mine[0].key if mine and kind in ("new_entry", "edited_entry") else None,
        weighed=told if kind == "page" else (),
        withheld=known.withheld if known is not None and kind == "page" else (),
        alerts=_matched(alerts.names, named),
        alerts_once=_matched(alerts.once, named),
    )


def _matched(names: Sequence[str], named: bool) -> wire.AlertsMatched:
    return wire.AlertsMatched(count=len(names), names=tuple(names[: wire.MOST_NAMES]) if named else ())


def _says(event: Event, kind: ReasonKind, note: Note | None) -> str:
    match kind:
        case "notice":
            return (
                f"This is a notice of the service itself ({event.alert_type}), no news of the source: {event.content}"
            )
        case "page":
            return _page(event, note)
        case "new_entry":
            says = f"The feed held an entry that had not been seen before{_identity(event, note)}."
            return f"{says} {_HELD}" if RESET in event.tags else says
        case "new_item":
            return f"The list had an item whose address had not been on it before. {_read(event)}"
        case "edited_entry":
            return f"An entry that was known by its identity{_identity(event, note)} had another text."
        case "frame":
            return "A frame was pushed that an alert, or the source's own filter, asks for, and it was no duplicate."


def _read(event: Event) -> str:
    return event.unread if isinstance(event.unread, str) else "Its own page was read for its text."


def _page(event: Event, note: Note | None) -> str:
    if note is None or note.score is None or note.bar is None:
        return f"{_diff(event)} {_NO_NOTE}"
    heaviest = [
        f"{_quoted(part.text)} {'came' if part.came else 'went'} ({part.score:.2f})" for part in note.parts if part.told
    ]
    says = f"The change scored {note.score:.2f}; from {note.bar:.2f} up it is told."
    if heaviest:
        says += f" Most of the score: {', '.join(heaviest[:3])}."
    withheld = sum(not part.told for part in note.parts)
    if withheld:
        says += f" {_many(withheld, 'other difference')} did not count."
    return says


def _diff(event: Event) -> str:
    if not hasattr(event.diff, "added"):
        return "The page changed."
    added, removed, changed = (len(getattr(event.diff, name)) for name in ("added", "removed", "changed"))
    return f"The page changed: blocks came ({added}), went ({removed}), were altered ({changed})."


def _identity(event: Event, note: Note | None) -> str:
    for part in note.parts if note is not None else ():
        if part.told and part.text and event.title.startswith(part.text):
            return f" ({_quoted(part.key)})"
    return ""


def _compared(kind: ReasonKind, note: Note | None, before: Before) -> str:
    if kind == "page":
        if before.event_id is not None and before.at is not None:
            return f"It was compared with the page as it was told on {spoken(before.at)}."
        if before.at is not None:
            return f"It was compared with the page of the first look, on {spoken(before.at)}."
        return "It was compared with the page as it was told last; that event is no longer kept."
    if kind in ("new_entry", "edited_entry"):
        if note is None:
            return _NO_NOTE
        return "" if note.since is None else f"The look before was on {spoken(note.since)}."
    return ""


def _matched_alerts(matching: Matching, named: bool) -> str:
    names, once = matching
    passed = f"{_many(len(once), 'alert')} had this story from an earlier event." if once else ""
    if not names:
        return passed
    says = f"It is for {_many(len(names), 'alert')} as they are now"
    if named:
        shown = ", ".join(_quoted(name) for name in names[:3])
        says += f": {shown}{', ..' if len(names) > 3 else ''}"
    return f"{says}. {passed}".rstrip()


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _quoted(text: str) -> str:
    return f"“{text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + '…'}”"


def _moment(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)


MOST_ALERTS = 2_000
"""Alerts to try on one event."""
_SLICE = 50
_event = msgspec.json.Decoder(Event)


async def notes_of(sources: Sources, source: SourceId) -> Sequence[Note]:
    """Return the notes of a source, oldest first; none if it is deleted."""
    stored = await sources.get(source)
    return trail.read_notes(trail.opened(stored.base).notes) if stored is not None else ()


async def event_why(call: OperationContext, id: str, *, named: bool) -> EventWhy:
    """Return why an event was emitted. Include the names of matching alerts if `named`. Raises NotFound."""
    stored = await events.named(call, id)
    event = _event.decode(stored.body)
    notes = await notes_of(call.context.storage.sources, stored.source)
    before = await _before(call, stored, notes) if kind_of(event) == "page" else Before()
    return why(event, _of_look(notes, event), before, await _alerts(call, stored, event), named=named)


def _of_look(notes: Sequence[Note], event: Event) -> Note | None:
    """Return the note of the check that found an event, by its time."""
    at = parse_rfc3339(event.fetched_at)
    return next((note for note in notes if note.at == at and note.came in ("told", "baseline", "held")), None)


async def _before(call: OperationContext, stored: Stored, notes: Sequence[Note]) -> Before:
    """Return the source's previous event, or the first check if that is later or the log has no gap before it."""
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


async def _alerts(call: OperationContext, stored: Stored, event: Event) -> Matching:
    """Return the names of the active alerts that match an event today."""
    texts = Texts(told_in(stored.body))
    met = await call.context.storage.outbox.met(seq_of(event.story)) if isinstance(event.story, str) else {}
    found = Matching([], [])
    enabled = [alert for alert in await call.context.storage.alerts.all() if alert.enabled]
    for number, alert in enumerate(enabled[:MOST_ALERTS]):
        if number % _SLICE == 0:
            await trio.lowlevel.checkpoint()
        if event.alert_type is not UNSET:
            is_met = alert.scope.covers(stored) and event.alert_type in alert.notices
        else:
            is_met = alert.scope.takes(stored, call.context.private_since) and meets(alert, texts)
        if is_met:
            once = alert.meets_once and met.get(alert.id, stored.seq) != stored.seq
            (found.once if once else found.names).append(alert.name)
    return found


def meets(alert: Alert, texts: Texts) -> bool:
    """Return whether the query of an alert matches the texts of an event."""
    try:
        return matches(parse(alert.filter_query, alert.language), texts.of(alert.match))
    except (QueryError, UnknownLanguage):
        return False  # written by another version; the matcher logs it
