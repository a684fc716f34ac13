"""Heartbeats in the log: each follows the one before it, and only the configured number is kept."""

from __future__ import annotations

from collections.abc import Sequence

from storage.append import events_of
from storage.records.event import EVERYTHING, Filter, Heartbeat, Stored
from storage.records.identity import SERVICE, START, Seq
from storage.records.source import Harvest
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from tests.storage.contract.builders import CountingMint, a_draft, a_harvest, a_source, a_source_id, a_state, stamp

BEAT = Heartbeat(1, 60, "2026-01-01T00:00:00.000Z", None, None, "2026-01-01T00:00:00.000Z", 0, "", 0, 0, 0)
LAST = Seq((1 << 63) - 1)


def a_beat(follows: Seq) -> Harvest:
    draft = a_draft("Heartbeat", alert_type="heartbeat", heartbeat=BEAT)
    return Harvest(SERVICE, (draft,), None, follows=follows)


async def appended(storage: Storage, mint: CountingMint, *harvests: Harvest) -> Sequence[Stored]:
    return events_of(await storage.log.append(harvests, storage.lease, mint, stamp))


async def beats(storage: Storage, mint: CountingMint, count: int) -> list[Stored]:
    found: list[Stored] = []
    for _ in range(count):
        found += await appended(storage, mint, a_beat(found[-1].seq if found else START))
    return found


async def test_a_heartbeat_is_committed_only_while_it_follows_the_newest(storage: Storage) -> None:
    mint = CountingMint()
    assert await storage.log.heartbeat() is None
    (first,) = await appended(storage, mint, a_beat(START), a_beat(START))
    assert (first.source, first.kind) == (SERVICE, Kind.HEARTBEAT)
    assert await appended(storage, mint, a_beat(START)) == []
    (second,) = await appended(storage, mint, a_beat(first.seq))
    assert await storage.log.heartbeat() == second


async def test_only_the_newest_heartbeats_are_stored_and_no_event_is_deleted_with_the_others(storage: Storage) -> None:
    mint = CountingMint()
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    (news,) = await appended(storage, mint, a_harvest(1, "news"))
    told = await beats(storage, mint, 6)
    assert await storage.log.forget_heartbeats(told[1].seq, 2, 10, storage.lease) == 1
    assert await storage.log.forget_heartbeats(LAST, 2, 2, storage.lease) == 2
    assert await storage.log.forget_heartbeats(LAST, 2, 10, storage.lease) == 1
    assert await storage.log.forget_heartbeats(LAST, 2, 10, storage.lease) == 0
    page = await storage.log.read(START, 100, EVERYTHING)
    assert [event.seq for event in page.events] == [news.seq, *(beat.seq for beat in told[-2:])]
    assert (await storage.log.bounds()).floor == START


async def test_heartbeats_do_not_count_among_the_events(storage: Storage) -> None:
    mint = CountingMint()
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    await beats(storage, mint, 3)
    await appended(storage, mint, a_harvest(1, "news"))
    assert await storage.log.count() == 1
    assert await storage.log.count_between(START, LAST) == 1


async def test_silent_passes_are_found_between_events_of_a_few_sources(storage: Storage) -> None:
    mint = CountingMint()
    for number in (1, 2):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)
    one, _, beat = await appended(storage, mint, a_harvest(1, "one"), a_harvest(2, "two"), a_beat(START))
    where = Filter(sources=(a_source_id(1),), also=(Kind.HEARTBEAT,))
    assert list((await storage.log.read(START, 100, where)).events) == [one, beat]
    assert list((await storage.log.read_back(LAST, 100, where)).events) == [beat, one]
