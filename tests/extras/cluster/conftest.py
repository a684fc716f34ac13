from __future__ import annotations

import pytest

from extras.cluster.postgres import database, engine
from tests.support.waiting import HANG


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give PostgreSQL time on a busy machine; a test of a time limit sets its own."""
    for name in ("WITHIN", "LOOK_UP_WITHIN", "READ_WITHIN", "DEADLINE"):
        monkeypatch.setattr(database, name, HANG)
    monkeypatch.setattr(engine, "BOUNDS", "SET LOCAL lock_timeout=0; SET LOCAL statement_timeout=0;")
    monkeypatch.setattr(engine, "KEEPALIVE", {**engine.KEEPALIVE, "connect_timeout": int(HANG)})
