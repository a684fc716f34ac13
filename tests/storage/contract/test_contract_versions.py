"""A write of a source's state compares versions: a stale write changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from storage.append import Answer, events_of
from storage.errors import Duplicate, StateMoved
from storage.records.event import EVERYTHING
from storage.records.identity import START
from storage.records.source import FIRST, Harvest, SourceState, Version
from storage.sql.storage import Storage
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_source_id, a_state, stamp

ONE, TWO = Version(1), Version(2)


def from_to(harvest: Harvest, since: Version, version: Version) -> Harvest:
    assert harvest.state is not None
    return replace(harvest, state=replace(harvest.state, since=since, version=version))


async def appended(storage: Storage, *harvests: Harvest) -> Sequence[Answer]:
    bounds = await storage.log.bounds()
    return await storage.log.append(harvests, storage.lease, CountingMint(bounds.newest + 1), stamp)


async def version_of(storage: Storage, number: int = 1) -> Version:
    found = await storage.sources.get(a_source_id(number))
    assert found is not None
    return found.version


async def test_a_harvest_from_another_state_is_refused_and_its_neighbours_go_on(storage: Storage) -> None:
    for number in (1, 2):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)
    (first,) = await appended(storage, from_to(a_harvest(1, "a", base=b"a"), FIRST, ONE))
    late, fine = await appended(
        storage, from_to(a_harvest(1, "a", base=b"late"), FIRST, TWO), from_to(a_harvest(2, "b"), FIRST, ONE)
    )
    assert not isinstance(first, Exception)
    assert isinstance(late, StateMoved)
    assert [len(answer) for answer in (first, fine) if not isinstance(answer, Exception)] == [1, 1]
    found = await storage.sources.get(a_source_id(1))
    assert found is not None and (found.version, found.base) == (ONE, b"a")
    assert len((await storage.log.read(START, 500, EVERYTHING)).events) == 2


async def test_two_harvests_from_one_state_in_one_transaction_are_one(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    answers = await appended(storage, from_to(a_harvest(1, "a"), FIRST, ONE), from_to(a_harvest(1, "a"), FIRST, TWO))
    assert len(events_of(answers)) == 1
    assert isinstance(answers[1], StateMoved)
    assert await version_of(storage) == ONE


async def test_an_edit_refuses_writes_based_on_the_old_version(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    await storage.sources.update(replace(a_source(1), title="mine"), storage.lease, ONE, before=None)
    (answer,) = await appended(storage, from_to(a_harvest(1, "a"), FIRST, TWO))
    assert isinstance(answer, StateMoved)
    await storage.log.save_states([replace(a_state(1), base=b"late")], storage.lease)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None and (found.version, found.base, found.source.title) == (ONE, b"", "mine")


async def test_an_edit_takes_another_state_along_in_its_transaction(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1, b"old"), storage.lease)
    forgotten = SourceState(a_source_id(1), a_state(1).hot, b"", FIRST, ONE)
    await storage.sources.update(replace(a_source(1), selector="main"), storage.lease, ONE, forgotten, before=None)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None and (found.source.selector, found.base, found.version) == ("main", b"", ONE)


async def test_a_source_is_born_with_its_baseline_and_its_first_events(storage: Storage) -> None:
    harvest = from_to(replace(a_harvest(1, "a", "b", base=b"seen"), born=a_source(1)), FIRST, ONE)
    (answer,) = await appended(storage, harvest)
    assert len(events_of([answer])) == 2
    found = await storage.sources.get(a_source_id(1))
    assert found is not None and (found.source, found.base, found.version) == (a_source(1), b"seen", ONE)
    (twin,) = await appended(
        storage, replace(harvest, source=a_source_id(2), born=replace(a_source(1), id=a_source_id(2)))
    )
    assert isinstance(twin, Duplicate) and twin.existing == a_source(1)
    assert await storage.sources.get(a_source_id(2)) is None


async def test_a_swept_state_keeps_the_version_that_others_know(storage: Storage) -> None:
    await storage.sources.add(a_source(1), replace(a_state(1), version=ONE), storage.lease)
    await storage.log.save_states([SourceState(a_source_id(1), a_state(1, looks=7).hot, None, ONE, ONE)], storage.lease)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None and (found.hot.looks, found.version) == (7, ONE)
