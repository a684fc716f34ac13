"""The state of the replica."""

from __future__ import annotations

from dataclasses import dataclass

from storage.records.identity import Millis


@dataclass(slots=True)
class ReplicaState:
    """place: where it is, as it may be shown. told_at: up to when all that was committed is there, None before any.
    untold: bytes of the log that are not there yet. says: what keeps it from going on; "" when all is well.
    """

    place: str
    chain: str = ""
    told_at: Millis | None = None
    untold: int = 0
    says: str = ""
