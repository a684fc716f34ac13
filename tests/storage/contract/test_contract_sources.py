from __future__ import annotations

import msgspec
import pytest
import trio

from storage.errors import Duplicate
from storage.interface import Storage
from storage.records.health import BreakerState, Health
from storage.records.identity import Millis
from storage.records.source import SourceRuntime, Validators, WatchedSource
from tests.storage.contract.builders import NOW, a_source, a_source_id, a_state


async def test_a_source_comes_back_as_it_was_added(storage: Storage) -> None:
    source = a_source(1, tags=("topic:a",), selector="main", ignore=(".ad",), schedule=600, backfill=3)
    hot = SourceRuntime(
        validators=Validators('W/"x"', "Sat, 21 Nov 2026 05:00:00 GMT", "ab" * 16),
        breaker=BreakerState("open", 3, 1, Millis(NOW + 5)),
        health=Health(0.25, "rotten", "Nothing has answered for two days.", NOW),
        interval=612.5,
        next_look_at=NOW,
        pace=b"\x00\x01",
    )
    await storage.sources.add(source, msgspec.structs.replace(a_state(1, b"base"), hot=hot), storage.lease)
    assert await storage.sources.get(source.id) == WatchedSource(source, hot, b"base")
    assert await storage.sources.by_url(source.url) == source


async def test_what_is_unknown_is_none(storage: Storage) -> None:
    assert await storage.sources.get(a_source_id(5)) is None
    assert await storage.sources.by_url("https://nowhere.example/") is None
    assert list(await storage.sources.page(None, 10)) == []


async def test_a_url_is_watched_once_and_the_first_one_is_named(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    with pytest.raises(Duplicate) as caught:
        await storage.sources.add(a_source(2, url=a_source(1).url), a_state(2), storage.lease)
    assert caught.value.existing == a_source(1)
    assert await storage.sources.get(a_source_id(2)) is None


async def test_of_many_who_add_one_url_at_once_one_succeeds(storage: Storage) -> None:
    refused: list[Duplicate] = []

    async def add(number: int) -> None:
        try:
            await storage.sources.add(a_source(number, url="https://one.example/"), a_state(number), storage.lease)
        except Duplicate as error:
            refused.append(error)

    async with trio.open_nursery() as nursery:
        for number in range(1, 21):
            nursery.start_soon(add, number)
    (watched,) = await storage.sources.page(None, 100)
    assert [error.existing for error in refused] == [watched.source] * 19


async def test_a_duplicate_does_not_harm_those_who_are_committed_with_it(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1), storage.lease)

    async def add_again() -> None:
        with pytest.raises(Duplicate):
            await storage.sources.add(a_source(1), a_state(1), storage.lease)

    async with trio.open_nursery() as nursery:
        for number in range(2, 12):
            nursery.start_soon(storage.sources.add, a_source(number), a_state(number), storage.lease)
            nursery.start_soon(add_again)
    assert len(await storage.sources.page(None, 100)) == 11


async def test_an_update_replaces_the_wish_and_keeps_the_memory(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1, b"base", looks=4), storage.lease)
    changed = a_source(1, enabled=False, tags=("label:x",))
    await storage.sources.update(changed, storage.lease)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert (found.source, found.hot.looks, found.base) == (changed, 4, b"base")


async def test_an_update_of_an_unknown_source_is_ignored(storage: Storage) -> None:
    await storage.sources.update(a_source(7), storage.lease)
    assert await storage.sources.get(a_source_id(7)) is None
    assert await storage.sources.by_url(a_source(7).url) is None


async def test_a_deleted_source_is_gone_with_its_memory_and_its_url_is_free(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1, b"old"), storage.lease)
    await storage.sources.delete(a_source_id(1), storage.lease)
    await storage.sources.delete(a_source_id(1), storage.lease)
    assert await storage.sources.get(a_source_id(1)) is None
    await storage.sources.add(a_source(2, url=a_source(1).url), a_state(2), storage.lease)
    assert await storage.sources.by_url(a_source(1).url) == a_source(2, url=a_source(1).url)
    await storage.sources.add(a_source(1, url="https://other.example/"), a_state(1), storage.lease)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert found.base == b""


async def test_pages_walk_all_sources_in_id_order(storage: Storage) -> None:
    for number in (5, 3, 9, 1, 7):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)
    seen = []
    after = None
    while page := await storage.sources.page(after, 2):
        assert len(page) <= 2
        seen += [watched.source.id for watched in page]
        after = seen[-1]
    assert seen == [a_source_id(number) for number in (1, 3, 5, 7, 9)]
