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
from storage.records import trail
from storage.records.alert import Alert
from storage.records.event import RESET, Event, Filter, Stored
from storage.records.identity import Millis, SourceId, millis_of, parse_rfc3339, rfc3339, seq_at, seq_of
from storage.records.message import Message, joined, message
from storage.records.tiers import WITH_DIFF, WITH_ENTRIES, Kind
from storage.records.trail import Note, Part
from storage.sql.stores.sources import Sources

ReasonKind = Literal["page", "new_item", "new_entry", "edited_entry", "frame", "notice"]
_SHOWN = 60
_HELD = message("So were all the others, as after a move, and its date is not new: so it is for no alert.")
_NO_NOTE = message("The note of that check is deleted, so this comes from the event itself.")


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
    if event.source_type in WITH_DIFF:
        return "new_item" if "change:new" in event.tags and event.delta is UNSET else "page"
    if event.source_type not in WITH_ENTRIES:
        return "frame"
    return "edited_entry" if "change:updated" in event.tags else "new_entry"


class Matching(NamedTuple):
    """The names of the alerts that match an event today. once: those that had its story from an earlier event."""

    names: list[str]
    once: list[str]


class Why(NamedTuple):
    """Why an event was emitted, for a person and for programs."""

    says: Message
    answer: wire.EventWhy


def why(event: Event, note: Note | None, before: Before, alerts: Matching, *, named: bool) -> Why:
    """Return why an event was emitted. Include alert names only if `named`."""
    kind = kind_of(event)
    known = note_of(note) if note is not None else None
    told = known.told if known is not None else ()
    mine = [part for part in told if part.text and event.title.startswith(part.text)]
    says = joined([_says(event, kind, note), _compared(kind, note, before), _matched_alerts(alerts, named)])
    answer = wire.EventWhy(
        id=event.id,
        source_id=event.source_id,
        source_type=event.source_type,
        kind=kind,
        says=str(says),
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
    return Why(says, answer)


def _matched(names: Sequence[str], named: bool) -> wire.AlertsMatched:
    return wire.AlertsMatched(count=len(names), names=tuple(names[: wire.MOST_NAMES]) if named else ())


def _says(event: Event, kind: ReasonKind, note: Note | None) -> Message:
    match kind:
        case "notice":
            says = "This is a notice of the service itself (%(kind)s), no news of the source: %(rest)s"
            return message(says, kind=str(event.alert_type), rest=event.content)
        case "page":
            return _page(event, note)
        case "new_entry":
            key, held = _identity(event, note), _HELD if RESET in event.tags else None
            if key is None:
                return joined([message("The feed held an entry that had not been seen before."), held])
            return joined([message("The feed held an entry that had not been seen before (%(key)s).", key=key), held])
        case "new_item":
            unread = event.unread if isinstance(event.unread, str) else None
            read = unread or message("Its own page was read for its text.")
            return joined([message("The list had an item whose address had not been on it before."), read])
        case "edited_entry":
            if (key := _identity(event, note)) is None:
                return message("An entry that was known by its identity had another text.")
            return message("An entry that was known by its identity (%(key)s) had another text.", key=key)
        case "frame":
            return message(
                "A frame was pushed that an alert, or the source's own filter, asks for, and it was no duplicate."
            )


def _page(event: Event, note: Note | None) -> Message:
    if note is None or note.score is None or note.bar is None:
        return joined([_diff(event), _NO_NOTE])
    scored = "The change scored %(score)s; the threshold is %(least)s."
    found = [message(scored, score=f"{note.score:.2f}", least=f"{note.bar:.2f}")]
    if heaviest := [_weighed(part) for part in note.parts if part.told]:
        found.append(message("Most of the score: %(rest)s.", rest=joined(heaviest[:3], ", ")))
    withheld = sum(not part.told for part in note.parts)
    if withheld == 1:
        found.append(message("%(count)s other difference did not count.", count=withheld))
    elif withheld:
        found.append(message("%(count)s other differences did not count.", count=withheld))
    return joined(found)


def _weighed(part: Part) -> Message:
    text, score = _cut(part.text), f"{part.score:.2f}"
    if part.came:
        return message("“%(text)s” added (%(score)s)", text=text, score=score)
    return message("“%(text)s” removed (%(score)s)", text=text, score=score)


def _diff(event: Event) -> Message:
    if not hasattr(event.diff, "added"):
        return message("The page changed.")
    came, went, altered = (len(getattr(event.diff, name)) for name in ("added", "removed", "changed"))
    says = "The page changed: blocks added (%(came)s), removed (%(went)s), altered (%(altered)s)."
    return message(says, came=came, went=went, altered=altered)


def _identity(event: Event, note: Note | None) -> str | None:
    for part in note.parts if note is not None else ():
        if part.told and part.text and event.title.startswith(part.text):
            return f"“{_cut(part.key)}”"
    return None


def _compared(kind: ReasonKind, note: Note | None, before: Before) -> Message | None:
    if kind == "page":
        if before.event_id is not None and before.at is not None:
            return message("It was compared with the page reported on %(at)s.", at=before.at)
        if before.at is not None:
            return message("It was compared with the page of the first check, on %(at)s.", at=before.at)
        return message("It was compared with the last reported page; that event has been deleted.")
    if kind in ("new_entry", "edited_entry"):
        if note is None:
            return _NO_NOTE
        return None if note.since is None else message("The previous check was on %(at)s.", at=note.since)
    return None


def _matched_alerts(matching: Matching, named: bool) -> Message | None:
    names, once = len(matching.names), len(matching.once)
    passed = message("%(count)s alerts had this story from an earlier event.", count=once) if once else None
    if once == 1:
        passed = message("%(count)s alert had this story from an earlier event.", count=once)
    if not names:
        return passed
    if not named:
        says = message("%(count)s alerts match it now.", count=names)
        return joined([message("%(count)s alert matches it now.", count=1) if names == 1 else says, passed])
    shown = ", ".join(f"“{_cut(name)}”" for name in matching.names[:3]) + (", .." if names > 3 else "")
    says = message("%(count)s alerts match it now: %(names)s.", count=names, names=shown)
    if names == 1:
        says = message("%(count)s alert matches it now: %(names)s.", count=names, names=shown)
    return joined([says, passed])


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + "…"


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


async def event_why(call: OperationContext, id: str, *, named: bool) -> Why:
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
