"""The state of the replica."""

from __future__ import annotations

from dataclasses import dataclass

from storage.records.identity import Millis


@dataclass(slots=True)
class ReplicaState:
    """place: the replica's location, fit to show. told_at: it has all commits up to then, None before the first.
    untold: bytes of the log it does not have yet. says: the problem that stops it; "" if there is none.
    """

    place: str
    chain: str = ""
    told_at: Millis | None = None
    untold: int = 0
    says: str = ""
