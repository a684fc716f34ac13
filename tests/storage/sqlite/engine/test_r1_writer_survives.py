"""The writer's thread ends only with the process; if it still ends, no caller waits for it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from storage.errors import StorageError, Unavailable
from storage.sql.writing import MOST_FAILURES, Transaction
from storage.sqlite.database import SqliteStorage, open_sqlite
from storage.sqlite.engine import HeadMark, Wal, WriterThread
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_state, stamp
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

AWAY = OSError(13, "Permission denied")


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
async def storage(tmp_path: Path, warnings: list[str]) -> AsyncIterator[SqliteStorage]:
    opened = await open_sqlite(tmp_path, clock=time.perf_counter, owner="test", warn=warnings.append)
    assert isinstance(opened, SqliteStorage)
    await opened.sources.add(a_source(), a_state(), opened.lease)
    yield opened
    await opened.aclose()


def one(transaction: Transaction) -> int:
    return int(transaction.execute("SELECT 1").fetchone()[0])


def failing(times: int, error: BaseException, then: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises `times` times, then calls `then`."""
    left = [times]

    def run(*args: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise error
        return then(*args)

    return run


PLACES = [
    (WriterThread, "_take"),
    (WriterThread, "_wait"),
    (WriterThread, "_commit"),
    (WriterThread, "_answer"),
    (WriterThread, "_write_mark_if_due"),
    (WriterThread, "_write_mark"),
    (Wal, "after_commit"),
    (HeadMark, "write"),
]
"""Each statement of a turn of the thread."""


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[name for _, name in PLACES])
@pytest.mark.parametrize("error", [AWAY, ValueError("planted"), MemoryError()], ids=repr)
async def test_r1_any_exception_around_a_commit_is_survived_and_reported(
    owner: type, name: str, error: Exception, storage: SqliteStorage, warnings: list[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(owner, name, failing(2, error, getattr(owner, name)))
    mint = CountingMint()
    with trio.fail_after(HANG):
        for n in range(6):
            try:
                await storage.log.append([a_harvest(1, f"event {n}", looks=n)], storage.lease, mint, stamp)
            except Unavailable:  # the result is unknown, but the call returns
                continue
        assert await storage._parts.writer.submit(one) == 1
        await trio.testing.wait_all_tasks_blocked()
    if name != "_write_mark":
        assert len(warnings) == 1, warnings


@pytest.mark.parametrize("place", ["_take", "_commit"])
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=repr)
async def test_r1_when_the_thread_ends_all_the_same_every_waiter_fails_at_once_and_later_ones_too(
    place: str, error: BaseException, storage: SqliteStorage, monkeypatch: Any
) -> None:
    monkeypatch.setattr(WriterThread, place, failing(1, error, getattr(WriterThread, place)))
    failed: list[StorageError] = []

    async def ask() -> None:
        with pytest.raises(Unavailable) as caught:
            while True:
                await storage._parts.writer.submit(one)
        failed.append(caught.value)

    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            for _ in range(40):
                nursery.start_soon(ask)
        assert len(failed) == 40
        assert type(error).__name__ in await storage.wait_ended()
        with pytest.raises(Unavailable):
            await storage._parts.writer.submit(one)
        assert storage.writer_moved_at() == pytest.approx(trio.current_time(), abs=0.1)


async def test_r1_a_thread_that_can_do_nothing_any_more_ends(storage: SqliteStorage, monkeypatch: Any) -> None:
    monkeypatch.setattr(WriterThread, "_commit", failing(10**9, AWAY, WriterThread._commit))
    for _ in range(MOST_FAILURES):
        with pytest.raises(Unavailable):
            await storage._parts.writer.submit(one)
    with trio.fail_after(HANG):
        assert "Permission denied" in await storage.wait_ended()


async def test_r1_a_closed_storage_has_no_reason_for_its_end(storage: SqliteStorage) -> None:
    await storage.aclose()
    assert not await storage.wait_ended()


async def test_r1_sizes_of_a_folder_that_is_away_are_unknown(storage: SqliteStorage, monkeypatch: Any) -> None:
    def away(path: Path, **_: object) -> None:
        raise AWAY

    monkeypatch.setattr(Path, "stat", away)
    assert storage.sizes() == {}


async def test_r1_an_error_of_sqlite_at_a_checkpoint_is_left_to_the_next_commit(
    storage: SqliteStorage, warnings: list[str], monkeypatch: Any
) -> None:
    busy = sqlite3.OperationalError("database is locked")
    monkeypatch.setattr(Wal, "after_commit", failing(1, busy, Wal.after_commit))
    assert await storage._parts.writer.submit(one) == 1
    assert await storage._parts.writer.submit(one) == 1
    assert warnings == []
