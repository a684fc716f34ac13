from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.house import House
from tests.api.http2.peer import Http2Peer, connected, secured
from tests.support.certificates import make_certificate


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
async def house(pair: tuple[Path, Path], autojump_clock: object) -> AsyncIterator[House]:
    async with secured(pair) as house:
        yield house


@pytest.fixture
async def peer(house: House, pair: tuple[Path, Path]) -> AsyncIterator[Http2Peer]:
    async with connected(house, pair) as peer:
        yield peer
