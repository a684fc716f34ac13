"""The health of a source: a score from 0 to 1, a flag, and the sentence that explains it. Pure.

    score = min(reach, 0.2 + 0.8 * yield) * (1 - 0.5 * partial)

- *Reach* is 1 until the third failure in a row, then falls with the time `t` since the first of them:
  `max(0, 1 - ln(1 + t/30 min) / ln(1 + 72 h/30 min))`. An answer, changed or not, resets it.
- *Yield* falls when the source is silent for longer than its own past explains: with S, the chance of such a silence
  (`silence`), it is 1 down to S = 1 % and 0 from S = 1e-6, on a logarithmic scale. Alone it makes a source degraded at
  S = 3.2e-4 and rotten at 3.2e-6. A source that was always quiet keeps 1.0: its usual silence costs nothing.
- *Partial* is the share of checks with an unreadable answer.
- *Stuck*: a permanent trouble (404, a certificate, a page that is no longer a feed), seen by three checks in a row or
  more over a day, sets yield to 0.

Throttling and our own network's troubles cost nothing. A flag changes when two checks in a row agree, and climbs only
`HYSTERESIS` above where it fell; but an answer ends an outage at once.
"""

from __future__ import annotations

import math
from typing import Final

from msgspec.structs import replace

from actors.egress.failures import Blame
from actors.messages.views import HealthPart
from actors.sources.schedule.silence import WINDOW, SilenceState, silence_chance
from storage.records.identity import Millis
from storage.records.message import Message, joined, message
from storage.records.source import RANK, Flag, Health

OK_FROM, DEGRADED_FROM, HYSTERESIS = 0.7, 0.3, 0.05
LEAST_WITH_REACH: Final = 0.2  # the score of a source that answers but will yield nothing more
LIKELY, UNTHINKABLE = 1e-2, 1e-6  # chances of a silence: where it starts to count, and where it counts in full
FAILURES: Final = 3
_SUCCEEDED: Final = message("The last check succeeded.")
_HALF_HOUR = 1800.0
_THREE_DAYS = 72 * 3600.0
_DAY = 24 * 3600.0
_PERMANENT: Final = (Blame.REMOTE_PERMANENT, Blame.CONTENT)
_ENDED_BY_SUCCESS: Final = ("reach", "stuck")


def reach(seconds_down: float) -> float:
    """Return the reach score after this many seconds of failures.

    >>> [round(reach(h * 3600), 2) for h in (0, 1, 6, 24, 72)]
    [1.0, 0.78, 0.48, 0.22, 0.0]
    """
    return max(0.0, 1 - math.log1p(max(0.0, seconds_down) / _HALF_HOUR) / math.log1p(_THREE_DAYS / _HALF_HOUR))


def yield_of(chance: float) -> float:
    """Return the yield score of a silence with this chance.

    >>> [round(yield_of(chance), 2) for chance in (1.0, 1e-2, 1e-4, 1e-6, 0.0)]
    [1.0, 1.0, 0.5, 0.0, 0.0]
    """
    return min(1.0, max(0.0, math.log(max(chance, 1e-300) / UNTHINKABLE) / math.log(LIKELY / UNTHINKABLE)))


def after_success(
    health: Health, silences: SilenceState, remark: str | None = "", why: str = ""
) -> tuple[Health, SilenceState]:
    """Return the health and its memory. remark: a fact that costs nothing; None: as before. why: it was unreadable."""
    if silences.confirmed:
        silences = replace(silences, confirmed=0)
    penalties = [silent(silences), defective(silences, why)]
    if health.cause in _ENDED_BY_SUCCESS and health.flag != "ok":
        # An answer needs no second one to confirm that the source answers.
        silences = replace(silences, waiting="ok")
    if remark is None:
        remark = health.remark
    after, silences = _combined(health, silences, penalties, joined([_SUCCEEDED, remark]), None)
    return (replace(after, remark=remark) if remark and after.cause == "none" else after), silences


def after_failure(  # noqa: PLR0917  # what, how, when and why
    health: Health, silences: SilenceState, blame: Blame, failures: int, now: Millis, reason_text: str
) -> tuple[Health, SilenceState]:
    if blame is Blame.LOCAL:
        return health, silences
    if blame is Blame.THROTTLED:
        if health.cause == "none":
            text = "The server asked for fewer requests, which does not lower the score: %(reason)s"
            health = health.explained(message(text, reason=reason_text))
        return health, silences
    silences = _with_confirmation(silences, now) if blame in _PERMANENT else replace(silences, confirmed=0)
    down_since = now if health.down_since is None else min(now, health.down_since)
    down = (now - down_since) / 1000
    penalties = [silent(silences), defective(silences, reason_text), stuck(silences, now, reason_text)]
    if blame is not Blame.CONTENT and failures >= FAILURES:
        penalties.append(HealthPart("reach", reach(down), in_a_row(failures, down, reason_text)))
    reason = message("The last check failed: %(reason)s", reason=reason_text)
    return _combined(health, silences, penalties, reason, down_since)


def in_a_row(failures: int, seconds: float, why: str) -> Message:
    text = "%(failures)s checks in a row have failed, for %(span)s: %(reason)s"
    return message(text, failures=failures, span=span(seconds), reason=why)


def flag_of(score: float, before: Flag) -> Flag:
    """Return the flag of a score; climbing back takes `HYSTERESIS` more than falling did.

    >>> flag_of(0.72, "ok"), flag_of(0.72, "degraded"), flag_of(0.75, "degraded"), flag_of(0.1, "ok")
    ('ok', 'degraded', 'ok', 'rotten')
    """
    climb_ok = OK_FROM + (HYSTERESIS if before != "ok" else 0.0)
    climb_degraded = DEGRADED_FROM + (HYSTERESIS if before == "rotten" else 0.0)
    if score >= climb_ok:
        return "ok"
    return "degraded" if score >= climb_degraded else "rotten"


def _combined(
    health: Health, silences: SilenceState, penalties: list[HealthPart], otherwise: Message, down_since: Millis | None
) -> tuple[Health, SilenceState]:
    """Combine the penalties. The most severe one gives the reason."""
    worst = min(penalties, key=lambda penalty: penalty.left)
    other = min(penalty.left for penalty in penalties if penalty.cause != "partial")
    score = round(other * min(penalty.left for penalty in penalties if penalty.cause == "partial"), 4)
    cause, reason = (worst.cause, worst.says) if score < 1.0 else ("none", otherwise)
    flag, waiting = _debounced(health.flag, flag_of(score, health.flag), silences.waiting)
    if waiting != silences.waiting:
        silences = replace(silences, waiting=waiting)
    return Health(score, flag, "", down_since, cause, health.told).explained(reason), silences


def _debounced(flag: Flag, new_flag: Flag, waiting: Flag | None) -> tuple[Flag, Flag | None]:
    """Return the flag to show and the pending one: two checks in a row must agree on the direction."""
    if new_flag == flag:
        return flag, None
    is_same_direction = waiting is not None and (RANK[waiting] > RANK[flag]) == (RANK[new_flag] > RANK[flag])
    return (new_flag, None) if is_same_direction else (flag, new_flag)


def silent(silences: SilenceState) -> HealthPart:
    chance = silence_chance(silences)
    left = LEAST_WITH_REACH + (1 - LEAST_WITH_REACH) * yield_of(chance)
    odds = f"1 in {1 / chance:,.0f}" if chance > 1e-9 else "less than 1 in a billion"
    text = "Silent for %(span)s; the chance of that at its usual pace is %(odds)s."
    return HealthPart("yield", left, message(text, span=span(silences.age), odds=odds))


def defective(silences: SilenceState, why: str) -> HealthPart:
    bad = silences.defects.bit_count()
    reason = message("%(bad)s of the last %(all)s answers could not be read.", bad=bad, all=WINDOW)
    if why:
        text = "%(bad)s of the last %(all)s answers could not be read: %(reason)s"
        reason = message(text, bad=bad, all=WINDOW, reason=why)
    return HealthPart("partial", 1 - 0.5 * silences.partial, reason)


def stuck(silences: SilenceState, now: Millis, why: str) -> HealthPart:
    seconds = (now - silences.stuck_since) / 1000
    is_stuck = silences.confirmed >= FAILURES and seconds >= _DAY
    text = "It needs a person: %(looks)s checks in %(span)s failed: %(reason)s"
    reason = message(text, looks=silences.confirmed, span=span(seconds), reason=why)
    return HealthPart("stuck", LEAST_WITH_REACH if is_stuck else 1.0, reason)


def _with_confirmation(silences: SilenceState, now: Millis) -> SilenceState:
    since = silences.stuck_since if silences.confirmed else now
    return replace(silences, confirmed=min(255, silences.confirmed + 1), stuck_since=min(now, since))


def span(seconds: float) -> Message:
    """Return a time in a fitting unit.

    >>> [str(span(seconds)) for seconds in (45, 1800, 7200, 864000)]
    ['45 s', '30 min', '2 h', '10 d']
    """
    if seconds < 90:
        return message("%(count)s s", count=f"{seconds:.0f}")
    if seconds < 5400:
        return message("%(count)s min", count=f"{seconds / 60:.0f}")
    if seconds < 2 * _DAY:
        return message("%(count)s h", count=f"{seconds / 3600:.0f}")
    return message("%(count)s d", count=f"{seconds / _DAY:.0f}")
