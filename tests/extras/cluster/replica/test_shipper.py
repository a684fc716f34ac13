"""The shipper: a follower of its objects reaches the committed state, and it stops when another takes over."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import msgspec
import pytest
import trio

from extras.cluster.replica import log as log_module
from extras.cluster.replica import shipper as module
from extras.cluster.replica.parts import CURRENT, OWNER, Owner, read_owner, written_record
from extras.cluster.standby import Follower, StandbyCopy
from storage.errors import ChainBroken, Fenced
from storage.records.identity import Millis
from storage.sqlite.database import SqliteStorage
from tests.extras.cluster.replica.test_shipping import facts
from tests.support.replica import OTHER, MemoryObjects, a_shipper, a_storage, keys_of, quick, shipping_in, write
from tests.support.waiting import HANG


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def changes(objects: MemoryObjects) -> int:
    """Return the replica's position, read without its key."""
    body = objects.objects.get(CURRENT)
    return 0 if body is None else int(msgspec.json.decode(body.partition(b"\n")[2])["change"])


def chains(objects: MemoryObjects) -> set[str]:
    return {name.partition("/")[0] for name in objects.objects if "/" in name}


def begun_anew(objects: MemoryObjects, before: bytes | None) -> bool:
    return objects.objects.get(CURRENT) != before and len(chains(objects)) == 1


async def followed(objects: MemoryObjects, folder: Path) -> list[tuple[str, int]]:
    copy = StandbyCopy(folder, keys_of(folder.parent / "data"))
    while (standing := await Follower(objects, copy).step()).says:
        assert "is missing" in standing.says  # a new chain replaced the one it was reading
    return facts(copy.database)


async def written(storage: SqliteStorage, objects: MemoryObjects, chance: random.Random) -> None:
    """Commit something, and wait until the replica has it."""
    before = changes(objects)
    await write(storage, chance)
    await objects.until(lambda: changes(objects) > before)


async def test_shipped_copies_equal_the_commits_at_each_moment(tmp_path: Path) -> None:
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
    assert read_owner(objects.objects[OWNER], *keys_of(tmp_path / "data")).number == 1


class HeldObjects(MemoryObjects):
    """Objects that block all writes to a chain from `held` until `open`."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.held = trio.Event(), False
        self.waits = trio.Event()

    async def put(self, name: str, body: bytes) -> None:
        if self.held and "/" in name:
            self.waits.set()
            await self.open.wait()
        await super().put(name, body)


class WaitingChanges(MemoryObjects):
    """Objects that accept no change until `open`, and the first copy only while a change waits."""

    def __init__(self) -> None:
        super().__init__()
        self.waits, self.open = trio.Event(), trio.Event()

    async def put(self, name: str, body: bytes) -> None:
        if "/change/" in name:
            self.waits.set()
            await self.open.wait()
        elif "/" in name:
            await self.waits.wait()
        await super().put(name, body)


async def test_a_copy_that_ends_while_a_change_waits_does_not_name_the_present(tmp_path: Path) -> None:
    """The standby once reported a copy from this second that lacked events from minutes ago."""
    chance, objects = random.Random(12), WaitingChanges()
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects) as shipper:
        while not shipper._chains:
            await trio.lowlevel.checkpoint()
        await write(storage, chance)
        committed = shipper._world.now()
        await objects.until(lambda: CURRENT in objects.objects)
        named = json.loads(objects.objects[CURRENT].partition(b"\n")[2])
        assert named["change"] == 0
        assert named["at"] <= committed
        objects.open.set()


async def test_a_copy_during_which_the_log_was_emptied_is_never_whole_and_the_chain_before_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "MOST", 300_000)
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
            while not shipping_in(storage).broken():
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


async def test_each_start_begins_a_chain_and_deletes_earlier_ones(tmp_path: Path) -> None:
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
    assert len(seen) == 3 and read_owner(objects.objects[OWNER], *keys_of(tmp_path / "data")).number == 1


async def test_a_long_chain_is_replaced_by_a_new_one_and_reported_meanwhile(
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
    monkeypatch.setattr(log_module, "MOST", 300_000)
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
        for _ in range(300):  # about 25 MB of WAL
            await write(storage, chance)
        assert storage.sizes()["wal"] < 8_000_000  # SQLite resets it
        monkeypatch.undo()  # a write of that size would end the new chain as well
        quick(monkeypatch)
        objects.away = ""
        await objects.until(lambda: not (chains(objects) & chain) and len(chains(objects)) == 1)
        await written(storage, objects, chance)
        assert await followed(objects, tmp_path / "standby") == facts(tmp_path / "data/sanderling.db", beside=True)
        assert not shipper.state.says


async def test_a_superseded_start_writes_no_more(tmp_path: Path) -> None:
    objects, why = MemoryObjects(), list[str]()
    async with a_storage(tmp_path / "data") as storage:
        async with a_shipper(storage, objects, why.append):
            await objects.until(lambda: CURRENT in objects.objects)
            (key,) = keys_of(tmp_path / "data")
            owner = read_owner(objects.objects[OWNER], key)
            taken = Owner(owner.id, 2, "shore2", Millis(1_800_000_000_000))
            await objects.put(OWNER, written_record(OWNER, taken, key))
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
    async with a_storage(tmp_path / "data") as storage:
        theirs = written_record(OWNER, Owner(7, 1, "another", Millis(0)), shipping_in(storage).key)
    await objects.put(OWNER, theirs)
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects) as shipper:
        with trio.fail_after(HANG):
            while "another instance" not in shipper.state.says:
                await trio.lowlevel.checkpoint()
        await write(storage, random.Random(6))
    assert objects.objects == {OWNER: theirs}


async def test_an_invalid_owner_object_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    objects = MemoryObjects()
    await objects.put(OWNER, b"rubbish")
    async with a_storage(tmp_path / "data") as storage, a_shipper(storage, objects) as shipper:
        with trio.fail_after(HANG):
            while "owner: was not made with the master key" not in shipper.state.says:
                await trio.lowlevel.checkpoint()
    assert objects.objects == {OWNER: b"rubbish"}


def unsigned(owner: Owner) -> bytes:
    """Return an `owner` without a MAC, as from an old version or a forger with write access."""
    body = msgspec.json.encode(owner)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


@pytest.mark.parametrize("wrong", ["unsigned", "another key"])
async def test_a_take_over_without_the_master_key_is_an_alarm_and_stops_nothing(wrong: str, tmp_path: Path) -> None:
    objects, why, told = MemoryObjects(), list[str](), list[str]()
    async with (
        a_storage(tmp_path / "data") as storage,
        a_shipper(storage, objects, why.append, lambda what, **_: told.append(what)) as shipper,
    ):
        await objects.until(lambda: CURRENT in objects.objects)
        id = read_owner(objects.objects[OWNER], shipping_in(storage).key).id
        mallory = Owner(id, 2, "mallory", Millis(0))
        forged = unsigned(mallory) if wrong == "unsigned" else written_record(OWNER, mallory, OTHER)
        await objects.put(OWNER, forged)
        with trio.fail_after(HANG):
            while "owner: was not made with the master key" not in shipper.state.says:
                await trio.lowlevel.checkpoint()
        before = len(objects.objects)
        await write(storage, random.Random(8))
        await objects.until(lambda: len(objects.objects) > before)
        assert (why, objects.objects[OWNER]) == ([], forged) and told.count("replica.owner") == 1
        await objects.delete(OWNER)
        await objects.until(lambda: OWNER in objects.objects)


async def test_objects_of_an_earlier_version_are_signed_at_the_next_start(tmp_path: Path) -> None:
    objects = MemoryObjects()
    async with a_storage(tmp_path / "data") as storage:
        origin = await shipping_in(storage).origin(9)
        await objects.put(OWNER, unsigned(Owner(origin.id, origin.number, "an earlier version", Millis(0))))
        async with a_shipper(storage, objects):
            await objects.until(lambda: CURRENT in objects.objects)
        assert read_owner(objects.objects[OWNER], shipping_in(storage).key).by == "a test"


async def test_copies_that_are_never_finished_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = MemoryObjects()
    async with a_storage(tmp_path / "data") as storage:

        async def torn() -> None:
            raise ChainBroken("the log grew past 256 MB")

        monkeypatch.setattr(shipping_in(storage), "copied", torn)
        async with a_shipper(storage, objects) as shipper:
            with trio.fail_after(HANG):
                while "3 copies in a row were not finished" not in shipper.state.says:
                    await trio.lowlevel.checkpoint()
    assert CURRENT not in objects.objects and not any(name.endswith("/whole") for name in objects.objects)
