from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.api.house import House, make_house, running
from tests.extras.apply.folder import Service


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house()) as house:
        yield house


@pytest.fixture
async def service(house: House) -> Service:
    return await Service.of(house)
