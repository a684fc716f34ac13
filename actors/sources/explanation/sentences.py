"""Sentences that explain why a text was not reported. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actors.content.wording.words import holds
from actors.messages.views import Reason, SourceView
from storage.records.event import Event
from storage.records.identity import Millis
from storage.records.times import spoken
from storage.records.trail import Note, Part

THERE = "it was there at the first look"
"""The rule for text that was there already."""
MOST_RULES = 3
"""Withholding rules that an explanation names, each with its newest check."""
SHOWN_LOOKS = 5
SHOWN = 200
"""Characters shown of a block."""
_WORDS = {"told": "told", "churn": "no news", "held": "held", "failed": "failed"}
_BEST = ("told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look")


def best_first(reasons: Sequence[Reason]) -> list[Reason]:
    """Return reasons, the best answer first, each kind newest first.

    A reported text was not there before; a reported or withheld one is not missing.
    """
    kinds = {reason.kind for reason in reasons}
    beside = {"there", "absent"} if "told" in kinds else {"absent"} if "withheld" in kinds else set()
    reasons = [reason for reason in reasons if reason.kind not in beside]
    return sorted(reasons, key=lambda reason: (_BEST.index(reason.kind), -(reason.at or 0)))


def told(event: Event, at: Millis) -> Reason:
    title = f" as “{event.title[:80]}”" if event.title else ""
    return Reason("told", f"It was told on {spoken(at)}{title} (event {event.id}).", at, event.id)


def noted(notes: Sequence[Note], wanted: str) -> Iterator[Reason]:
    """Yield the notes on a folded text, newest first: withheld by a rule, or there at the first check."""
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
        says += f" (score {part.score:.2f}; a change is told from {note.bar:.2f})"
    looks = [one for one in notes if one.parts and one.came not in ("baseline", "stretch")]
    often = sum(any(each.key == part.key for each in one.parts) for one in looks)
    if part.key and often > 1:
        says += f"; it came or went in {often} of the last {len(looks)} looks that found a difference"
    return says + "."


def counts_of(note: Note) -> str:
    return ", ".join(f"{count} {name}" for name, count in note.counts.items() if count)


def too_soon(wait: int, *, enabled: bool) -> str:
    """Return why there is no check now: `wait` is in milliseconds."""
    if not enabled:
        return "There was no look now: the source is paused."
    return f"There was no look now: it was looked at just now, or asked us to wait. Again in {wait // 1000 + 1} s."


def looks(notes: Sequence[Note]) -> list[Reason]:
    """Return the last noted checks, newest first."""
    return [_look(note) for note in reversed(notes[-SHOWN_LOOKS:])]


def _look(note: Note) -> Reason:
    score = "" if note.score is None else f" (score {note.score:.2f}; told from {note.bar or 0:.2f})"
    word = f", {_WORDS[note.came]}" if note.came in _WORDS else ""
    counts = counts_of(note) if note.came == "stretch" else ""
    return Reason("look", f"{spoken(note.at)}{word}: {note.reason or counts}{score}", note.at)


def state(view: SourceView, now: Millis) -> str:
    """Return the state of watching: the obstacle, or else the times of the last and next check."""
    source, hot = view.source, view.hot
    if not source.enabled:
        return f"The source is paused since {spoken(source.updated_at)}: it is not watched."
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
    heard = "The last frame came" if not source.tier.polled else "The last look was"
    return f"{heard} on {spoken(hot.last_look_at)}.{due}"
