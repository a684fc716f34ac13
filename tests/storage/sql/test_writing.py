"""Jobs that may wait share the transaction of the next that may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from storage.sql import writing
from storage.sql.writing import Ticket, WritingThread
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


class Batches(WritingThread):
    """Notes the jobs of each transaction."""

    def __init__(self) -> None:
        super().__init__(print)
        self.made: list[list[Any]] = []

    def _commit(self, tickets: Sequence[Ticket[Any]]) -> None:
        self.made.append([ticket.job for ticket in tickets])


async def test_jobs_that_may_wait_go_along_with_one_that_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing.WritingThread, "lingers", 8 * HANG)
    writer = Batches()
    writer.begin("test")
    async with trio.open_nursery() as nursery:
        for job in ("one", "two"):
            nursery.start_soon(lambda job=job: writer.submit(job, may_wait=True))
        await wait_all_tasks_blocked()
        await writer.submit("now")
    await writer.submit("then")
    assert await writer.aclose()
    assert [sorted(jobs) for jobs in writer.made] == [["now", "one", "two"], ["then"]]


async def test_a_job_that_may_wait_is_not_left_alone_for_long_nor_by_a_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing.WritingThread, "lingers", 0.001)
    writer = Batches()
    writer.begin("test")
    await writer.submit("alone", may_wait=True)
    monkeypatch.setattr(writing.WritingThread, "lingers", 8 * HANG)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: writer.submit("last", may_wait=True))
        await wait_all_tasks_blocked()
        assert await writer.aclose()
    assert writer.made == [["alone"], ["last"]]
