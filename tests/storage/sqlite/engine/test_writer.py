"""The writer under stress: a full disk, jobs that fail after writing, and the WAL."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
import trio.testing

from storage.errors import DiskFull, Unavailable
from storage.records.event import EVERYTHING
from storage.records.identity import START, Seq
from storage.sql.writing import MOST_EVENTS, Ticket, Transaction
from storage.sqlite.database import SqliteStorage, open_sqlite
from storage.sqlite.engine import AGAIN, CUT_AT, DATABASE, PATIENCE, READER, WRITER, Wal, WriterThread, connect
from tests.storage.contract.builders import (
    CountingMint,
    a_draft,
    a_harvest,
    a_source,
    a_source_id,
    a_state,
    an_alert,
    stamp,
)

pytestmark = pytest.mark.real


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[SqliteStorage]:
    opened = await open_sqlite(tmp_path, clock=time.perf_counter, owner="test", warn=print)
    assert isinstance(opened, SqliteStorage)
    await opened.sources.add(a_source(), a_state(), opened.lease)
    yield opened
    await opened.aclose()


async def pages(storage: SqliteStorage, most: int | None = None) -> int:
    """Return the database's page count. most: limit it, so that SQLite reports SQLITE_FULL."""

    def job(transaction: Transaction) -> int:
        if most is not None:
            transaction.execute(f"PRAGMA max_page_count={most}").fetchone()
        return int(transaction.execute("PRAGMA page_count").fetchone()[0])

    return await storage._parts.writer.submit(job)


BIG = a_draft("big", content="x" * 20_000)


async def test_a_full_disk_is_reported_changes_nothing_and_recovers_with_space(storage: SqliteStorage) -> None:
    mint = CountingMint()
    await storage.log.append([a_harvest(1, "before", looks=1)], storage.lease, mint, stamp)
    await pages(storage, most=await pages(storage) + 1)
    for _ in range(3):
        with pytest.raises(DiskFull):
            await storage.log.append([a_harvest(1, BIG, looks=2)], storage.lease, mint, stamp)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert found.hot.looks == 1
    assert len((await storage.log.read(START, 500, EVERYTHING)).events) == 1
    await pages(storage, most=1_000_000)
    await storage.log.append([a_harvest(1, BIG, looks=3)], storage.lease, mint, stamp)
    assert await storage.log.count() == 2


async def test_a_full_disk_fails_only_writes_that_do_not_fit(storage: SqliteStorage) -> None:
    """The writer retries a failed batch job by job, so a small write passes after a large one fails."""
    mint = CountingMint()
    await pages(storage, most=await pages(storage) + 2)
    full: list[DiskFull] = []

    async def too_big() -> None:
        try:
            await storage.log.append([a_harvest(1, BIG)], storage.lease, mint, stamp)
        except DiskFull as error:
            full.append(error)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(too_big)
            nursery.start_soon(storage.log.save_states, [a_state(1, looks=number + 1)], storage.lease)
    assert len(full) == 5
    assert len({id(error) for error in full}) == 5, "an exception that is shared would collect all tracebacks"
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert found.hot.looks > 0


async def test_a_job_that_fails_after_it_has_written_is_undone_alone(storage: SqliteStorage) -> None:
    def broken(transaction: Transaction) -> None:
        transaction.execute("DELETE FROM source")
        raise RuntimeError("planned")

    failed = 0

    async def fail() -> None:
        nonlocal failed
        with pytest.raises(RuntimeError, match="planned"):
            await storage._parts.writer.submit(broken)
        failed += 1

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(fail)
            nursery.start_soon(storage.alerts.put, an_alert(str(number)))
    assert failed == 10
    assert len(await storage.alerts.all()) == 10
    assert await storage.sources.get(a_source_id(1)) is not None


async def test_a_wrong_statement_is_undone_alone_and_reported_as_it_is(storage: SqliteStorage) -> None:
    async def fail() -> None:
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            await storage._parts.writer.submit(lambda transaction: transaction.execute("DELETE FROM nowhere"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fail)
        nursery.start_soon(storage.alerts.put, an_alert())
    assert len(await storage.alerts.all()) == 1


async def test_a_folder_that_another_process_holds_locked_for_long_is_unavailable(
    storage: SqliteStorage, tmp_path: Path
) -> None:
    await storage._parts.writer.submit(lambda transaction: transaction.execute("PRAGMA busy_timeout=20").fetchone())
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        await storage.alerts.put(an_alert())
    other.execute("ROLLBACK")
    other.close()
    await storage.alerts.put(an_alert())


async def test_waiting_jobs_share_one_transaction(storage: SqliteStorage) -> None:
    commits: list[int] = []

    def count(transaction: Transaction) -> None:
        commits.append(id(transaction))

    async with trio.open_nursery() as nursery:
        for _ in range(1_000):
            nursery.start_soon(storage._parts.writer.submit, count)
    # The first finds the writer idle; the others queue while it commits.
    assert len(commits) == 1_000
    assert len(set(commits)) <= 8


async def test_a_transaction_has_at_most_so_many_events(storage: SqliteStorage) -> None:
    held = trio.Event()
    sizes: dict[int, int] = {}
    alive: list[Transaction] = []

    def count(transaction: Transaction) -> None:
        alive.append(transaction)
        sizes[id(transaction)] = sizes.get(id(transaction), 0) + 100

    async def send() -> None:
        await storage._parts.writer.submit(count, events=100)

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(send)
        held.set()
    assert sum(sizes.values()) == 5_000
    assert max(sizes.values()) <= MOST_EVENTS


async def test_an_abandoned_job_does_not_count_as_waiting(storage: SqliteStorage) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await storage.alerts.put(an_alert())
    await storage.alerts.put(an_alert("two"))
    assert storage._parts.writer._waiting == 0
    assert "waiting=0" in repr(storage)


def replay_without_pause(database: Path, stop: threading.Event) -> None:
    reader = connect(database, READER, read_only=True)
    while not stop.is_set():
        reader.execute("SELECT * FROM log ORDER BY seq LIMIT 50").fetchall()
    reader.close()


async def test_the_wal_stays_small_under_continuously_overlapping_readers(
    storage: SqliteStorage, tmp_path: Path
) -> None:
    """Each snapshot is short, but they overlap: SQLite's own checkpoints would never restart the WAL."""
    mint, stop, largest, cut = CountingMint(), threading.Event(), 0, False
    threads = [threading.Thread(target=replay_without_pause, args=(tmp_path / DATABASE, stop)) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(300):  # a busy machine may need several tries
            await storage.log.append([a_harvest(1, *[BIG] * 30)], storage.lease, mint, stamp)
            size = (tmp_path / f"{DATABASE}-wal").stat().st_size
            largest, cut = max(largest, size), size < largest
            if cut:
                break
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert cut
    assert largest >= CUT_AT


async def test_a_snapshot_that_is_held_for_long_does_not_hold_up_the_writer(tmp_path: Path) -> None:
    """A backup reads for minutes; waiting for it at each commit would be worse than a larger WAL."""
    path, now = tmp_path / "some.db", 1_000.0
    path.touch()
    writer, backup = connect(path, WRITER), connect(path, READER, read_only=True)
    writer.execute("CREATE TABLE log(body BLOB)")
    backup.execute("BEGIN")
    backup.execute("SELECT count(*) FROM log").fetchone()
    writer.execute("INSERT INTO log VALUES(zeroblob(?))", (CUT_AT,))
    wal, file = Wal(path, lambda: now), tmp_path / "some.db-wal"

    said: list[str] = []
    writer.set_trace_callback(said.append)

    def waits() -> bool:
        said.clear()
        wal.after_commit(writer)
        return "PRAGMA wal_checkpoint(TRUNCATE)" in said

    assert waits()
    assert f"PRAGMA busy_timeout={int(PATIENCE * 1000)}" in said
    assert not any(waits() for _ in range(20))
    now += AGAIN
    assert waits()
    assert file.stat().st_size > CUT_AT
    backup.execute("COMMIT")
    now += AGAIN
    wal.after_commit(writer)
    assert file.stat().st_size == 0
    assert writer.execute("PRAGMA busy_timeout").fetchone() == (5000,)
    backup.close()
    writer.close()


async def test_a_check_of_a_busy_pool_can_be_cancelled(storage: SqliteStorage) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(storage.log.bounds)
        await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert (await storage.log.bounds()).newest == Seq(0)


async def test_the_writers_thread_holds_up_no_process_that_ends(storage: SqliteStorage) -> None:
    writers = [thread for thread in threading.enumerate() if thread.name == "sqlite-writer"]
    assert writers and all(thread.daemon for thread in writers)


@pytest.mark.parametrize(("written", "wakes"), [(START, True), (Seq(7), False)])
async def test_an_idle_writer_wakes_only_for_a_mark_that_is_behind(written: Seq, *, wakes: bool) -> None:
    waits: list[float | None] = []

    def get(timeout: float | None = None) -> None:
        waits.append(timeout)
        if timeout is not None:
            raise queue.Empty

    mark: Any = SimpleNamespace(written=written)
    nothing: Any = None
    writer = WriterThread(mark, nothing, lambda: 0.0, lambda words: None, nothing)
    writer._head = Seq(7)
    writer._write_mark = lambda: waits.append(0.0)  # type: ignore[method-assign]
    writer._queue = SimpleNamespace(get=get)  # type: ignore[assignment]
    assert writer._wait() is None
    assert waits == ([1.0, 0.0, None] if wakes else [None])


@pytest.mark.parametrize("fails", [False, True])
async def test_a_commit_listener_learns_whether_the_outcome_is_known(*, fails: bool) -> None:
    heard: list[bool] = []

    class Connection:
        total_changes = 0
        executemany = None

        def execute(self, words: str) -> None:
            if fails and words == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")

    def job(transaction: Transaction) -> None:
        transaction.afterwards.append(heard.append)

    nothing, connection = cast(Any, None), cast(Any, Connection())
    writer = WriterThread(nothing, nothing, lambda: 0.0, lambda words: None, nothing)
    with suppress(sqlite3.OperationalError):
        writer._connection = connection
        writer._attempt([Ticket(job, 0, 1, ())])
    await trio.testing.wait_all_tasks_blocked()
    assert heard == [not fails]
