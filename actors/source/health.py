"""How a source is doing: a score from 0 to 1, a flag, and the sentence that explains it. Pure.

Reach is 1 until the third failure in a row, then falls with the time `t` since the first of them:
`max(0, 1 - ln(1 + t/30 min) / ln(1 + 72 h/30 min))`. A trouble that will not mend by itself (404, a certificate, a
page that is no feed any more), confirmed over a day, pulls the score to at most 0.3. A quiet source keeps 1.0:
silence costs nothing here. Throttling and our own network's troubles cost nothing either.
"""

from __future__ import annotations

import math

from actors.egress.failures import Blame
from storage.records.health import Flag, Health
from storage.records.identity import Millis

OK_FROM = 0.7
DEGRADED_FROM = 0.3
HYSTERESIS = 0.05
STUCK = 0.3
_HALF_HOUR = 1800.0
_THREE_DAYS = 72 * 3600.0
_DAY = 24 * 3600.0


def reach(seconds_down: float) -> float:
    """Return the reach score after so many seconds of nothing but failures.

    >>> [round(reach(h * 3600), 2) for h in (0, 1, 6, 24, 72)]
    [1.0, 0.78, 0.48, 0.22, 0.0]
    """
    return max(0.0, 1 - math.log1p(max(0.0, seconds_down) / _HALF_HOUR) / math.log1p(_THREE_DAYS / _HALF_HOUR))


def after_success(health: Health) -> Health:
    """Return the health after a look that worked, whether or not it brought anything."""
    if health.down_since is None and health.score == 1.0 and health.flag == "ok":
        return health
    return Health(score=1.0, flag="ok", reason="The last look worked.")


def after_failure(health: Health, blame: Blame, failures: int, now: Millis, why: str) -> Health:
    """Return the health after the `failures`-th failed look in a row, this one for `why`."""
    if blame in (Blame.LOCAL, Blame.THROTTLED):
        return health
    down_since = now if health.down_since is None else min(now, health.down_since)
    down = (now - down_since) / 1000
    score = reach(down) if failures >= 3 else min(1.0, health.score)
    if blame is Blame.REMOTE_PERMANENT and failures >= 3 and down >= _DAY:
        score = min(score, STUCK)
    score = round(score, 4)
    return Health(score, flag_of(score, health.flag), _reason(score, failures, down, why), down_since)


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


def _reason(score: float, failures: int, down: float, why: str) -> str:
    if score == 1.0:
        return f"The last look failed: {why}"
    return f"{failures} looks in a row have failed, for {_span(down)}: {why}"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 2 * _DAY else f"{seconds / _DAY:.0f} d"
