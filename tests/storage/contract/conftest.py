from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from storage.sql.storage import Storage
from tests.storage.contract.engines import ENGINES, Engine
from tests.support.declared_rows import declared_rows

_REAL = [pytest.param(name, marks=pytest.mark.real) for name in ("sqlite", "postgres")]


@pytest.fixture(params=["in_loop", *_REAL])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    return ENGINES[request.param](tmp_path / "data")


@pytest.fixture
async def storage(engine: Engine) -> AsyncIterator[Storage]:
    opened = await engine.start()
    yield opened
    await opened.aclose()


@pytest.fixture(autouse=True)
def _declared() -> Iterator[None]:
    with declared_rows():
        yield
