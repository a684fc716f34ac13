from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.interface import Storage
from tests.storage.contract.engines import ENGINES, Engine


@pytest.fixture(params=["in_loop", pytest.param("sqlite", marks=pytest.mark.real)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    return ENGINES[request.param](tmp_path / "data")


@pytest.fixture
async def storage(engine: Engine) -> AsyncIterator[Storage]:
    opened = await engine.start()
    yield opened
    await opened.aclose()
