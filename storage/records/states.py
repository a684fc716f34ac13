"""A source's health and breaker, and the names of states for people.

Dashboard, console and commands take their words from `states.toml`, and `docs/states.md` is generated from it, so a
state has the same name everywhere. The keys are the names in code and API.

Consecutive days of equal score are one run, so a healthy source has a single run; days without a check are in no run.
The scores travel in the source's lazily saved state, like the trail, and cause no write by themselves.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, get_args

from msgspec import Struct, toml
from msgspec.structs import replace

from storage.records.identity import Millis
from storage.records.message import Message
from storage.records.trail import Verdict

Flag = Literal["ok", "degraded", "rotten"]
Cause = Literal["none", "reach", "yield", "partial", "stuck"]
"""The main reason for a low score: failures, silence, unreadable responses, or a problem that needs a person."""
RANK: dict[Flag, int] = {"ok": 0, "degraded": 1, "rotten": 2}


class OpenNotices(Struct, frozen=True):
    """The notices about the present trouble, and the time of the last.

    failing: the longest `notice_after`, in seconds, whose alerts got `source_failing`; None: no alert did.
    quiet: `source_quiet` was sent.
    """

    at: Millis
    failing: int | None = None
    quiet: bool = False


class Health(Struct, frozen=True):
    """A score from 0 to 1 with the sentence that explains it.

    `down_since` is the first of the present run of failures. `told` None: no notice is open. `remark`: a note on the
    page that does not lower the score, part of the reason. `said`: the reason with its values, if it has any.
    """

    score: float = 1.0
    flag: Flag = "ok"
    reason: str = "No check has failed."
    down_since: Millis | None = None
    cause: Cause = "none"
    told: OpenNotices | None = None
    remark: str = ""
    said: Message | None = None

    @property
    def words(self) -> Message | str:
        return self.said or self.reason

    def explained(self, reason: Message) -> Health:
        return replace(self, reason=str(reason), said=reason if reason.values else None)


class BreakerState(Struct, frozen=True):
    """The circuit breaker's persistent part: its state, failures in a row, times opened in a row, when it may retry."""

    state: Literal["closed", "open", "half-open"] = "closed"
    failures: int = 0
    opened: int = 0
    retry_at: Millis | None = None


DAYS = 90
_VERSION = b"\x01"
_RUN = struct.Struct(">HBB")
"""First day (since 1970, UTC), number of days, and their worst score in hundredths."""


def scored(packed: bytes, day: int, score: float) -> bytes:
    """Record a day's score; return `packed` itself if the day's worst score stays the same.

    A day before the newest one (the clock was set back) counts as the newest.

    >>> read(scored(scored(b"", 20_000, 1.0), 20_000, 0.25))
    {20000: 0.25}
    """
    worst = min(100, max(0, round(100 * score)))
    runs = _runs(packed)
    if not runs:
        return _packed([(day, 1, worst)])
    first, days, known = runs[-1]
    newest = first + days - 1
    if day <= newest:
        if worst >= known:
            return packed
        rest = [(first, days - 1, known)] if days > 1 else []
        return _packed([*runs[:-1], *rest, (newest, 1, worst)])
    if day == newest + 1 and worst == known:
        runs[-1] = first, days + 1, known
    else:
        runs.append((day, 1, worst))
    oldest, kept = day - DAYS + 1, []
    for first, days, worst in runs:
        gone = max(0, oldest - first)
        if days > gone:
            kept.append((first + gone, days - gone, worst))
    return _packed(kept)


def read(packed: bytes) -> dict[int, float]:
    """Return the worst score by day, oldest first; empty for another version."""
    return {first + at: worst / 100 for first, days, worst in _runs(packed) for at in range(days)}


def _runs(packed: bytes) -> list[tuple[int, int, int]]:
    if packed[:1] != _VERSION or (len(packed) - 1) % _RUN.size:
        return []
    return list(_RUN.iter_unpack(packed[1:]))


def _packed(runs: list[tuple[int, int, int]]) -> bytes:
    return _VERSION + b"".join([_RUN.pack(*run) for run in runs])


Mood = Literal["good", "calm", "warn", "bad"]
"""The colour of a state: green, blue, yellow, red."""
SourceState = Literal["failing", "resting", "throttled", "unrendered", "overdue", "new", "ok", "paused"]
"""The present state of a source, exactly one; see `storage.records.source`. Worst first."""
PartState = Literal[
    "quarantined",
    "backoff",
    "failing",
    "resting",
    "throttled",
    "unrendered",
    "overdue",
    "ended",
    "stopping",
    "starting",
    "held",
    "new",
    "ok",
    "paused",
]
AlertState = Literal["active", "paused"]
DestinationState = Literal[
    "disabled", "failing", "active", "unconfirmed", "needs_secret", "last_failed", "unused", "paused"
]


class State(NamedTuple):
    """A state for people. short: for narrow columns, in capitals if it needs attention."""

    word: str
    short: str
    mood: Mood
    says: str


_TABLES = toml.decode(files("storage.records").joinpath("states.toml").read_bytes(), type=dict[str, dict[Any, State]])
SOURCES: Final[Mapping[SourceState, State]] = _TABLES["sources"]
HEALTH: Final[Mapping[Flag, State]] = _TABLES["health"]
"""A source's health over days, independent of its state."""
PARTS: Final[Mapping[PartState, State]] = {
    state: _TABLES["parts"].get(state) or _TABLES["sources"][state] for state in get_args(PartState)
}
"""States of everything with a task: fixed parts, sources, destinations. Worst first."""
ALERTS: Final[Mapping[AlertState, State]] = _TABLES["alerts"]
DESTINATIONS: Final[Mapping[DestinationState, State]] = _TABLES["destinations"]
ATTEMPTS: Final[Mapping[Literal["sent", "retry", "given_up"], State]] = _TABLES["attempts"]
BREAKERS: Final[Mapping[Literal["closed", "half-open", "open"], State]] = _TABLES["breakers"]
LOOKS: Final[Mapping[Verdict, State]] = {Verdict[name.upper()]: state for name, state in _TABLES["looks"].items()}
"""Results of a check. The short form is the mark in the console."""
