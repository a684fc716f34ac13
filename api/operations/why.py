"""Why an event was emitted, for any face: from the event, its check's note, earlier events, and the alerts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import trio
from msgspec import UNSET

from actors.query import QueryError, Texts, UnknownLanguage, matches, parse, told_in
from api.operations import events
from api.operations.context import OperationContext
from api.operations.reasons import Before, Matching, kind_of, why
from api.schemas.why import EventWhy
from storage.interface.sources import Sources
from storage.records import note
from storage.records.alert import Alert
from storage.records.cursor import Filter
from storage.records.event import Event, Stored
from storage.records.identity import SourceId, millis_of, seq_at, seq_of
from storage.records.note import Note
from storage.records.tiers import Kind
from storage.records.times import parse_rfc3339

MOST_ALERTS = 2_000
"""Alerts to try on one event."""
_SLICE = 50
_event = msgspec.json.Decoder(Event)


async def notes_of(sources: Sources, source: SourceId) -> Sequence[Note]:
    """Return the notes of a source, oldest first; none if it is deleted."""
    stored = await sources.get(source)
    return note.read(note.opened(stored.base).notes) if stored is not None else ()


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
