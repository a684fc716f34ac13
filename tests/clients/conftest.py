from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.api.house import House, make_house, running


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house()) as house:
        yield house


@pytest.fixture
async def client(house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with await house.client() as client:
        yield client
