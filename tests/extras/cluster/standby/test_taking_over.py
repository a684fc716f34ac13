"""The take-over: its refusals, its leftovers, and that no position is ever given twice."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio

from extras.cluster import standby as module
from extras.cluster.replica.parts import CURRENT, OWNER, Owner, read_owner, written_record
from extras.cluster.standby import MARGIN, Follower, StandbyCopy, Takeover, _held, sentences, take_over
from sanderling.data_folder import STANDBY
from sanderling.exits import CommandFailed
from storage.records.access import ApiKey
from storage.records.identity import Millis, seq_at
from storage.sqlite import open_keys
from storage.sqlite.engine import DATABASE
from storage.sqlite.master_key import OWN
from tests.support.replica import MemoryObjects, a_shipper, a_storage, keys_of, quick, write
from tests.support.waiting import HANG

NOW = Millis(1_800_000_000_000)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


async def a_replica(data: Path) -> MemoryObjects:
    objects = MemoryObjects()
    async with a_storage(data) as storage, a_shipper(storage, objects):
        await objects.until(lambda: CURRENT in objects.objects)
        await write(storage, random.Random(1))
    return objects


def keyed(primary: Path, standby: Path) -> Path:
    """Put the master key where the docs require it."""
    standby.mkdir(mode=0o700, exist_ok=True)
    if (primary / OWN).exists():
        (standby / OWN).write_bytes((primary / OWN).read_bytes())
        (standby / OWN).chmod(0o600)
    return standby


async def taken(objects: MemoryObjects, data: Path, *, unreachable: bool = False) -> Takeover:
    return await take_over(
        objects, StandbyCopy(data, keys_of(data)), data, {}, now=NOW, by="shore2", unreachable=unreachable
    )


def fact(database: Path, name: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute("SELECT value FROM fact WHERE name=?", (name,)).fetchone()[0])


async def test_it_becomes_the_folder_and_the_old_one_is_superseded(tmp_path: Path) -> None:
    objects = await a_replica(tmp_path / "one")
    standby = keyed(tmp_path / "one", tmp_path / "two")
    done = await taken(objects, standby)
    assert done.number == 2 and read_owner(objects.objects[OWNER], *keys_of(tmp_path / "one")).by == "shore2"
    assert not (standby / STANDBY).exists()
    why = list[str]()
    async with a_storage(standby) as storage:  # the new one ships on to the same replica
        assert storage.log._last >= seq_at(Millis(max(NOW, done.at) + MARGIN)), "positions begin above all others"
        before = objects.objects[CURRENT]
        async with a_shipper(storage, objects, why.append):
            await objects.until(lambda: objects.objects[CURRENT] != before)
    assert not why
    async with a_storage(tmp_path / "one") as storage, a_shipper(storage, objects, why.append):
        with trio.fail_after(HANG):
            while not why:
                await trio.lowlevel.checkpoint()


async def test_without_the_master_key_nothing_changes(tmp_path: Path) -> None:
    objects = await a_replica(tmp_path / "one")
    with pytest.raises(CommandFailed, match="master key"):
        await taken(objects, tmp_path / "two")
    with pytest.raises(CommandFailed, match=r"copy that key to .*master\.key"), _held(tmp_path / "two", {}):
        pass
    assert (
        read_owner(objects.objects[OWNER], *keys_of(tmp_path / "one")).number == 1
        and not (tmp_path / "two" / DATABASE).exists()
    )


async def test_a_take_over_without_notice_to_the_owner_needs_confirmation(tmp_path: Path) -> None:
    objects = await a_replica(tmp_path / "one")
    standby = keyed(tmp_path / "one", tmp_path / "two")
    with _held(standby, {}) as copy:
        await Follower(objects, copy).step()
    objects.away = "the disk is unplugged"
    with pytest.raises(CommandFailed, match=r"could not be stopped: the disk is unplugged.*--unreachable"):
        await taken(objects, standby)
    done = await taken(objects, standby, unreachable=True)
    assert (done.number, fact(standby / DATABASE, "replica_number")) == (2, 2)
    objects.away = ""
    async with a_storage(standby) as storage, a_shipper(storage, objects):  # reports it once it can
        await objects.until(lambda: read_owner(objects.objects[OWNER], *keys_of(tmp_path / "one")).number == 2)


async def test_nothing_and_another_instances_replica_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="There is nothing to take over"):
        await taken(MemoryObjects(), tmp_path / "two")
    objects = await a_replica(tmp_path / "one")
    objects.objects[OWNER] = written_record(OWNER, Owner(1, 1, "a thief", NOW), *keys_of(tmp_path / "one"))
    with pytest.raises(CommandFailed, match="Another instance owns"):
        await taken(objects, keyed(tmp_path / "one", tmp_path / "two"))


@pytest.mark.parametrize("at", ["replace", "keep"])
async def test_cut_off_it_can_be_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    objects = await a_replica(tmp_path / "one")
    standby = keyed(tmp_path / "one", tmp_path / "two")

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    real = os.replace
    if at == "replace":
        monkeypatch.setattr(os, "replace", lambda old, new: dies() if str(new).endswith(DATABASE) else real(old, new))
    else:
        monkeypatch.setattr(module, "_keep", dies)
    with pytest.raises(BaseExceptionGroup) as caught:
        await _in_a_group(objects, standby)
    assert caught.group_contains(KeyboardInterrupt)
    monkeypatch.undo()
    if at == "keep":
        with pytest.raises(CommandFailed, match="a take-over was cut off"), _held(standby, {}):
            pass
    with _held(standby, {}, resumes=True) as copy:
        done = await take_over(objects, copy, standby, {}, now=NOW, by="shore2", unreachable=False)
    assert (
        fact(standby / DATABASE, "replica_number")
        == done.number
        == read_owner(objects.objects[OWNER], *keys_of(tmp_path / "one")).number
        == 3
    )


async def _in_a_group(objects: MemoryObjects, standby: Path) -> None:
    try:
        await taken(objects, standby)
    except KeyboardInterrupt as error:
        raise BaseExceptionGroup("cut off", [error]) from None


async def test_a_folder_with_a_database_of_its_own_is_no_standbys(tmp_path: Path) -> None:
    async with a_storage(tmp_path):
        pass
    with pytest.raises(CommandFailed, match="already has a database"), _held(tmp_path, {}):
        pass


async def test_keys_and_sessions_are_listed_as_after_a_restore(tmp_path: Path) -> None:
    with open_keys(tmp_path / "one") as keys:
        keys.add(ApiKey("lighthouse", "lighthouse", "svc_abcdefgh", "hash", ("admin",), NOW))
    objects = await a_replica(tmp_path / "one")
    done = await taken(objects, keyed(tmp_path / "one", tmp_path / "two"))
    said = "\n".join(sentences(done, tmp_path / "two"))
    assert "1 API key:" in said and "lighthouse" in said and "no password, no sessions" in said
