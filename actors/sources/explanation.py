"""A source's score and the time of its next check in sentences, and why a text was not reported. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from actors.content.wording.words import holds
from actors.hours import open_from
from actors.inheritance import origins_of
from actors.messages.views import HealthPart, Reason, SourceExamination, SourceView
from actors.sources.health.score import FAILURES, defective, in_a_row, reach, silent, span, stuck
from actors.sources.schedule import cadence, silence
from actors.sources.schedule.budgets import RENDERED
from actors.sources.schedule.cadence import Hints, Limits
from actors.sources.schedule.silence import FEWEST_GAPS, WATCHED_LEAST, SilenceState
from storage.records.checks import Note, Part, Verdict, read_rows
from storage.records.event import Event
from storage.records.identity import Millis, spoken
from storage.records.message import Message, joined, message
from storage.records.source import Cause, SourceRuntime

_ROUGHLY: Final = 1.2  # a wait within this factor of the floor or the ceiling counts as that
_FEW: Final = 2.0  # changes needed before a rate is worth showing
_COSTLY: Final = message(
    "A browser renders it: each check costs as much as %(count)s plain ones, so there are fewer.", count=RENDERED
)
_ORDER: Final[tuple[Cause, ...]] = ("reach", "yield", "partial", "stuck")
_NO_PENALTY: Final[dict[Cause, Message]] = {
    "reach": message("It answers."),
    "yield": message("Its silence is normal for it."),
    "partial": message("All of its last answers could be read."),
    "stuck": message("It has no permanent error."),
}
_UNKNOWN: Final = message("Too little is known of its usual pace to judge a silence.")


def examine(view: SourceView, limits: Limits, now: Millis) -> SourceExamination:
    pace = cadence.decode(view.hot.pace, view.hot.interval)
    gap = 1 / pace.rhythm.rate if pace.rhythm.events >= _FEW else None
    return SourceExamination(view, health_parts(view.hot), next_check_reason(view, limits, pace.hints, gap, now), gap)


def health_parts(hot: SourceRuntime) -> tuple[HealthPart, ...]:
    at, silences, why = Millis(hot.last_look_at or 0), silence.decode(hot.pulse), hot.last_error or ""
    parts = (silent(silences), defective(silences, why), stuck(silences, at, why), _reach(hot, at, why))
    by_cause = {part.cause: part for part in parts}
    return tuple(_or_well(by_cause[cause], silences) for cause in _ORDER)


def _reach(hot: SourceRuntime, at: Millis, why: str) -> HealthPart:
    health, failures = hot.health, hot.breaker.failures
    is_unreadable = any(row.verdict is Verdict.CONTENT for row in read_rows(hot.trail)[-1:])
    if health.down_since is None or failures < FAILURES or is_unreadable:
        return HealthPart("reach", 1.0, _NO_PENALTY["reach"])
    down = (at - health.down_since) / 1000
    return HealthPart("reach", reach(down), in_a_row(failures, down, why))


def _or_well(part: HealthPart, silences: SilenceState) -> HealthPart:
    if part.left < 1.0:
        return part
    if part.cause == "yield" and (len(silences.gaps) < FEWEST_GAPS or silences.watched < WATCHED_LEAST):
        return HealthPart("yield", 1.0, _UNKNOWN)
    return HealthPart(part.cause, 1.0, _NO_PENALTY[part.cause])


def next_check_reason(view: SourceView, limits: Limits, hints: Hints, gap: float | None, now: Millis) -> Message:
    """Return the reason for the time of the next check. `gap`: mean seconds between changes, None if unknown."""
    source, hot = view.effective, view.hot
    if not source.enabled:
        return message("It is paused: there is no next check.")
    if not source.tier.polled:
        return _connection(view)
    if hot.last_look_at is None or hot.next_look_at is None:
        return message("It has not been checked yet; the first check waits for its host's turn.")
    if view.queue_position:
        text = "%(count)s checks of the same host come first: one host gets at most one request a second."
        return message(text, count=view.queue_position)
    if view.overdue:
        return message("A check was due on %(at)s and is late.", at=hot.next_look_at)
    if (hot.not_before or 0) > hot.last_look_at:
        return message("Its server asked for fewer requests: no check before %(at)s.", at=hot.not_before or 0)
    if failures := hot.breaker.failures:
        if hot.breaker.state == "open":
            if failures == 1:
                return message(
                    "The last check failed, so it pauses: longer after each failure, at most 36 min. Then one check "
                    "retries."
                )
            return message(
                "The last %(count)s checks failed, so it pauses: longer after each failure, at most 36 min. Then one "
                "check retries.",
                count=failures,
            )
        return message("The last check failed; it is retried after about a minute.")
    due = hot.next_look_at
    if source.hours is not None and open_from(limits.hours, Millis(due - 1000)) >= due:  # a second earlier is outside
        return message("It is checked only in these hours: %(hours)s.", hours=source.hours)
    if limits.schedule is not None:
        every = span(limits.schedule)
        if tags := origins_of(source).get("schedule"):
            text = "Its tag %(tag)s has set a fixed interval of %(span)s, give or take 5 %%."
            return message(text, tag=tags[0], span=every)
        return message("You have set a fixed interval of %(span)s, give or take 5 %%.", span=every)
    return joined([_learned_reason(hot, limits, hints, gap), _COSTLY if hot.rendered else None])


def _connection(view: SourceView) -> Message:
    if view.push is not None and view.push.connected_since is not None:
        return message("Connected since %(at)s: frames arrive by themselves.", at=view.push.connected_since)
    if view.hot.next_look_at is None:
        return message("Connecting.")
    return message("It reconnects on %(at)s, later with each failure in a row.", at=view.hot.next_look_at)


def _learned_reason(hot: SourceRuntime, limits: Limits, hints: Hints, gap: float | None) -> Message:
    wait = ((hot.next_look_at or 0) - (hot.last_look_at or 0)) / 1000
    requested = max(hints.max_age, hints.ttl)
    if wait < hot.interval * 0.7 and wait <= limits.floor * _ROUGHLY:
        return message("The last check was uncertain; another one a minute later decides.")
    if requested > hot.interval:
        every = span(min(requested, limits.ceiling))
        if requested == hints.ttl:
            return message("A check every %(span)s, as its feed asks.", span=every)
        return message("A check every %(span)s: its answers are valid for that long (Cache-Control).", span=every)
    if (hints.skip_hours or hints.skip_days) and wait > hot.interval * _ROUGHLY:
        return message("Its feed names hours or days without checks, and it is such a time now.")
    changes = None if gap is None else message("It changes about every %(span)s on average.", span=span(gap))
    if wait >= limits.ceiling / _ROUGHLY:
        text = "It changes so rarely that a check every %(span)s, the longest interval, is enough."
        return joined([message(text, span=span(limits.ceiling)), changes])
    if gap is None:
        return message("Its pace is not known yet. The next check is after %(span)s.", span=span(wait))
    if wait <= limits.floor * _ROUGHLY:
        return joined([message("A change is likely now: it is checked as often as politeness allows."), changes])
    text = "It is checked about every %(span)s, learned from the hours and days of its changes."
    return joined([message(text, span=span(wait)), changes])


IN_BASELINE = "it was there at the first check"
BASELINE_RULES = (IN_BASELINE, "it was there at the first look")
"""The rule as notes of today and of earlier versions have it."""
MOST_RULES = 3  # withholding rules that an explanation names, each with its newest check
SHOWN_CHECKS = 5
_WORDS = {"told": "reported", "churn": "nothing to report", "held": "held", "failed": "failed"}
_BEST = ("told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look")


def best_first(reasons: Sequence[Reason]) -> list[Reason]:
    """Return reasons, the best kind first, each newest first. A reported text was not there before or missing."""
    kinds = {reason.kind for reason in reasons}
    redundant = {"there", "absent"} if "told" in kinds else {"absent"} if "withheld" in kinds else set()
    reasons = [reason for reason in reasons if reason.kind not in redundant]
    return sorted(reasons, key=lambda reason: (_BEST.index(reason.kind), -(reason.at or 0)))


def reported_reason(event: Event, at: Millis) -> Reason:
    reason = message("It was reported on %(at)s (event %(id)s).", at=at, id=event.id)
    if event.title:
        title = event.title[:80]
        reason = message("It was reported on %(at)s as “%(title)s” (event %(id)s).", at=at, title=title, id=event.id)
    return Reason("told", reason, at, event.id)


def note_reasons(notes: Sequence[Note], text: str) -> Iterator[Reason]:
    rules: set[str] = set()
    for note in reversed(notes):
        part = next((part for part in note.parts if not part.told and holds(part.text, text)), None)
        if part is None or part.rule in rules:
            continue
        rules.add(part.rule)
        if part.rule in BASELINE_RULES:
            reason = message("It was there at the first check, on %(at)s.", at=note.at)
            yield Reason("there", reason, note.at, text=part.text)
        else:
            yield Reason("withheld", _withheld(note, part, notes), note.at, text=part.text)
        if len(rules) == MOST_RULES:
            return


def _withheld(note: Note, part: Part, notes: Sequence[Note]) -> Message:
    reason = message("Gone on %(at)s and not reported: %(reason)s", at=note.at, reason=part.rule)
    if part.came:
        reason = message("Seen on %(at)s and not reported: %(reason)s", at=note.at, reason=part.rule)
    if note.bar is not None and part.score:
        text = "%(rest)s (score %(score)s; the threshold is %(least)s)"
        reason = message(text, rest=reason, score=f"{part.score:.2f}", least=f"{note.bar:.2f}")
    checks = [note for note in notes if note.parts and note.came not in ("baseline", "stretch")]
    count = sum(any(each.key == part.key for each in note.parts) for note in checks)
    if part.key and count > 1:
        restless = "%(rest)s; it was added or removed in %(count)s of the last %(looks)s checks with a difference"
        reason = message(restless, rest=reason, count=count, looks=len(checks))
    return joined([reason, "."], "")


def counts_of(note: Note) -> str:
    return ", ".join(f"{count} {name}" for name, count in note.counts.items() if count)


def too_soon(wait: int, *, enabled: bool) -> Message:
    """Return why there is no check now: `wait` is in milliseconds."""
    if not enabled:
        return message("It was not checked now: the source is paused.")
    text = "It was not checked now: it was checked just now, or asked us to wait. Try again in %(count)s s."
    return message(text, count=wait // 1000 + 1)


def check_reasons(notes: Sequence[Note]) -> Iterator[Reason]:
    for note in reversed(notes[-SHOWN_CHECKS:]):
        score = "" if note.score is None else f" (score {note.score:.2f}; threshold {note.bar or 0:.2f})"
        word = f", {_WORDS[note.came]}" if note.came in _WORDS else ""
        counts = counts_of(note) if note.came == "stretch" else ""
        yield Reason("look", Message(f"{spoken(note.at)}{word}: {note.reason or counts}{score}"), note.at)


def state_text(view: SourceView, now: Millis) -> Message:
    source, hot = view.source, view.hot
    if not source.enabled:
        return message("The source is paused since %(at)s: it is not watched.", at=source.updated_at)
    at = hot.next_look_at
    due = None if at is None else message("The next check is due on %(at)s.", at=at)
    if failures := hot.breaker.failures:
        reason = hot.last_error or message("no reason is known")
        says = message("The last check failed: %(reason)s", reason=reason)
        if failures > 1:
            says = message("The last %(count)s checks failed: %(reason)s", count=failures, reason=reason)
        pause = message("It pauses until then.") if hot.breaker.state == "open" else None
        return joined([joined([says, "."], ""), due, pause])
    if view.overdue and at is not None:
        return message("A check was due on %(at)s and is late: the source is overdue.", at=at)
    if hot.not_before is not None and hot.not_before > now:
        return message("Its server asked for no check before %(at)s.", at=hot.not_before)
    if hot.last_look_at is None:
        return joined([message("It has not been checked yet."), due])
    if not source.tier.polled:
        return joined([message("The last frame arrived on %(at)s.", at=hot.last_look_at), due])
    return joined([message("The last check was on %(at)s.", at=hot.last_look_at), due])
