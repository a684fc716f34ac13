from __future__ import annotations

from itertools import product

import msgspec
import pytest
import trio

from storage.append import events_of
from storage.errors import Fenced
from storage.records.destination import Portion
from storage.records.event import EVERYTHING, Bounds, Filter, Stored
from storage.records.identity import START, Seq, id_of
from storage.records.source import SourceRuntime
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from tests.storage.contract.builders import (
    NOW,
    CountingMint,
    a_draft,
    a_harvest,
    a_source,
    a_source_id,
    a_state,
    harvests_of,
    stamp,
)
from tests.storage.contract.engines import Engine

END = Seq((1 << 63) - 1)


def titles(events: object) -> list[str]:
    assert isinstance(events, list | tuple)
    return [msgspec.json.decode(event.body)["title"] for event in events]


async def watched(storage: Storage, *numbers: int) -> None:
    for number in numbers or (1,):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)


async def filled(storage: Storage, count: int, mint: CountingMint | None = None) -> list[Stored]:
    """Commit `count` events titled 0, 1, ... of sources 1, 2, 3 in turn."""
    await watched(storage, 1, 2, 3)
    harvests = [a_harvest(1 + number % 3, a_draft(str(number), (f"topic:{number % 2}",))) for number in range(count)]
    return list(events_of(await storage.log.append(harvests, storage.lease, mint or CountingMint(), stamp)))


async def all_pages(storage: Storage, where: Filter, limit: int, budget: int) -> list[Stored]:
    found: list[Stored] = []
    at = START
    for _ in range(10_000):
        page = await storage.log.read(at, limit, where, budget)
        assert len(page.events) <= limit
        assert all(at < event.seq <= page.scanned for event in page.events)
        found.extend(page.events)
        if page.scanned >= page.head:
            return found
        assert page.scanned > at, "a page that makes no progress would be read for ever"
        at = page.scanned
    raise AssertionError("no end")


async def test_events_come_back_in_commit_order_with_rising_positions(storage: Storage) -> None:
    await watched(storage, 1, 2)
    mint = CountingMint()
    first = events_of(await storage.log.append([a_harvest(2, "a", "b"), a_harvest(1, "c")], storage.lease, mint, stamp))
    second = events_of(await storage.log.append([a_harvest(1, "d")], storage.lease, mint, stamp))
    page = await storage.log.read(START, 500, EVERYTHING)
    assert titles(page.events) == ["a", "b", "c", "d"]
    assert [*first, *second] == list(page.events)
    assert page.scanned == page.head == second[-1].seq
    seqs = [event.seq for event in page.events]
    assert seqs == sorted(set(seqs))
    assert [event.source for event in page.events] == [a_source_id(n) for n in (2, 2, 1, 1)]


async def test_a_harvest_brings_its_state_in_the_same_transaction(storage: Storage) -> None:
    await watched(storage)
    await storage.log.append([a_harvest(1, "a", base=b"seen a", looks=7)], storage.lease, CountingMint(), stamp)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert (found.hot.looks, found.base) == (7, b"seen a")


async def test_a_stamp_that_fails_leaves_neither_events_nor_state(storage: Storage) -> None:
    await watched(storage)

    def broken(seq: Seq, event_id: str, source: object, draft: object) -> bytes:
        raise RuntimeError("planned")

    with pytest.raises(RuntimeError, match="planned"):
        await storage.log.append([a_harvest(1, "a", looks=7)], storage.lease, CountingMint(), broken)
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert found.hot == SourceRuntime()
    assert not (await storage.log.read(START, 500, EVERYTHING)).events


async def test_a_failing_append_does_not_harm_its_neighbours(storage: Storage) -> None:
    await watched(storage)
    mint = CountingMint()

    def picky(seq: Seq, event_id: str, source: object, draft: object) -> bytes:
        raise RuntimeError("planned")

    failed: list[object] = []

    async def fail() -> None:
        try:
            await storage.log.append([a_harvest(1, "bad")], storage.lease, mint, picky)
        except RuntimeError as error:
            failed.append(error)

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(storage.log.append, [a_harvest(1, str(number))], storage.lease, mint, stamp)
            nursery.start_soon(fail)
    assert len(failed) == 20
    page = await storage.log.read(START, 500, EVERYTHING)
    assert sorted(titles(page.events), key=int) == [str(number) for number in range(20)]


async def test_a_mint_that_does_not_rise_is_refused(storage: Storage) -> None:
    await watched(storage)

    class Stuck(CountingMint):
        def mint(self) -> tuple[Seq, str]:
            return Seq(1000), id_of(Seq(1000), 1)

    with pytest.raises(ValueError, match="must rise"):
        await storage.log.append([a_harvest(1, "a", "b")], storage.lease, Stuck(), stamp)
    assert not (await storage.log.read(START, 500, EVERYTHING)).events


async def test_a_harvest_of_a_deleted_source_is_skipped_whole(storage: Storage) -> None:
    await watched(storage, 1, 2)
    mint = CountingMint()
    await storage.log.append([a_harvest(1, "before")], storage.lease, mint, stamp)
    await storage.sources.delete(a_source_id(1), storage.lease)
    got = events_of(await storage.log.append([a_harvest(1, "late"), a_harvest(2, "fine")], storage.lease, mint, stamp))
    assert titles(got) == ["fine"]
    assert await storage.sources.get(a_source_id(1)) is None
    assert titles((await storage.log.read(START, 500, EVERYTHING)).events) == ["before", "fine"]


async def test_a_harvest_without_events_saves_its_state(storage: Storage) -> None:
    await watched(storage)
    assert (
        list(events_of(await storage.log.append([a_harvest(1, looks=3)], storage.lease, CountingMint(), stamp))) == []
    )
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert found.hot.looks == 3


async def test_base_none_leaves_the_base_and_empty_empties_it(storage: Storage) -> None:
    await storage.sources.add(a_source(), a_state(base=b"old"), storage.lease)

    async def base_after(base: bytes | None) -> bytes:
        await storage.log.save_states([a_state(base=base, looks=1)], storage.lease)
        found = await storage.sources.get(a_source_id(1))
        assert found is not None
        return found.base

    assert await base_after(None) == b"old"
    assert await base_after(b"new") == b"new"
    assert await base_after(b"") == b""


async def test_states_of_unknown_sources_are_skipped(storage: Storage) -> None:
    await watched(storage)
    await storage.log.save_states([a_state(9, b"x"), a_state(1, looks=2)], storage.lease)
    assert await storage.sources.get(a_source_id(9)) is None
    found = await storage.sources.get(a_source_id(1))
    assert found is not None
    assert found.hot.looks == 2


async def test_an_earlier_process_is_fenced_and_changes_nothing(engine: Engine) -> None:
    first = await engine.start()
    await watched(first)
    old = first.lease
    await first.aclose()
    second = await engine.start()
    assert second.lease.epoch > old.epoch
    for write in (
        second.log.append([a_harvest(1, "late", looks=9)], old, CountingMint(), stamp),
        second.log.save_states([a_state(1, looks=9)], old),
        second.log.retain(Seq(1 << 62), 10, old),
        second.sources.add(a_source(2), a_state(2), old),
        second.sources.update(a_source(1, enabled=False), old, before=None),
        second.sources.delete(a_source_id(1), old),
        second.outbox.advance("matcher", None, Seq(5), [], old),
        second.outbox.settle([], old),
        second.outbox.release(old),
        second.log.adopt([], Seq(1 << 62), old),
        second.log.give_back(1 << 20, old),
        second.outbox.enqueue([], old),
        second.outbox.freeze("hook", Portion(NOW, NOW, 10, 1 << 20), lambda bodies: ("id", b"{}"), old),
    ):
        with pytest.raises(Fenced):
            await write
    found = await second.sources.get(a_source_id(1))
    assert found is not None
    assert found.hot == SourceRuntime()
    assert found.source.enabled
    assert await second.sources.get(a_source_id(2)) is None
    assert await second.outbox.cursor("matcher") is None
    assert not (await second.log.read(START, 500, EVERYTHING)).events
    await second.aclose()


async def test_everything_is_there_after_a_restart_and_ids_go_on_above(engine: Engine) -> None:
    first = await engine.start()
    before = await filled(first, 5)
    await first.aclose()
    second = await engine.start()
    page = await second.log.read(START, 500, EVERYTHING)
    assert list(page.events) == before
    assert second.tail.head == before[-1].seq
    stepped_back = CountingMint(start=1000)
    (event,) = events_of(await second.log.append([a_harvest(1, "next")], second.lease, stepped_back, stamp))
    assert stepped_back.floors[0] == before[-1].seq
    assert event.seq > before[-1].seq
    await second.aclose()


FILTERS = (
    EVERYTHING,
    Filter(sources=(a_source_id(2),)),
    Filter(sources=(a_source_id(3), a_source_id(1), a_source_id(1))),
    Filter(sources=(a_source_id(9),)),
    Filter(source_prefixes=(a_source_id(2)[:14],)),
    Filter(sources=(a_source_id(1),), source_prefixes=(a_source_id(2),)),
    Filter(kinds=(Kind.HTML, Kind.PUSH)),
    Filter(tags=("topic:1", "topic:none")),
    Filter(tags=("topic:1",), sources=(a_source_id(1), a_source_id(2)), kinds=(Kind.FEED,)),
    Filter(tags=("topic",)),
)
PAGES = ((1, 10), (7, 1), (7, 5000), (500, 10), (500, 5000))
"""Limits of a page: events, and rows read."""


async def test_all_pages_together_are_the_filtered_log(storage: Storage, subtests: pytest.Subtests) -> None:
    await watched(storage, 1, 2, 3)
    kinds = ("feed", "html", "push")
    harvests = [
        a_harvest(1 + number % 3, a_draft(str(number), (f"topic:{number % 2}",), source_type=kinds[number % 5 % 3]))
        for number in range(40)
    ]
    events = list(events_of(await storage.log.append(harvests, storage.lease, CountingMint(), stamp)))
    for where, (limit, budget) in product(FILTERS, PAGES):
        with subtests.test(where=str(where), limit=limit, budget=budget):
            wanted = [event for event in events if where.admits(event)]
            assert await all_pages(storage, where, limit, budget) == wanted

            back: list[Stored] = []
            at = Seq(events[-1].seq + 1)
            while at > START:
                page = await storage.log.read_back(at, limit, where, budget)
                assert len(page.events) <= limit
                assert page.scanned < at
                back.extend(page.events)
                at = page.scanned
            assert back[::-1] == wanted


async def test_events_of_a_deleted_source_can_still_be_filtered(storage: Storage) -> None:
    events = await filled(storage, 6)
    await storage.sources.delete(a_source_id(2), storage.lease)
    page = await storage.log.read(START, 500, Filter(sources=(a_source_id(2),)))
    assert list(page.events) == [event for event in events if event.source == a_source_id(2)]


async def test_a_source_that_comes_back_has_its_old_events(storage: Storage) -> None:
    await filled(storage, 3)
    await storage.sources.delete(a_source_id(2), storage.lease)
    await storage.sources.add(a_source(2), a_state(2), storage.lease)
    mint = CountingMint()
    await storage.log.append([a_harvest(2, "again")], storage.lease, mint, stamp)
    page = await storage.log.read(START, 500, Filter(sources=(a_source_id(2),)))
    assert titles(page.events) == ["1", "again"]


async def test_an_audit_stops_at_its_budget_and_says_how_far_it_got(storage: Storage) -> None:
    events = await filled(storage, 30)
    page = await storage.log.read(START, 500, Filter(tags=("none",)), budget=10)
    assert list(page.events) == []
    assert page.scanned == events[9].seq
    assert page.head == events[-1].seq
    back = await storage.log.read_back(Seq(events[-1].seq + 1), 500, Filter(tags=("none",)), budget=10)
    assert back.scanned == events[20].seq


async def test_a_cursor_in_the_future_finds_nothing_and_stays(storage: Storage) -> None:
    events = await filled(storage, 3)
    ahead = Seq(events[-1].seq + 1000)
    page = await storage.log.read(ahead, 500, EVERYTHING)
    assert (list(page.events), page.scanned, page.head) == ([], ahead, events[-1].seq)


async def test_an_empty_log_has_no_ends(storage: Storage) -> None:
    assert await storage.log.bounds() == Bounds(START, START, START)
    page = await storage.log.read(START, 500, EVERYTHING)
    assert (list(page.events), page.scanned, page.head) == ([], START, START)
    assert (await storage.log.read_back(Seq(1 << 62), 500, EVERYTHING)).scanned == START


async def test_one_event_is_found_by_its_whole_id_only(storage: Storage) -> None:
    events = await filled(storage, 3)
    wanted = events[1]
    event_id = id_of(wanted.seq, 5)
    assert await storage.log.get(event_id) == wanted
    assert await storage.log.get(event_id.upper()) == wanted
    assert await storage.log.get(id_of(wanted.seq, 6)) is None
    assert await storage.log.get(id_of(Seq(wanted.seq + 100), 5)) is None
    assert await storage.log.get("not an id") is None
    assert await storage.log.get("6fa459ea-ee8a-4ca4-894e-db77e160355e") is None


async def test_retention_takes_the_oldest_and_raises_the_floor(storage: Storage) -> None:
    events = await filled(storage, 10)
    assert await storage.log.retain(events[6].seq, 4, storage.lease) == 4
    assert await storage.log.bounds() == Bounds(events[3].seq, events[4].seq, events[-1].seq)
    assert await storage.log.count() == 6
    assert await storage.log.retain(events[6].seq, 4, storage.lease) == 2
    assert await storage.log.retain(events[6].seq, 4, storage.lease) == 0
    assert (await storage.log.bounds()).floor == events[5].seq
    for page in (
        await storage.log.read(START, 500, EVERYTHING),
        await storage.log.read(events[-1].seq, 500, EVERYTHING),
        await storage.log.read_back(events[-1].seq, 500, EVERYTHING),
    ):
        assert page.floor == events[5].seq, "who has read on from below it has missed something"
    assert list((await storage.log.read(START, 500, EVERYTHING)).events) == events[6:]
    assert await storage.log.get(id_of(events[0].seq, 5)) is None


async def test_a_log_emptied_by_retention_keeps_its_head(engine: Engine) -> None:
    """Readers at the head must not fall back, and new ids must exceed all earlier ones."""
    storage = await engine.start()
    events = await filled(storage, 3)
    assert await storage.log.retain(Seq(1 << 62), 10, storage.lease) == 3
    last = events[-1].seq
    assert await storage.log.bounds() == Bounds(last, START, last)
    assert (await storage.log.read(START, 500, EVERYTHING)).scanned == last
    await storage.aclose()
    again = await engine.start()
    assert again.tail.head == last
    mint = CountingMint(start=5)
    (event,) = events_of(await again.log.append([a_harvest(1, "next")], again.lease, mint, stamp))
    assert event.seq > last
    await again.aclose()


async def test_waiting_appends_are_each_answered_with_their_own_events(storage: Storage) -> None:
    await watched(storage)
    mint = CountingMint()
    answers: dict[str, list[str]] = {}

    async def send(name: str) -> None:
        answers[name] = titles(
            events_of(await storage.log.append([a_harvest(1, f"{name}.1", f"{name}.2")], storage.lease, mint, stamp))
        )

    async with trio.open_nursery() as nursery:
        for number in range(300):
            nursery.start_soon(send, str(number))
    assert answers == {str(number): [f"{number}.1", f"{number}.2"] for number in range(300)}
    page = await storage.log.read(START, 500, EVERYTHING)
    assert len(page.events) == 500
    assert [event.seq for event in page.events] == sorted(event.seq for event in page.events)


async def test_one_append_larger_than_a_batch_is_still_one_transaction(storage: Storage) -> None:
    await watched(storage)
    harvests = harvests_of(1, range(1_500))
    assert len(events_of(await storage.log.append(harvests, storage.lease, CountingMint(), stamp))) == 1_500
    assert await storage.log.count() == 1_500


async def test_a_cancelled_append_happens_whole_or_not_at_all(storage: Storage) -> None:
    await watched(storage)
    mint = CountingMint()
    with trio.CancelScope() as scope:
        scope.cancel()
        await storage.log.append([a_harvest(1, "a", "b", looks=5)], storage.lease, mint, stamp)
    await storage.log.append([a_harvest(1, "c")], storage.lease, mint, stamp)
    found = titles((await storage.log.read(START, 500, EVERYTHING)).events)
    assert found in (["c"], ["a", "b", "c"])


async def test_the_writer_moves_while_it_is_idle(storage: Storage) -> None:
    assert storage.writer_moved_at() == pytest.approx(trio.current_time(), abs=0.1)


async def test_files_have_sizes_and_memory_has_none(storage: Storage) -> None:
    sizes = storage.sizes()
    assert set(sizes) in (set(), {"database", "wal"})
    assert all(size > 0 for size in sizes.values())


async def test_events_between_two_positions_are_counted(storage: Storage) -> None:
    """After the first, before the second."""
    events = await filled(storage, 6)
    assert await storage.log.count_between(START, END) == 6
    assert await storage.log.count_between(events[0].seq, events[4].seq) == 3
    assert await storage.log.count_between(events[5].seq, END) == 0
