"""Observations after all was at rest, when the database was damaged, or replaced by a backup or a standby's copy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Afterwards:
    """What was seen of it. told: the words in which the service spoke of damage, by where it did. read: (id, event)
    of the history, and whether all of it could be read. known: the log as it was before, by id. streamed: (id,
    body) of what a client was given that resumed after the last event of before. stood: whether the service did.
    owed: ids of the events that a standby had promised to have. unfenced: events that the other service wrote long
    after the take-over.
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
