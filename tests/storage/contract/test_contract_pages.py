"""The size of a page of the log."""

from __future__ import annotations

import pytest

from storage.append import events_of
from storage.errors import NewerSchema
from storage.records.event import EVERYTHING, Filter, Stored
from storage.records.identity import START, Seq
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from storage.sql.stores.log import BodyRow
from tests.storage.contract.builders import CountingMint, a_draft, a_harvest, a_source_id, stamp
from tests.storage.contract.test_contract_heartbeats import a_beat
from tests.storage.contract.test_contract_log import watched


async def test_s3_a_page_is_full_by_its_bytes_too_whichever_way_it_is_read(storage: Storage) -> None:
    await watched(storage, 1, 2)
    long = [a_harvest(1 + number % 2, a_draft(str(number), content="x" * 90_000)) for number in range(40)]
    events = list(events_of(await storage.log.append(long, storage.lease, CountingMint(), stamp)))
    only = Filter(sources=(a_source_id(1),))
    for where, wanted in ((EVERYTHING, events), (only, events[::2]), (Filter(kinds=(Kind.FEED,)), events)):
        at, found = START, list[Stored]()
        while len(found) < len(wanted):
            page = await storage.log.read(at, 500, where)
            assert 0 < sum(len(event.body) for event in page.events) < (1 << 20) + 91_000
            found, at = [*found, *page.events], page.scanned
        back = await storage.log.read_back(Seq(page.head + 1), 500, where)
        assert found == wanted and 10 < len(back.events) < 13 and back.scanned == back.events[-1].seq


async def test_a_replay_has_the_events_of_reads_without_heartbeats_in_pages_of_the_same_sizes(storage: Storage) -> None:
    await watched(storage, 1, 2)
    mint, lengths = CountingMint(), [90_000] * 30 + [10] * 40
    long = [a_harvest(1 + at % 2, a_draft(str(at), content="x" * size)) for at, size in enumerate(lengths)]
    events = events_of(await storage.log.append([*long[:35], a_beat(START), *long[35:]], storage.lease, mint, stamp))
    wanted = [(event.seq, event.body, 0) for event in events if event.kind != Kind.HEARTBEAT]
    at, found, counts = START, list[BodyRow](), list[int]()
    while at < events[-1].seq:
        page = await storage.log.replay(at, 20, list)
        assert page.rows == len(page.events) and page.floor == START
        found, counts, at = [*found, *page.events], [*counts, page.rows], page.scanned
    assert found == wanted and counts == [12, 12, 20, 20, 6] and at == events[-1].seq
    assert (await storage.log.replay(Seq(1 << 64), 20, list)).events == []


async def test_a_replay_refuses_an_event_of_an_unknown_form(storage: Storage) -> None:
    await watched(storage, 1)
    await storage.log.append([a_harvest(1, a_draft("1"))], storage.lease, CountingMint(), stamp)
    await storage.writer.submit(lambda it: it.execute("UPDATE log SET codec=1"))
    with pytest.raises(NewerSchema):
        await storage.log.replay(START, 20, list)
