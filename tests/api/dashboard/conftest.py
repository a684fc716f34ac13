from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.api.dashboard.browser import Browser, signed_in
from tests.api.house import House, make_house, running


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house()) as house:
        yield house


@pytest.fixture
async def stranger(house: House) -> AsyncIterator[Browser]:
    """A browser without a session."""
    browser = Browser(house)
    async with browser.client:
        yield browser


@pytest.fixture
async def browser(house: House) -> AsyncIterator[Browser]:
    """A signed-in browser, at Today."""
    browser = await signed_in(house)
    yield browser
    await browser.client.aclose()
