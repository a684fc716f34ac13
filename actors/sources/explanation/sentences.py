"""What is said to whoever asks why a text was not told: sentences from what is known. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from actors.content.messages.readings import Entry
from actors.content.messages.requests import Findings, Spot
from actors.content.wording.searching import holds
from actors.messages.views import Reason, SourceView
from actors.sources.polling.feed_notes import THERE
from storage.records.event import Event
from storage.records.identity import Millis
from storage.records.note import Note, Part
from storage.records.times import spoken

NOT_IN_MEMORY = "No note of the looks has it. Of a feed only identities are remembered: ask for a look now to see it."
MOST_RULES = 3
"""Rules by which a text was withheld that an answer names, of each the newest look."""
SHOWN_LOOKS = 5
SHOWN = 200
"""Characters of a block that an answer shows."""
_WORDS = {"told": "told", "churn": "no news", "held": "held", "failed": "failed"}
_BEST = ("told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look")


def best_first(reasons: Sequence[Reason]) -> list[Reason]:
    """Return reasons in the order in which they answer the question, each sort newest first.

    What an event told was not there before; what was told or withheld is not missing.
    """
    kinds = {reason.kind for reason in reasons}
    beside = {"there", "absent"} if "told" in kinds else {"absent"} if "withheld" in kinds else set()
    reasons = [reason for reason in reasons if reason.kind not in beside]
    return sorted(reasons, key=lambda reason: (_BEST.index(reason.kind), -(reason.at or 0)))


def told(event: Event, at: Millis) -> Reason:
    """Return that an event told it."""
    title = f" as “{event.title[:80]}”" if event.title else ""
    return Reason("told", f"It was told on {spoken(at)}{title} (event {event.id}).", at, event.id)


def noted(notes: Sequence[Note], wanted: str) -> Iterator[Reason]:
    """Yield what the notes say of a folded text, newest first: withheld by a rule, or there at the first look."""
    rules: set[str] = set()
    for note in reversed(notes):
        part = next((part for part in note.parts if not part.told and holds(part.text, wanted)), None)
        if part is None or part.rule in rules:
            continue
        rules.add(part.rule)
        if part.rule == THERE:
            yield Reason("there", f"{THERE[0].upper()}{THERE[1:]}, on {spoken(note.at)}.", note.at, text=part.text)
        else:
            yield Reason("withheld", _withheld(note, part, notes), note.at, text=part.text)
        if len(rules) == MOST_RULES:
            return


def _withheld(note: Note, part: Part, notes: Sequence[Note]) -> str:
    says = f"{'Seen' if part.came else 'Gone'} on {spoken(note.at)} and not told: {part.rule}"
    if note.bar is not None and part.score:
        says += f" (it weighed {part.score:.2f}, and from {note.bar:.2f} a change is told)"
    looks = [one for one in notes if one.parts and one.came not in ("baseline", "stretch")]
    often = sum(any(each.key == part.key for each in one.parts) for one in looks)
    if part.key and often > 1:
        says += f"; it came or went in {often} of the last {len(looks)} looks that found a difference"
    return says + "."


class Past(NamedTuple):
    """Since when a page is watched as it is now (another selector is another page), and whether all events are kept."""

    first: Millis
    is_whole: bool


def on_a_page(view: SourceView, found: Findings, past: Past, *, looked: bool) -> Iterator[Reason]:
    """Yield what a page's memory, and a look at it now, say of a text."""
    if found.trouble is not None:
        yield Reason("failed", f"Looked at now, it was not what one came for: {found.trouble}.")
    if found.now is not None:
        yield from _now(found.now, is_told=found.told is not None)
    elif found.elsewhere is not None:
        text = found.elsewhere.text[:SHOWN]
        yield Reason("outside", f"It is on the page now, outside of {_narrowing(view)}.", text=text)
    elif looked and found.trouble is None:
        yield Reason("absent", "Looked at now, it is not on the page.")
    if found.told is not None:
        yield Reason("there", _there(found, past), text=found.told.text[:SHOWN])
    elif not looked:
        yield Reason("absent", _absent(view, cut=found.cut))


def _now(spot: Spot, *, is_told: bool) -> Iterator[Reason]:
    """Yield what the place of a block on the page of today says."""
    text, here = spot.text[:SHOWN], f"It is on the page now, in block {spot.place},"
    if spot.aside:
        says = f"It is on the page now, but not as content ({spot.aside}); what stands there is never told."
        yield Reason("furniture", f"{says} A `selector` on it would watch it.", text=text)
    elif spot.known == "same" and not is_told:
        yield Reason("known", f"{here} and differs from what is known only in what changes by itself.", text=text)
    elif spot.known == "seen":
        yield Reason("known", f"{here} and a look has seen it without telling it: it is no news any more.", text=text)
    elif not is_told:
        yield Reason("due", f"{here} and is new: the next look that finds it weighs it.", text=text)


def _there(found: Findings, past: Past) -> str:
    place = found.told.place if found.told is not None else 0
    here = f"It is{' on the page now and' if found.now is not None else ''} in what is known of the page, block {place}"
    first = f"it was there at the first look, on {spoken(past.first)}, and that is told to nobody"
    if past.is_whole:
        return f"{here}, and no event told it: {first}."
    return f"{here}, and no event that is still kept told it: either {first}, or its event has been deleted since."


def _absent(view: SourceView, *, cut: bool) -> str:
    last = view.hot.last_success_at
    when = "" if last is None else f" as of the last look, on {spoken(last)}"
    says = f"It is not in what is known of the page{when}."
    if view.source.selector is not None or view.source.ignore:
        says += f" Only what is inside of {_narrowing(view)} is watched."
    else:
        says += " Menus, side bars and footers are not remembered."
    return says + (" The page is longer than what is remembered of it." if cut else "")


def _narrowing(view: SourceView) -> str:
    if view.source.selector is None:
        return "what `ignore` leaves"
    rest = " and `ignore`" if view.source.ignore else ""
    return f"the selector `{view.source.selector}`{rest}"


def in_a_feed(entry: Entry | None, known: Literal["new", "edited", "seen"]) -> Reason:
    """Return what a feed of today and its memory say of the first entry with a text."""
    if entry is None:
        return Reason("absent", "Looked at now, no entry of the feed has it.")
    title = entry.title or entry.content
    here = f"The entry “{title[:80]}” is in the feed now"
    if known == "seen":
        says = f"{here}, and has been seen before, by its identity (“{entry.key[:80]}”) and with this very text."
        return Reason("there", f"{says} Unless an event told it, it was there at the first look or held.", text=title)
    why = "its identity has never been seen" if known == "new" else "it says something else than when it was seen"
    return Reason("due", f"{here}, and {why}: the next look that finds it tells it.", text=title)


def on_a_link(view: SourceView, notes: Sequence[Note]) -> Reason:
    """Return what the notes of listening to a push source say: numbers, for nothing else is kept of a frame."""
    asked = "its own filter or an alert asks for it" if view.source.filter is not None else "an alert asks for it"
    says = f"A frame is told when {asked}; of others nothing is kept."
    seen = view.push
    if seen is not None and seen.frames:
        others = f"{seen.admitted} were told, {seen.filtered} nobody asked for, {seen.duplicates} had come before"
        says += (
            f" Since the service started {seen.frames} frames have come: {others}, {seen.unreadable} were unreadable."
        )
        return Reason("unasked", says)
    last = next((note for note in reversed(notes) if note.came == "stretch"), None)
    return Reason("unasked", says if last is None else f"{says} From {spoken(last.at)}: {_counts(last)}.")


def _counts(note: Note) -> str:
    return ", ".join(f"{count} {name}" for name, count in note.counts.items() if count)


def too_soon(wait: int, *, enabled: bool) -> str:
    """Return why there is no look now: `wait` is in milliseconds."""
    if not enabled:
        return "There was no look now: the source is disabled."
    return f"There was no look now: it was looked at just now, or asked us to wait. Again in {wait // 1000 + 1} s."


def looks(notes: Sequence[Note]) -> list[Reason]:
    """Return how the last noted looks went, newest first."""
    return [_look(note) for note in reversed(notes[-SHOWN_LOOKS:])]


def _look(note: Note) -> Reason:
    score = "" if note.score is None else f" (it weighed {note.score:.2f}; {note.bar or 0:.2f} is told)"
    word = f", {_WORDS[note.came]}" if note.came in _WORDS else ""
    counts = _counts(note) if note.came == "stretch" else ""
    return Reason("look", f"{spoken(note.at)}{word}: {note.reason or counts}{score}", note.at)


def state(view: SourceView, now: Millis) -> str:
    """Return how the watching stands: what is in its way, else when it looked and will look."""
    source, hot = view.source, view.hot
    if not source.enabled:
        return f"The source is disabled since {spoken(source.updated_at)}: it is not watched."
    due = "" if hot.next_look_at is None else f" The next look is due on {spoken(hot.next_look_at)}."
    failures = hot.breaker.failures
    if failures:
        last = "The last look" if failures == 1 else f"The last {failures} looks"
        rests = " It rests until then." if hot.breaker.state == "open" else ""
        return f"{last} failed: {hot.last_error or 'no reason is known'}.{due}{rests}"
    if view.overdue and hot.next_look_at is not None:
        return f"A look was due on {spoken(hot.next_look_at)} and has not happened yet: the source is overdue."
    if hot.not_before is not None and hot.not_before > now:
        return f"Its server asked for no look before {spoken(hot.not_before)}."
    if hot.last_look_at is None:
        return f"It has not been looked at yet.{due}"
    heard = "The last frame came" if source.type == "push" else "The last look was"
    return f"{heard} on {spoken(hot.last_look_at)}.{due}"
