from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest
import trio

from supervision import DynamicSupervisor


@pytest.fixture
def chance() -> random.Random:
    return random.Random(7)


@pytest.fixture
async def many(nursery: trio.Nursery) -> AsyncIterator[DynamicSupervisor]:
    """A running dynamic supervisor. Its tests must request the clock: pytest-trio ignores a fixture's."""
    supervisor = DynamicSupervisor("many", chance=random.Random(7))
    nursery.start_soon(supervisor.run)
    await trio.testing.wait_all_tasks_blocked()
    yield supervisor
    supervisor.stop()
