"""Observations after the world is at rest: of a damaged database, a restored backup, or a standby's copy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Afterwards:
    """Observations of an epilogue. told: the service's reports of damage, by place. read: (id, event) of the history;
    whole: all of it was readable. known: the log before, by id. streamed: (id, body) for a client that resumed after
    the last earlier event. stood: the service kept running. owed: ids of the events that a standby had promised to
    have. unfenced: events that the other service wrote long after the take-over.
    """

    kind: str
    known: dict[str, bytes]
    told: dict[str, str] = field(default_factory=dict)
    ready: tuple[int, str] = (0, "")
    read: list[tuple[str, Any]] = field(default_factory=list)
    whole: bool = False
    kept: dict[str, bytes] = field(default_factory=dict)
    streamed: list[tuple[str, bytes]] = field(default_factory=list)
    replay_from: str = ""
    new: dict[str, bytes] = field(default_factory=dict)
    stood: bool = False
    owed: frozenset[str] = frozenset()
    unfenced: int = 0
