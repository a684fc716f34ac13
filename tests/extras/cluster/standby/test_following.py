"""Following: cut off anywhere, the copy opens to a committed state."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from extras.cluster import standby as module
from extras.cluster.replica.parts import CURRENT, Whole, read_current, read_whole, whole_name, written_record
from extras.cluster.standby import Follower, StandbyCopy
from sanderling.exits import CommandFailed
from storage.errors import Corrupt
from storage.records.identity import Millis
from storage.sqlite.engine import STEPS
from tests.extras.cluster.replica.test_shipping import facts
from tests.support.replica import KEY, OTHER, MemoryObjects, a_shipper, a_storage, keys_of, quick, write


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


class Recorded:
    """A replica as it grew: each put in order, and each committed state of the database."""

    def __init__(self) -> None:
        self.objects = MemoryObjects()
        self.states: list[list[tuple[str, int]]] = []
        self.keys: list[bytes] = []


async def recorded(folder: Path, seed: int, commits: int = 8, lives: int = 2) -> Recorded:
    chance, found = random.Random(seed), Recorded()
    for _ in range(lives):
        async with a_storage(folder) as storage:
            found.states.append(facts(folder / "sanderling.db", beside=True))
            async with a_shipper(storage, found.objects):
                for _ in range(commits):
                    await write(storage, chance)
                    found.states.append(facts(folder / "sanderling.db", beside=True))
                    await found.objects.until(lambda: CURRENT in found.objects.objects)
                    if chance.random() < 0.5:
                        seen = len(found.objects.history)
                        await found.objects.until(lambda seen=seen: len(found.objects.history) > seen)
    found.keys = keys_of(folder)
    return found


def plain(rows: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return a test's rows, without the replica's owner and life."""
    return [row for row in rows if row[0].startswith("x")]


@pytest.mark.parametrize("seed", range(3))
async def test_any_arrived_copy_gives_a_committed_state_and_never_an_earlier_one(seed: int, tmp_path: Path) -> None:
    found = await recorded(tmp_path / "data", seed)
    states = [plain(state) for state in found.states]
    objects, copy, newest = MemoryObjects(), StandbyCopy(tmp_path / "standby", found.keys), -1
    for name, body in found.objects.history:
        objects.objects[name] = body
        await Follower(objects, copy).step()
        if copy.applied is None:
            continue
        now = plain(facts(copy.database))
        assert now in states
        at = len(states) - 1 - states[::-1].index(now)
        assert at >= newest
        newest = at
    assert newest == len(states) - 1


@pytest.mark.parametrize("seed", range(3))
async def test_cut_off_anywhere_it_goes_on_and_the_replica_may_be_gone_by_then(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await recorded(tmp_path / "data", seed, lives=1)
    states = [plain(state) for state in found.states]
    chance, nothing = random.Random(seed), MemoryObjects()
    nothing.away = "the disk is unplugged"
    real, calls, deaths = os.fsync, 0, list[int]()

    def dies(fd: int) -> None:
        nonlocal calls
        calls -= 1
        if calls == 0:
            deaths.append(fd)
            raise OSError(5, "the power is gone")
        real(fd)

    monkeypatch.setattr(os, "fsync", dies)
    for round in range(12):
        folder = tmp_path / f"standby{round}"
        for _ in range(chance.randint(1, 3)):
            calls = chance.randint(1, 12)
            with suppress(OSError):
                await Follower(found.objects, StandbyCopy(folder, found.keys)).step()
        calls = 0
        copy = StandbyCopy(folder, found.keys)
        await Follower(nothing, copy).step()
        if copy.applied is not None:
            assert plain(facts(copy.database)) in states
        await Follower(found.objects, copy).step()
        assert plain(facts(copy.database)) == states[-1]
    assert len(deaths) >= 6


async def test_gaps_garbage_and_mixed_chains_are_reported_and_the_copy_stays(tmp_path: Path) -> None:
    found = await recorded(tmp_path / "data", 7, lives=1)
    objects = found.objects
    current = read_current(objects.objects[CURRENT], *found.keys)
    assert current.change >= 2
    name = f"{current.chain}/change/000000002"
    good = objects.objects[name]
    copy = StandbyCopy(tmp_path / "standby", found.keys)
    for wrong, says in (
        (b"rubbish", "000000002: has another MAC"),
        (objects.objects[f"{current.chain}/change/000000001"], "does not follow the change before it"),
        (None, "change 2 of chain-"),
    ):
        objects.objects.pop(name, None)
        if wrong is not None:
            objects.objects[name] = wrong
        standing = await Follower(objects, copy).step()
        assert says in standing.says and standing.change == 1
        facts(copy.database)
    objects.objects[name] = good
    assert not (await Follower(objects, copy).step()).says


async def test_a_newer_service_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    found = await recorded(tmp_path / "data", 8, commits=1, lives=1)
    name = whole_name(read_current(found.objects.objects[CURRENT], *found.keys).chain)
    whole = read_whole(found.objects.objects[name], name, *found.keys)
    newer = Whole(whole.size, len(STEPS) + 1, "9.0.0", whole.at, whole.parts)
    found.objects.objects[name] = written_record(name, newer, *found.keys)
    with pytest.raises(CommandFailed, match=r"newer than this program \(version 9.0.0"):
        await Follower(found.objects, StandbyCopy(tmp_path / "standby", found.keys)).step()
    found.objects.objects.pop(name)
    assert "is missing" in (await Follower(found.objects, StandbyCopy(tmp_path / "standby", found.keys)).step()).says


async def test_an_empty_and_an_unreachable_replica_are_reported(tmp_path: Path) -> None:
    objects, copy = MemoryObjects(), StandbyCopy(tmp_path, [KEY])
    assert "does the service run" in (await Follower(objects, copy).step()).says
    objects.away = "the disk is unplugged"
    standing = await Follower(objects, copy).step()
    assert (standing.says, standing.at) == ("the disk is unplugged", None)
    shutil.rmtree(tmp_path)


async def test_a_copy_that_was_damaged_before_it_was_shipped_is_reported_once_for_its_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await recorded(tmp_path / "data", 9, commits=2, lives=1)
    checks = list[Path]()

    def damaged(database: Path) -> None:
        checks.append(database)
        raise Corrupt("the database is damaged: a page")

    monkeypatch.setattr(module, "examine", damaged)
    follower = Follower(found.objects, StandbyCopy(tmp_path / "standby", found.keys))
    for _ in range(2):
        assert "the database is damaged: a page" in (await follower.step()).says
    assert len(checks) == 1


async def test_a_damaged_chain_costs_no_copy_that_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await recorded(tmp_path / "data", 9, commits=2, lives=1)
    copy = StandbyCopy(tmp_path / "standby", found.keys)
    await Follower(found.objects, copy).step()
    good = copy.database
    assert good.exists()

    def damaged(_database: Path) -> None:
        raise Corrupt("the database is damaged: a page")

    monkeypatch.setattr(module, "examine", damaged)
    copy.put_part("chain-9", 0, bytes(4096))
    with pytest.raises(Corrupt):
        copy.begin("chain-9", 4096, Millis(0))
    assert (copy.database, good.exists()) == (good, True)


async def test_a_copy_without_macs_is_fetched_again(tmp_path: Path) -> None:
    found = await recorded(tmp_path / "data", 9, commits=2, lives=1)
    copy = StandbyCopy(tmp_path / "standby", found.keys)
    await Follower(found.objects, copy).step()
    state = tmp_path / "standby/standby/standby.json"
    kept = msgspec.json.decode(state.read_bytes())
    del kept["vouched"]
    state.write_bytes(msgspec.json.encode(kept))
    again = StandbyCopy(tmp_path / "standby", found.keys)
    assert again.applied is None
    assert (await Follower(found.objects, again).step()).says == "" and again.applied == copy.applied


async def test_nothing_that_was_made_with_another_key_is_followed(tmp_path: Path) -> None:
    found = await recorded(tmp_path / "data", 10, commits=1, lives=1)
    copy = StandbyCopy(tmp_path / "standby", [OTHER])
    standing = await Follower(found.objects, copy).step()
    assert "current: was not made with the master key" in standing.says and copy.applied is None
