"""The size of a page of the log."""

from __future__ import annotations

from storage.append import events_of
from storage.records.event import EVERYTHING, Filter, Stored
from storage.records.identity import START, Seq
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from tests.storage.contract.builders import CountingMint, a_draft, a_harvest, a_source_id, stamp
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
