"""A fixture that requests the virtual clock gives it to its tests: see `tests/conftest.py`."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio


@pytest.fixture
async def begun(autojump_clock: object) -> AsyncIterator[float]:
    yield trio.current_time()


async def test_a_year_is_over_at_once(begun: float) -> None:
    await trio.sleep(365 * 86_400)
    assert trio.current_time() == begun + 365 * 86_400
