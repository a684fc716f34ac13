from __future__ import annotations

from storage.append import events_of
from storage.records.event import EVERYTHING
from storage.records.identity import START, Seq
from storage.sql.storage import Storage
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_source_id, a_state, stamp
from tests.storage.contract.test_contract_log import filled


async def test_deleted_rows_take_no_space(storage: Storage) -> None:
    await filled(storage, 600)
    before = (await storage.log.room()).used
    assert before > 0
    await storage.log.retain(Seq(1 << 62), 500, storage.lease)
    assert (await storage.log.room()).used < before


async def test_returned_pages_were_free(storage: Storage) -> None:
    await filled(storage, 600)
    await storage.log.retain(Seq(1 << 62), 500, storage.lease)
    before = await storage.log.room()
    gone = await storage.log.give_back(16 << 10, storage.lease)
    after = await storage.log.room()
    assert gone in (0, 16 << 10)
    assert (after.used, after.whole) == (before.used, before.whole - gone)
    assert await storage.log.give_back(1 << 30, storage.lease) == after.free
    assert len((await storage.log.read(START, 500, EVERYTHING)).events) == 100


async def test_a_source_holds_its_events_and_the_heaviest_is_first(storage: Storage) -> None:
    for number in (1, 2, 3):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)
    harvests = [a_harvest(1, *["short"] * 10), a_harvest(2, "long " * 500, "long " * 500)]
    stored = events_of(await storage.log.append(harvests, storage.lease, CountingMint(), stamp))
    await storage.sources.delete(a_source_id(2), storage.lease)
    weights = [sum(len(event.body) for event in stored if event.source == a_source_id(n)) for n in (1, 2)]
    assert await storage.log.held(a_source_id(1)) == (10, weights[0])
    assert await storage.log.held(a_source_id(3)) == (0, 0)
    assert await storage.log.held(a_source_id(4)) == (0, 0)
    heaviest = await storage.log.heaviest(5)
    assert list(heaviest.items()) == [(a_source_id(2), (2, weights[1])), (a_source_id(1), (10, weights[0]))]
    assert list(await storage.log.heaviest(1)) == [a_source_id(2)]
