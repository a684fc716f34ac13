"""The check for undeclared rows finds a job that changes one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.contract.builders import a_destination, a_source, a_state, an_alert
from tests.storage.contract.engines import ENGINES
from tests.support.declared_rows import Undeclared
from tests.support.in_loop import InLoopStorage


@pytest.mark.parametrize("table", ["alert", "destination", "source"])
async def test_a_job_that_changes_an_undeclared_row_is_found(table: str, tmp_path: Path) -> None:
    storage = await ENGINES["in_loop"](tmp_path).start()
    assert isinstance(storage, InLoopStorage)
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    await storage.sources.add(a_source(), a_state(), storage.lease)
    with pytest.raises(Undeclared, match=table):
        await storage._writer.submit(lambda transaction: transaction.execute(f"UPDATE {table} SET body=x'00'"))
