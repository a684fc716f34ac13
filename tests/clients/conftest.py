from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clients.generate.__main__ import main
from tests.api.house import House, make_house, running
from tests.clients.building import build

main()  # the tests import the generated modules


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house()) as house:
        yield house


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("typescript"))
