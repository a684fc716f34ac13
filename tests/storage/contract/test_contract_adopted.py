"""Adopting a part of another instance's log unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from storage.append import events_of
from storage.errors import Fenced
from storage.records.event import EVERYTHING, Bounds, Filter, Stored
from storage.records.identity import SERVICE, START, Seq, id_of
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_source_id, a_state, stamp
from tests.storage.contract.engines import Engine

FLOOR = Seq(1 << 20)


def elsewhere(*places: int, source: int = 7) -> Sequence[Stored]:
    """Return events of another instance at these distances above the floor."""
    at = [Seq(FLOOR + place) for place in places]
    return [Stored(seq, a_source_id(source), Kind.HTML, b'{"id":"%s"}' % id_of(seq, 9).encode()) for seq in at]


async def test_events_without_a_watched_source_are_stored_unchanged(engine: Engine) -> None:
    storage = await engine.start()
    first = [*elsewhere(3, 4), Stored(Seq(FLOOR + 9), SERVICE, Kind.NOTICE, b'{"id":"x"}')]
    second = elsewhere(20, source=8)
    await storage.log.adopt(first, FLOOR, storage.lease)
    await storage.log.adopt(second, FLOOR, storage.lease)
    await storage.aclose()
    again = await engine.start()
    assert list((await again.log.read(START, 500, EVERYTHING)).events) == [*first, *second]
    assert await again.log.bounds() == Bounds(FLOOR, first[0].seq, second[0].seq)
    of_one = await again.log.read(START, 500, Filter(sources=(a_source_id(7),)))
    assert list(of_one.events) == first[:2]
    assert await again.log.get(id_of(first[1].seq, 9)) == first[1]
    assert await again.sources.page(None, 10) == []
    await again.aclose()


async def test_ids_after_adopted_events_are_above_them(storage: Storage) -> None:
    await storage.log.adopt(elsewhere(5), FLOOR, storage.lease)
    await storage.sources.add(a_source(), a_state(), storage.lease)
    (event,) = events_of(await storage.log.append([a_harvest(1, "new")], storage.lease, CountingMint(0), stamp))
    assert event.seq == FLOOR + 6


async def test_a_floor_alone_is_a_log_that_was_emptied(engine: Engine) -> None:
    storage = await engine.start()
    await storage.log.adopt((), FLOOR, storage.lease)
    await storage.aclose()
    again = await engine.start()
    assert await again.log.bounds() == Bounds(FLOOR, START, FLOOR)
    await again.sources.add(a_source(), a_state(), again.lease)
    (event,) = events_of(await again.log.append([a_harvest(1, "new")], again.lease, CountingMint(0), stamp))
    assert event.seq == FLOOR + 1
    await again.aclose()


@pytest.mark.parametrize(("places", "floor"), [((8, 8), 0), ((9, 8), 0), ((5,), 0), ((4,), 0), ((6,), 6), ((), 5)])
async def test_adopted_ids_below_the_head_change_nothing(places: tuple[int, ...], floor: int, storage: Storage) -> None:
    await storage.log.adopt(elsewhere(5), FLOOR, storage.lease)
    before = await storage.log.bounds()
    with pytest.raises(ValueError, match=r"rise|floor"):
        await storage.log.adopt(elsewhere(*places), Seq(FLOOR + floor), storage.lease)
    assert await storage.log.bounds() == before
    assert await storage.log.count() == 1


async def test_an_earlier_process_takes_nothing_over(storage: Storage) -> None:
    with pytest.raises(Fenced):
        await storage.log.adopt(elsewhere(5), FLOOR, storage.lease._replace(epoch=0))
    assert await storage.log.count() == 0
