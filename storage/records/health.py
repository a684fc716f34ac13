"""A source's health, and the stored state of its circuit breaker."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from storage.records.identity import Millis

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
    what is said of the page at no cost, as a part of the reason.
    """

    score: float = 1.0
    flag: Flag = "ok"
    reason: str = "No look has failed."
    down_since: Millis | None = None
    cause: Cause = "none"
    told: Telling | None = None
    remark: str = ""


class BreakerState(Struct, frozen=True):
    """The circuit breaker's persistent part: its state, failures in a row, times opened in a row, when it may retry."""

    state: Literal["closed", "open", "half-open"] = "closed"
    failures: int = 0
    opened: int = 0
    retry_at: Millis | None = None
