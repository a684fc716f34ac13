"""Why an event was emitted, as a sentence and in parts: from the event, its check's note, and earlier events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import UNSET

from api.schemas import why as wire
from storage.records.event import RESET, Event
from storage.records.identity import Millis
from storage.records.note import Note, Part
from storage.records.times import rfc3339, spoken

Kind = Literal["page", "new_item", "new_entry", "edited_entry", "frame", "notice"]
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


def kind_of(event: Event) -> Kind:
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
        says=" ".join(filter(None, (_says(event, kind, note), _compared(kind, note, before), _alerts(alerts, named)))),
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


def _says(event: Event, kind: Kind, note: Note | None) -> str:
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


def _compared(kind: Kind, note: Note | None, before: Before) -> str:
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


def _alerts(matching: Matching, named: bool) -> str:
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
