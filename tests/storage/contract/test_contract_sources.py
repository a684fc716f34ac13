from __future__ import annotations

import msgspec
import pytest
import trio

from storage.errors import Duplicate, StateMoved
from storage.records.identity import Millis
from storage.records.source import FIRST, BreakerState, Health, SourceRuntime, Validators, Version, WatchedSource
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW, CountingMint, a_harvest, a_source, a_source_id, a_state, stamp


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


async def test_an_unknown_source_is_none(storage: Storage) -> None:
    assert await storage.sources.get(a_source_id(5)) is None
    assert await storage.sources.by_url("https://nowhere.example/") is None
    assert list(await storage.sources.page(None, 10)) == []


async def test_a_url_is_watched_once_and_the_first_one_is_named(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    with pytest.raises(Duplicate) as caught:
        await storage.sources.add(a_source(2, url=a_source(1).url), a_state(2), storage.lease)
    assert caught.value.existing == a_source(1)
    assert await storage.sources.get(a_source_id(2)) is None


async def test_one_of_many_concurrent_adds_of_a_url_succeeds(storage: Storage) -> None:
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


async def test_a_duplicate_does_not_harm_others_in_its_commit(storage: Storage) -> None:
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
    await storage.sources.update(changed, storage.lease, before=None)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert (found.source, found.hot.looks, found.base) == (changed, 4, b"base")


async def test_an_update_of_an_unknown_source_is_ignored(storage: Storage) -> None:
    await storage.sources.update(a_source(7), storage.lease, before=None)
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


async def test_a_source_that_was_deleted_is_unseen_frees_its_url_and_comes_back_as_it_was(storage: Storage) -> None:
    source = a_source(1, tags=("label:x",), headers="Cookie: a=b")
    await storage.sources.add(source, a_state(1, b"base", looks=4), storage.lease)
    await storage.sources.add(a_source(2), a_state(2), storage.lease)
    resting = msgspec.structs.replace(source, deleted_at=NOW)
    await storage.sources.update(resting, storage.lease, Version(7), before=source)
    assert await storage.sources.get(source.id) is None
    assert await storage.sources.by_url(source.url) is None
    assert [one.source.id for one in await storage.sources.page(None, 1)] == [a_source_id(2)]
    found = await storage.sources.get(source.id, deleted=True)
    assert found is not None and (found.source, found.hot.looks, found.base) == (resting, 4, b"base")
    assert await storage.sources.get(a_source_id(2), deleted=True) is None
    await storage.sources.update(source, storage.lease, Version(8), before=resting)
    assert await storage.sources.get(source.id, deleted=True) is None
    found = await storage.sources.get(source.id)
    assert found is not None and (found.source, found.hot.looks, found.base) == (source, 4, b"base")


async def test_cookies_overwrite_only_older_ones_with_any_state(storage: Storage) -> None:
    async def kept() -> str:
        found = await storage.sources.get(a_source_id(1))
        assert found is not None
        return found.hot.cookies

    await storage.sources.add(a_source(1), a_state(1, cookies="0 0 1\n[1]"), storage.lease)
    await storage.sources.add(a_source(2), a_state(2), storage.lease)
    assert await kept() == "0 0 1\n[1]"
    await storage.log.save_states([a_state(1, cookies="0 0 2\n[2]"), a_state(2, looks=3)], storage.lease)
    assert await kept() == "0 0 2\n[2]"
    await storage.log.append([a_harvest(1, "a", cookies="0 1 3\n[3]")], storage.lease, CountingMint(), stamp)
    assert await kept() == "0 1 3\n[3]"
    await storage.sources.update(a_source(1, title="Mine"), storage.lease, Version(7), before=None)
    await storage.log.save_states([a_state(1, cookies="0 0 9\n[9]")], storage.lease)
    assert await kept() == "0 1 3\n[3]"
    late = [(a_source_id(1), "0 1 4\n[4]"), (a_source_id(9), "[9]"), (a_source_id(2), "")]
    await storage.log.save_states([a_state(1, looks=99)], storage.lease, late)
    assert await kept() == "0 1 4\n[4]"
    found = await storage.sources.get(a_source_id(1))
    assert found is not None and found.hot.looks != 99, "that came from another state"
    await storage.log.append([a_harvest(1, "b", cookies="0 1 5\n[5]")], storage.lease, CountingMint(), stamp)
    assert await kept() == "0 1 5\n[5]", "what was renewed is renewed, also where the harvest is refused"
    await storage.sources.update(a_source(1), storage.lease, FIRST, a_state(1), before=None)
    assert await kept() == "0 1 5\n[5]"
    await storage.sources.update(a_source(1), storage.lease, FIRST, a_state(1, cookies="1 0 0\n"), before=None)
    await storage.log.save_states([], storage.lease, [(a_source_id(1), "0 8 9\n[8]")])
    assert await kept() == "1 0 0\n", "of other headers"


async def test_a_deleted_source_with_a_re_added_url_does_not_come_back(storage: Storage) -> None:
    source, again = a_source(1), a_source(2, url=a_source(1).url)
    await storage.sources.add(source, a_state(1), storage.lease)
    resting = msgspec.structs.replace(source, deleted_at=NOW)
    await storage.sources.update(resting, storage.lease, before=None)
    await storage.sources.add(again, a_state(2), storage.lease)
    with pytest.raises(Duplicate) as caught:
        await storage.sources.update(source, storage.lease, before=resting)
    assert caught.value.existing == again
    await storage.sources.update(msgspec.structs.replace(again, deleted_at=NOW), storage.lease, before=None)
    assert {one.id for one in await storage.sources.deleted(NOW, 10)} == {source.id, again.id}, "both rest"


async def test_deleted_sources_are_listed_newest_first_and_forgotten_oldest_first(storage: Storage) -> None:
    for number in (1, 2, 3):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)
        resting = msgspec.structs.replace(a_source(number), deleted_at=Millis(NOW + number))
        await storage.sources.update(resting, storage.lease, before=None)
    assert [one.id for one in await storage.sources.deleted(Millis(NOW + 2), 10)] == [a_source_id(3), a_source_id(2)]
    assert [one.id for one in await storage.sources.deleted(Millis(0), 1)] == [a_source_id(3)]
    assert await storage.sources.forget_deleted(Millis(NOW + 3), 1) == 1
    assert await storage.sources.get(a_source_id(1), deleted=True) is None
    assert await storage.sources.forget_deleted(Millis(NOW + 3), 10) == 1
    assert [one.id for one in await storage.sources.deleted(Millis(0), 10)] == [a_source_id(3)]


async def test_a_harvest_of_a_source_that_was_deleted_meanwhile_is_refused(storage: Storage) -> None:
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    resting = msgspec.structs.replace(a_source(1), deleted_at=NOW)
    await storage.sources.update(resting, storage.lease, Version(7), before=None)
    await storage.log.save_states((a_state(1, looks=9),), storage.lease)
    found = await storage.sources.get(a_source_id(1), deleted=True)
    assert found is not None and found.hot.looks != 9


async def test_a_record_or_state_that_has_moved_is_not_written_over(storage: Storage) -> None:
    await storage.sources.add(a_source(1), msgspec.structs.replace(a_state(1), version=Version(3)), storage.lease)
    known = await storage.sources.get(a_source_id(1))
    assert known is not None
    edited = msgspec.structs.replace(known.source, title="Mine")
    await storage.sources.update(edited, storage.lease, Version(4), before=known.source)
    due = msgspec.structs.replace(a_state(1), since=Version(3), version=Version(5))
    with pytest.raises(StateMoved):  # the record differs
        await storage.sources.update(known.source, storage.lease, Version(5), due, before=known.source)
    with pytest.raises(StateMoved):  # the state differs
        await storage.sources.update(edited, storage.lease, Version(5), due, before=edited)
    now = await storage.sources.get(a_source_id(1))
    assert now is not None and (now.source.title, now.version) == ("Mine", Version(4))
    due = msgspec.structs.replace(a_state(1), since=Version(4), version=Version(5))
    await storage.sources.update(edited, storage.lease, Version(5), due, before=edited)
    now = await storage.sources.get(a_source_id(1))
    assert now is not None and now.version == Version(5)
