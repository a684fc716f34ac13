"""Sentences that explain why a text was not reported. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actors.content.wording.words import holds
from actors.messages.views import Reason, SourceView
from storage.records.event import Event
from storage.records.identity import Millis, spoken
from storage.records.message import Message, joined, message
from storage.records.trail import Note, Part

THERE = "it was there at the first check"
"""The rule for text of the baseline."""
STORED_THERE = (THERE, "it was there at the first look")
"""The rule as notes of today and of earlier versions have it."""
MOST_RULES = 3
"""Withholding rules that an explanation names, each with its newest check."""
SHOWN_LOOKS = 5
_WORDS = {"told": "reported", "churn": "nothing to report", "held": "held", "failed": "failed"}
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
    says = message("It was reported on %(at)s (event %(id)s).", at=at, id=event.id)
    if event.title:
        title = event.title[:80]
        says = message("It was reported on %(at)s as “%(title)s” (event %(id)s).", at=at, title=title, id=event.id)
    return Reason("told", says, at, event.id)


def noted(notes: Sequence[Note], wanted: str) -> Iterator[Reason]:
    """Yield the notes on a folded text, newest first: withheld by a rule, or there at the first check."""
    rules: set[str] = set()
    for note in reversed(notes):
        part = next((part for part in note.parts if not part.told and holds(part.text, wanted)), None)
        if part is None or part.rule in rules:
            continue
        rules.add(part.rule)
        if part.rule in STORED_THERE:
            says = message("It was there at the first check, on %(at)s.", at=note.at)
            yield Reason("there", says, note.at, text=part.text)
        else:
            yield Reason("withheld", _withheld(note, part, notes), note.at, text=part.text)
        if len(rules) == MOST_RULES:
            return


def _withheld(note: Note, part: Part, notes: Sequence[Note]) -> Message:
    says = message("Gone on %(at)s and not reported: %(reason)s", at=note.at, reason=part.rule)
    if part.came:
        says = message("Seen on %(at)s and not reported: %(reason)s", at=note.at, reason=part.rule)
    if note.bar is not None and part.score:
        scored = "%(rest)s (score %(score)s; the threshold is %(least)s)"
        says = message(scored, rest=says, score=f"{part.score:.2f}", least=f"{note.bar:.2f}")
    looks = [one for one in notes if one.parts and one.came not in ("baseline", "stretch")]
    often = sum(any(each.key == part.key for each in one.parts) for one in looks)
    if part.key and often > 1:
        restless = "%(rest)s; it was added or removed in %(count)s of the last %(looks)s checks with a difference"
        says = message(restless, rest=says, count=often, looks=len(looks))
    return joined([says, "."], "")


def counts_of(note: Note) -> str:
    return ", ".join(f"{count} {name}" for name, count in note.counts.items() if count)


def too_soon(wait: int, *, enabled: bool) -> Message:
    """Return why there is no check now: `wait` is in milliseconds."""
    if not enabled:
        return message("It was not checked now: the source is paused.")
    says = "It was not checked now: it was checked just now, or asked us to wait. Again in %(count)s s."
    return message(says, count=wait // 1000 + 1)


def looks(notes: Sequence[Note]) -> list[Reason]:
    """Return the last noted checks, newest first."""
    return [_look(note) for note in reversed(notes[-SHOWN_LOOKS:])]


def _look(note: Note) -> Reason:
    score = "" if note.score is None else f" (score {note.score:.2f}; threshold {note.bar or 0:.2f})"
    word = f", {_WORDS[note.came]}" if note.came in _WORDS else ""
    counts = counts_of(note) if note.came == "stretch" else ""
    return Reason("look", Message(f"{spoken(note.at)}{word}: {note.reason or counts}{score}"), note.at)


def state(view: SourceView, now: Millis) -> Message:
    """Return the state of watching: the obstacle, or else the times of the last and next check."""
    source, hot = view.source, view.hot
    if not source.enabled:
        return message("The source is paused since %(at)s: it is not watched.", at=source.updated_at)
    at = hot.next_look_at
    due = None if at is None else message("The next check is due on %(at)s.", at=at)
    if failures := hot.breaker.failures:
        why = hot.last_error or message("no reason is known")
        says = message("The last check failed: %(reason)s", reason=why)
        if failures > 1:
            says = message("The last %(count)s checks failed: %(reason)s", count=failures, reason=why)
        rests = message("It pauses until then.") if hot.breaker.state == "open" else None
        return joined([joined([says, "."], ""), due, rests])
    if view.overdue and at is not None:
        return message("A check was due on %(at)s and is late: the source is overdue.", at=at)
    if hot.not_before is not None and hot.not_before > now:
        return message("Its server asked for no check before %(at)s.", at=hot.not_before)
    if hot.last_look_at is None:
        return joined([message("It has not been checked yet."), due])
    if not source.tier.polled:
        return joined([message("The last frame arrived on %(at)s.", at=hot.last_look_at), due])
    return joined([message("The last check was on %(at)s.", at=hot.last_look_at), due])
