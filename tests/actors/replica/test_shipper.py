"""The shipper: what it puts is followed to what was committed, and it stops writing where another has taken over."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import trio

from actors.replica import shipper as module
from actors.replica.parts import CURRENT, OWNER, Owner, read_current, read_owner, written_record
from sanderling.operations.standby.copy import StandbyCopy
from sanderling.operations.standby.follower import Follower
from storage.errors import Fenced
from storage.records.identity import Millis
from storage.sqlite.database import SqliteStorage
from storage.sqlite.engine import shipped_log
from tests.storage.sqlite.engine.test_shipping import facts
from tests.support.replica import MemoryObjects, a_shipper, a_storage, quick, write
from tests.support.waiting import HANG


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def changes(objects: MemoryObjects) -> int:
    return read_current(objects.objects[CURRENT]).change if CURRENT in objects.objects else 0


def chains(objects: MemoryObjects) -> set[str]:
    return {name.partition("/")[0] for name in objects.objects if "/" in name}


def begun_anew(objects: MemoryObjects, before: bytes | None) -> bool:
    return objects.objects.get(CURRENT) != before and len(chains(objects)) == 1


async def followed(objects: MemoryObjects, folder: Path) -> list[tuple[str, int]]:
    copy = StandbyCopy(folder)
    while (standing := await Follower(objects, copy).step()).says:
        assert "is missing" in standing.says  # a new chain took the place of the one that it had begun to read
    return facts(copy.database)


async def written(storage: SqliteStorage, objects: MemoryObjects, chance: random.Random) -> None:
    """Commit something, and wait until the replica says that it is there."""
    before = changes(objects)
    await write(storage, chance)
    await objects.until(lambda: changes(objects) > before)


async def test_what_is_shipped_is_what_was_committed_at_each_moment_and_at_the_end(tmp_path: Path) -> None:
    chance, objects, database = random.Random(1), MemoryObjects(), tmp_path / "data" / "sanderling.db"
    async with a_storage(database.parent) as storage:
        async with a_shipper(storage, objects) as shipper:
            await write(storage, chance)
            await objects.until(lambda: CURRENT in objects.objects)
            for _ in range(5):
                await written(storage, objects, chance)
                assert await followed(objects, tmp_path / "standby") == facts(database, beside=True)
            assert (shipper.state.says, shipper.state.untold) == ("", 0)
            assert shipper.state.told_at is not None
            await write(storage, chance)  # the last one, right before the stop
        assert await followed(objects, tmp_path / "standby") == facts(database, beside=True)
    assert read_owner(objects.objects[OWNER]).number == 1


class HeldObjects(MemoryObjects):
    """Objects of which, from `held` on, all of a chain wait until `open`."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.held = trio.Event(), False
        self.waits = trio.Event()

    async def put(self, name: str, body: bytes) -> None:
        if self.held and "/" in name:
            self.waits.set()
            await self.open.wait()
        await super().put(name, body)


async def test_a_copy_during_which_the_log_was_emptied_is_never_whole_and_the_chain_before_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped_log, "MOST", 300_000)
    chance, objects = random.Random(11), HeldObjects()
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects):
        await objects.until(lambda: CURRENT in objects.objects)
        for _ in range(5):
            await written(storage, objects, chance)
    (before,) = chains(objects)
    async with a_storage(tmp_path / "data") as storage:
        objects.held = True
        async with a_shipper(storage, objects):
            await objects.waits.wait()
            while not storage.shipping.broken():
                await write(storage, chance)
            objects.history.clear()
            objects.open.set()
            await objects.until(lambda: before not in chains(objects))
            put = [name for name, _ in objects.history]
            torn = next(name for name in put if "/" in name).partition("/")[0]
            assert f"{torn}/whole" not in put, "its copy was made while the log was emptied"
            assert await followed(objects, tmp_path / "standby") == facts(
                tmp_path / "data" / "sanderling.db", beside=True
            )


async def test_each_life_begins_a_chain_and_deletes_those_before(tmp_path: Path) -> None:
    chance, objects = random.Random(2), MemoryObjects()
    seen = set()
    for _ in range(3):
        async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects):
            before = objects.objects.get(CURRENT)
            await objects.until(
                lambda before=before: objects.objects.get(CURRENT) != before and len(chains(objects)) == 1
            )
            await written(storage, objects, chance)
            seen |= chains(objects)
    assert len(seen) == 3 and read_owner(objects.objects[OWNER]).number == 1


async def test_a_chain_that_has_grown_is_followed_by_a_new_one_and_told_on_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_CHANGES", 3)
    chance, objects = random.Random(3), MemoryObjects()
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects):
        await objects.until(lambda: CURRENT in objects.objects)
        (first,) = chains(objects)
        while first in chains(objects):
            await write(storage, chance)
            await followed(objects, tmp_path / "standby")
            await trio.lowlevel.checkpoint()
        assert await followed(objects, tmp_path / "standby")


async def test_a_replica_that_is_away_is_waited_for_and_nothing_is_lost(tmp_path: Path) -> None:
    chance, objects = random.Random(4), MemoryObjects()
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects) as shipper:
        await objects.until(lambda: CURRENT in objects.objects)
        chain = chains(objects)
        objects.away = "the disk is unplugged"
        for _ in range(5):
            await write(storage, chance)
        with trio.fail_after(HANG):
            while "unplugged" not in shipper.state.says:
                await trio.lowlevel.checkpoint()
        objects.away = ""
        await objects.until(lambda: changes(objects) > 0 and not shipper.state.untold)
        assert chains(objects) == chain and not shipper.state.says
        assert await followed(objects, tmp_path / "standby") == facts(tmp_path / "data/sanderling.db", beside=True)


async def test_a_replica_that_is_away_for_too_long_gets_a_new_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped_log, "MOST", 300_000)
    chance, objects, told = random.Random(5), MemoryObjects(), list[str]()
    async with (
        a_storage(tmp_path / "data") as storage,
        a_shipper(storage, objects, log=lambda _what, **said: told.append(said.get("says", ""))) as shipper,
    ):
        await objects.until(lambda: CURRENT in objects.objects)
        chain = chains(objects)
        objects.away = "the disk is unplugged"
        with trio.fail_after(HANG):
            while not any("grew past" in says for says in told):
                await write(storage, chance)
        for _ in range(300):  # some 25 MB of the log
            await write(storage, chance)
        assert storage.sizes()["wal"] < 8_000_000  # SQLite empties it again
        monkeypatch.undo()  # a write of that size would end the new chain as well
        quick(monkeypatch)
        objects.away = ""
        await objects.until(lambda: not (chains(objects) & chain) and len(chains(objects)) == 1)
        await written(storage, objects, chance)
        assert await followed(objects, tmp_path / "standby") == facts(tmp_path / "data/sanderling.db", beside=True)
        assert not shipper.state.says


async def test_who_is_superseded_writes_no_more(tmp_path: Path) -> None:
    objects, why = MemoryObjects(), list[str]()
    async with a_storage(tmp_path / "data") as storage:
        async with a_shipper(storage, objects, why.append):
            await objects.until(lambda: CURRENT in objects.objects)
            owner = read_owner(objects.objects[OWNER])
            await objects.put(OWNER, written_record(Owner(owner.id, 2, "shore2", Millis(1_800_000_000_000))))
            with trio.fail_after(HANG):
                while not why:
                    await trio.lowlevel.checkpoint()
        assert why == ["shore2 took over at 2027-01-15T08:00:00.000Z"]
        with pytest.raises(Fenced):
            await storage.alerts._writer.submit(lambda transaction: transaction.fence(storage.lease))
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects, why.append):
        with trio.fail_after(HANG):
            while len(why) < 2:
                await trio.lowlevel.checkpoint()


async def test_the_replica_of_another_instance_is_not_written_over(tmp_path: Path) -> None:
    objects = MemoryObjects()
    theirs = written_record(Owner(7, 1, "another", Millis(0)))
    await objects.put(OWNER, theirs)
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects) as shipper:
        with trio.fail_after(HANG):
            while "another instance" not in shipper.state.says:
                await trio.lowlevel.checkpoint()
        await write(storage, random.Random(6))
    assert objects.objects == {OWNER: theirs}


async def test_rubbish_in_the_place_of_the_owner_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    objects = MemoryObjects()
    await objects.put(OWNER, b"rubbish")
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects) as shipper:
        with trio.fail_after(HANG):
            while "owner: is torn" not in shipper.state.says:
                await trio.lowlevel.checkpoint()
    assert objects.objects == {OWNER: b"rubbish"}
