"""A source's health, the stored state of its circuit breaker, and its worst scores of the last 90 days.

Consecutive days of equal score are one run, so a healthy source has a single run; days without a check are in no run.
The scores travel in the source's lazily saved state, like the trail, and cause no write by themselves.
"""

from __future__ import annotations

import struct
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from storage.records.identity import Millis
from storage.records.message import Message

Flag = Literal["ok", "degraded", "rotten"]
Cause = Literal["none", "reach", "yield", "partial", "stuck"]
"""The main reason for a low score: failures, silence, unreadable responses, or a problem that needs a person."""
RANK: dict[Flag, int] = {"ok": 0, "degraded": 1, "rotten": 2}


class Telling(Struct, frozen=True):
    """What has been told of the present trouble, and when last.

    failing: the longest `notice_after`, in seconds, whose alerts know that the source fails; None: nobody does.
    quiet: it was told that the source has gone quiet.
    """

    at: Millis
    failing: int | None = None
    quiet: bool = False


class Health(Struct, frozen=True):
    """A score from 0 to 1 with the sentence that explains it.

    `down_since` is the first of the present run of failures. `told` None: nothing is told that is not over. `remark` is
    what is said of the page at no cost, as a part of the reason. `said`: the reason with its values, if it has any.
    """

    score: float = 1.0
    flag: Flag = "ok"
    reason: str = "No look has failed."
    down_since: Millis | None = None
    cause: Cause = "none"
    told: Telling | None = None
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
    return _packed([run for each in runs if (run := _since(each, day - DAYS + 1))[1] > 0])


def read(packed: bytes) -> dict[int, float]:
    """Return the worst score by day, oldest first; empty for another version."""
    return {first + at: worst / 100 for first, days, worst in _runs(packed) for at in range(days)}


def _since(run: tuple[int, int, int], oldest: int) -> tuple[int, int, int]:
    first, days, worst = run
    gone = max(0, oldest - first)
    return first + gone, days - gone, worst


def _runs(packed: bytes) -> list[tuple[int, int, int]]:
    if packed[:1] != _VERSION or (len(packed) - 1) % _RUN.size:
        return []
    return list(_RUN.iter_unpack(packed[1:]))


def _packed(runs: list[tuple[int, int, int]]) -> bytes:
    return _VERSION + b"".join([_RUN.pack(*run) for run in runs])
