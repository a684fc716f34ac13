"""Specifications of children, as data: checked when they are built, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from supervision.errors import InvalidSpec
from supervision.mailbox import Mailbox
from supervision.policy import Backoff

if TYPE_CHECKING:
    from supervision.child import Child

Run = Callable[["Child"], Awaitable[None]]


class Strategy(Enum):
    """Which children restart with a static child: it alone, or it and all that were started after it."""

    ONE_FOR_ONE = "one_for_one"
    REST_FOR_ONE = "rest_for_one"


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One child. All times are seconds. Raises InvalidSpec for invalid values.

    id: unique among its siblings, without "/" (it becomes a step of the child's path). run: the child's code, called
    once for each life. shutdown: time for a child that uses `stopping` to end; then it is cancelled. 0 cancels at once.
    ready_within: time for the child to call `ready()`, else it counts as crashed; None: ready when started. mailbox:
    the one that only this child reads. It outlives the child's lives; naming it here shows its depth in the child's
    status, and fails waiting questions when the child ends (see `Mailbox`).
    """

    id: str
    run: Run
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
