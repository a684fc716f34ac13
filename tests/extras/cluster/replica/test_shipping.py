"""A copy made from shipped data equals the commits: with readers, with a WAL that starts over, and slowly."""

from __future__ import annotations

import random
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
import trio

from extras.cluster.replica import log
from extras.cluster.replica.parts import PageChange
from extras.cluster.replica.shipping import ChainStart, Shipping
from storage.errors import ChainBroken, Fenced
from tests.support.replica import a_storage, shipping_in, write


class Copy:
    """A copy from one chain, made as a standby makes it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def begin(self, shipping: Shipping, begun: ChainStart) -> None:
        with self.path.open("wb") as copy:
            for offset in range(0, begun.size, 1 << 16):
                copy.write(await shipping.copy(offset, 1 << 16))
        await shipping.copied()

    def put(self, change: PageChange) -> None:
        with self.path.open("r+b") as copy:
            log.put_into(copy, change.pages, change.size)


def facts(database: Path, *, beside: bool = False) -> list[tuple[str, int]]:
    how = "mode=ro" if beside else "immutable=1"
    with closing(sqlite3.connect(f"{database.as_uri()}?{how}", uri=True)) as connection:
        if not beside:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute("SELECT name, value FROM fact ORDER BY name").fetchall()


async def until_begun(shipping: Shipping, earlier: Callable[[PageChange], None] = lambda _change: None) -> ChainStart:
    await shipping.renew()
    while True:
        found = await shipping.next()
        if isinstance(found, ChainStart):
            return found
        if found is None:
            await shipping.renew()
        else:
            earlier(found)


async def catch_up(shipping: Shipping, copy: Copy) -> None:
    while (found := await shipping.next()) is not None:
        assert isinstance(found, PageChange)
        copy.put(found)


@pytest.mark.parametrize("seed", range(4))
async def test_a_copy_has_every_commit_after_any_interruption(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "TURN_AT", 100_000)
    monkeypatch.setattr(log, "REST", 80_000)
    chance, database = random.Random(seed), tmp_path / "data" / "sanderling.db"
    async with a_storage(database.parent) as storage:
        shipping, copy = shipping_in(storage), Copy(tmp_path / "copy.db")
        await write(storage, chance)
        begun = await until_begun(shipping)
        await write(storage, chance)  # during the copy
        await copy.begin(shipping, begun)
        sizes = []
        for _ in range(120):
            await write(storage, chance)
            sizes.append(storage.sizes()["wal"])
            if chance.random() < 0.1:
                with closing(sqlite3.connect(database)) as reader:  # holds the WAL for a moment
                    reader.execute("BEGIN")
                    reader.execute("SELECT count(*) FROM fact").fetchone()
                    await write(storage, chance)
            if chance.random() < 0.3:
                await catch_up(shipping, copy)
            if chance.random() < 0.05:  # a new chain starts; the earlier one is complete up to here
                again = Copy(tmp_path / f"copy{len(sizes)}.db")
                begun = await until_begun(shipping, copy.put)
                await again.begin(shipping, begun)
                assert facts(copy.path) == facts(again.path)
                copy = again
        await catch_up(shipping, copy)
        assert facts(copy.path) == facts(database, beside=True)
        assert any(after < before for before, after in pairwise(sizes)), "the log never began anew"
        assert shipping.untold() == 0


async def test_a_shipper_that_is_too_slow_loses_its_chain_and_the_log_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MOST", 300_000)
    chance = random.Random(1)
    async with a_storage(tmp_path) as storage:
        shipping = shipping_in(storage)
        await until_begun(shipping)
        for _ in range(40):
            await write(storage, chance)
        with pytest.raises(ChainBroken, match="before it could be shipped"):
            await shipping.next()
        copy = Copy(tmp_path / "copy.db")
        await copy.begin(shipping, await until_begun(shipping))
        await catch_up(shipping, copy)
        assert facts(copy.path) == facts(tmp_path / "sanderling.db", beside=True)
        await shipping.end()
        await write(storage, chance)
        assert await shipping.next() is None
        # The writer answers a write before it settles the commit; the next job runs after that.
        asked = "PRAGMA wal_autocheckpoint"
        assert await storage.alerts._writer.submit(lambda writing: writing.execute(asked).fetchone()) == (1000,)


async def test_a_copy_during_which_the_chain_was_given_up_is_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MOST", 300_000)
    chance = random.Random(5)
    async with a_storage(tmp_path) as storage:
        shipping = shipping_in(storage)
        begun = await until_begun(shipping)
        await shipping.copy(0, begun.size // 2)
        for _ in range(40):
            await write(storage, chance)
        await shipping.copy(begun.size // 2, begun.size)
        with pytest.raises(ChainBroken, match="before it could be shipped"):
            await shipping.copied()


async def test_another_program_that_empties_the_log_is_noticed(tmp_path: Path) -> None:
    chance = random.Random(2)
    async with a_storage(tmp_path) as storage:
        shipping = shipping_in(storage)
        copy = Copy(tmp_path / "copy.db")
        await copy.begin(shipping, await until_begun(shipping))
        await write(storage, chance)
        await catch_up(shipping, copy)
        await write(storage, chance)
        with closing(sqlite3.connect(tmp_path / "sanderling.db")) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        await write(storage, chance)
        with pytest.raises(ChainBroken, match="another program"):
            await shipping.next()


async def test_a_copys_owner_stays_across_restarts_and_one_that_yields_writes_no_more(tmp_path: Path) -> None:
    async with a_storage(tmp_path) as storage:
        assert await shipping_in(storage).origin(5) == (5, 1)
    async with a_storage(tmp_path) as storage:
        assert await shipping_in(storage).origin(6) == (5, 1)
        await shipping_in(storage).give_way()
        with pytest.raises(Fenced):
            await storage._parts.writer.submit(lambda transaction: transaction.fence(storage.lease))


async def test_reading_the_database_ends_no_lock_of_sqlite(tmp_path: Path) -> None:
    """POSIX drops all locks of a process on a file when it closes any descriptor of it."""
    async with a_storage(tmp_path) as storage:
        await until_begun(shipping_in(storage))
        await shipping_in(storage).copy(0, 100)
        await shipping_in(storage).copied()
        await write(storage, random.Random(3))
        code = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT 1 FROM fact').fetchall()"
        await trio.run_process([sys.executable, "-c", code, str(tmp_path / "sanderling.db")])
        assert storage.sizes().get("wal"), "another program took itself for the last one, and deleted the log"
