"""The effect of a connection on a push source's memory, and a user's replies to a server's pings. Pure.

A handshake proves nothing: a server may accept and drop. A minute of life or an admitted frame proves a connection;
only then are earlier failures over. From then on each minute counts like one check of a polled source: its frames,
admitted or not, are the source's yield, and minutes without any are its silence, judged by its own past.

A `*` in the pattern matches any characters, and a `*` in the text repeats them: `{"ping":*} -> {"pong":*}`. White
space around JSON's punctuation is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from actors.egress.failures import Blame, CheckFailed
from actors.sources.checks import progress
from actors.sources.health import score
from actors.sources.schedule import silence
from actors.sources.schedule.cadence import Limits
from storage.records.checks import Verdict, add_row, check_row
from storage.records.identity import Millis, day_of
from storage.records.source import BreakerState, SourceRuntime, scored

FIRST_DELAY: Final = 1.0
LONGEST_DELAY: Final = 300.0
_MOST_DOUBLINGS: Final = 10


class Minute(Struct, frozen=True):
    """The frames of `seconds` of a proved connection, at most a minute. why: the reason for an unreadable frame."""

    seconds: float
    frames: int
    unreadable: int
    why: str = ""


class Session(Struct, frozen=True):
    """The totals of one connection, from its handshake to its end."""

    frames: int
    admitted: int
    size: int
    seconds: float


def after_connect(
    hot: SourceRuntime, now: Millis, ms: int, status: int = 101, *, private: bool = False
) -> SourceRuntime:
    row = check_row(now, Verdict.UNCHANGED, status, ms=ms)
    since = progress.private_since(hot, now) if private else None
    return replace(
        hot,
        trail=add_row(hot.trail, row),
        private=private,
        private_since=since,
        last_look_at=now,
        last_success_at=now,
        next_look_at=None,
        last_status=status,
        last_error=None,
    )


def after_minute(hot: SourceRuntime, minute: Minute, now: Millis) -> SourceRuntime:
    defect = minute.unreadable > 0 and minute.unreadable >= minute.frames
    silences = silence.after_watching(silence.decode(hot.pulse), minute.seconds, defect=defect)
    if minute.frames > minute.unreadable:
        silences = silence.after_change(silences)
    health, silences = score.after_success(hot.health, silences, why=minute.why if defect else "")
    scores, pulse = scored(hot.scores, day_of(now), health.score), silence.encode(silences)
    return replace(
        hot,
        breaker=BreakerState(),
        health=health,
        scores=scores,
        pulse=pulse,
        not_before=None,
        last_look_at=now,
        last_success_at=now,
    )


def after_close(hot: SourceRuntime, session: Session, now: Millis, status: int = 101) -> SourceRuntime:
    verdict = Verdict.UNCHANGED
    if session.frames:
        verdict = Verdict.CHANGED if session.admitted else Verdict.NOTHING_TO_TELL
    return _with_row(hot, verdict, status, session, now)


def after_failure(  # noqa: PLR0917  # as progress.failed
    hot: SourceRuntime, failure: CheckFailed, session: Session, now: Millis, limits: Limits, draw: float
) -> SourceRuntime:
    after = progress.failed(hot, failure, now, limits, draw)
    return _with_row(after, Verdict[failure.blame.name], failure.status, session, now)


def delay(hot: SourceRuntime, streak: int, blame: Blame | None, now: Millis, draw: float) -> float:
    """Return the seconds before the next attempt: full jitter from 1 s to 5 min, by consecutive failures, or the
    server's longer wish, or for permanent failures the breaker's longer wait.
    """
    ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(streak + 1, _MOST_DOUBLINGS))
    wait = FIRST_DELAY + draw * (ceiling - FIRST_DELAY)
    if hot.not_before is not None:
        wait = max(wait, (hot.not_before - now) / 1000)
    if blame is Blame.REMOTE_PERMANENT and hot.breaker.retry_at is not None:
        wait = max(wait, (hot.breaker.retry_at - now) / 1000)
    return wait


def scheduled(hot: SourceRuntime, due: Millis) -> SourceRuntime:
    breaker = hot.breaker if hot.breaker.state == "closed" else replace(hot.breaker, retry_at=due)
    return replace(hot, next_look_at=due, breaker=breaker)


def _with_row(hot: SourceRuntime, verdict: Verdict, status: int | None, session: Session, now: Millis) -> SourceRuntime:
    row = check_row(now, verdict, status, size=session.size, ms=round(session.seconds * 1000))
    return replace(hot, trail=add_row(hot.trail, row))


ARROW: Final = " -> "
_LONGEST: Final = 1_000  # longest ping, in characters
_SIGNS = re.compile(r"\s*([{}\[\]:,])\s*")


@lru_cache(maxsize=256)
def _rule(rule: str) -> tuple[re.Pattern[str], str]:
    pattern, _, text = rule.partition(ARROW)
    before, star, after = _SIGNS.sub(r"\1", pattern.strip()).partition("*")
    return re.compile(re.escape(before) + (f"(.+){re.escape(after)}" if star else "()"), re.DOTALL), text.strip()


def is_rule(rule: str) -> bool:
    """Return whether a rule is valid.

    >>> is_rule('{"ping":*} -> {"pong":*}'), is_rule("2 -> 3"), is_rule("2"), is_rule("*-* -> x")
    (True, True, False, False)
    """
    pattern, arrow, text = rule.partition(ARROW)
    return bool(pattern.strip() and arrow and text.strip()) and pattern.count("*") <= 1


def reply_to(message: str, rules: Sequence[str]) -> str | None:
    """Return the reply to a message; None if no rule matches.

    >>> reply_to('{"ping": 17}', ("2 -> 3", '{"ping":*} -> {"pong":*}'))
    '{"pong":17}'
    """
    if not rules or len(message) > _LONGEST:
        return None
    normalized = _SIGNS.sub(r"\1", message.strip())
    for rule in rules:
        pattern, text = _rule(rule)
        if found := pattern.fullmatch(normalized):
            return text.replace("*", found[1])
    return None
