"""Specifications of children, as data: checked when they are built, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from supervision.backoff import Backoff
from supervision.errors import InvalidSpec
from supervision.mailbox import Mailbox
from supervision.policy import Restart

if TYPE_CHECKING:
    from supervision.child import Child

__all__ = ["ChildSpec", "Restart", "Run", "Strategy"]

Run = Callable[["Child"], Awaitable[None]]


class Strategy(Enum):
    """Who is restarted when a static child is: it alone, or it and all that were started after it."""

    ONE_FOR_ONE = "one_for_one"
    REST_FOR_ONE = "rest_for_one"


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One child. All times are seconds. Raises InvalidSpec for what cannot be meant.

    id: unique among its siblings, without "/" (it becomes a step of the child's path). run: the child's whole
    life; called once for each life. shutdown: how long a child that looks at `stopping` may take; then it is
    cancelled. 0 cancels at once. ready_within: the child must call `ready()` within so many seconds, else it
    crashed; None: ready when started. mailbox: the one that this child alone reads. It outlives the child's
    lives; named here, its depth is shown in the child's status, and those who wait for an answer learn of the
    child's end (see `Mailbox`).
    """

    id: str
    run: Run
    restart: Restart = Restart.PERMANENT
    shutdown: float = 5.0
    ready_within: float | None = None
    backoff: Backoff = field(default=Backoff())
    mailbox: Mailbox[Any] | None = None

    def __post_init__(self) -> None:
        if not self.id or "/" in self.id:
            raise InvalidSpec(f"a child's id is a non-empty word without '/', not {self.id!r}")
        if not callable(self.run):
            raise InvalidSpec(f"{self.id}: run must be an async function of the child, not {self.run!r}")
        if not 0 <= self.shutdown < math.inf:
            raise InvalidSpec(f"{self.id}: shutdown must be finite and not negative, not {self.shutdown!r} s")
        if self.ready_within is not None and not 0 < self.ready_within < math.inf:
            raise InvalidSpec(f"{self.id}: ready_within must be positive and finite, not {self.ready_within!r} s")
        if not isinstance(self.restart, Restart):
            raise InvalidSpec(f"{self.id}: restart must be a Restart, not {self.restart!r}")
