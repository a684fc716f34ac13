"""The lease of one node on a slow database."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from extras.cluster.members.membership import EVERY, PARKED_AFTER, Membership
from tests.support.memory_network import MemoryNetwork, a_world


class Gate:
    """Records when checks were parked."""

    def __init__(self) -> None:
        self.parked_at: float | None = None

    def park(self, parked: bool) -> None:
        self.parked_at = trio.current_time() if parked else None


class View:
    """A node alone."""

    number, drained = 1, False

    def inside(self) -> list[str]:
        return ["me"]

    working = inside


class SlowMembers:
    """A database that answers the first beat at once, the second late, and then none."""

    me, failover = "me", None

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def beat(self, says: Any) -> View:
        self.asked.append(trio.current_time())
        if len(self.asked) > 1:
            await trio.sleep(3 if len(self.asked) == 2 else 1000)
        return View()


class Others:
    """An unused ownership with its usage."""

    view = View()

    def __init__(self) -> None:
        self.usage = self

    def hear(self, *_: Any) -> None: ...
    def take(self, *_: Any) -> None: ...
    def told(self, *_: Any) -> dict[str, float]:
        return {}


class ReadyChild:
    """A child that is never stopped."""

    def __init__(self) -> None:
        self.stopping = trio.Event()

    def ready(self) -> None: ...


async def test_a_lease_counts_from_the_question(
    autojump_clock: object, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    members, gate, others = SlowMembers(), Gate(), Others()
    membership = Membership(
        a_world(MemoryNetwork(nursery)),
        members,
        others,
        says=lambda: None,
        gate=gate,  # type: ignore[arg-type]
    )
    monkeypatch.setattr(membership, "_told", lambda: None)
    nursery.start_soon(membership.run, ReadyChild())
    await trio.sleep(2 * EVERY + 3 + PARKED_AFTER + 10)
    assert gate.parked_at == pytest.approx(members.asked[1] + PARKED_AFTER, abs=0.01)
