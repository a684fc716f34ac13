"""The date since which a price is the lowest, and alerts on it; the first check counts as the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.query import Texts, decode_event, matches, parse
from actors.series import has_prices, with_records
from storage.append import events_of
from storage.errors import Unavailable
from storage.records.event import MOST_CHANGES, Draft, TypedChange, Value
from storage.records.identity import COUNTER_BITS, Millis, Seq, SourceId, rfc3339
from storage.records.source import Harvest, SourceRuntime, SourceState
from storage.sql.storage import Storage
from storage.sql.stores.log import EventLog
from tests.storage.contract.builders import NOW, CountingMint, a_source
from tests.storage.contract.engines import ENGINES
from tests.support.build import a_draft, a_source_id
from tests.support.in_loop import Disk, InLoopStorage

DAY = 86_400_000
ADDED = NOW
SOURCE = a_source(1)


def price(before: int, after: int, label: str = "Team") -> TypedChange:
    return TypedChange("price", label, before=money(before), after=money(after))


def row(number: int, *, came: bool) -> TypedChange:
    if came:
        return TypedChange("added", "Team", after=money(number))
    return TypedChange("removed", "Team", before=money(number))


def money(number: int) -> Value:
    return Value(str(number), "money", number, 0, "EUR")


def stamp(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    emitted = rfc3339(Millis(seq >> COUNTER_BITS))
    return msgspec.json.encode(
        {"title": "Plans", "emitted_at": emitted, "changes": draft.changes, "source_type": "html"}
    )


class Watched:
    """A source on a storage: its checks report changes, and alerts read them."""

    def __init__(self, storage: Storage, began: int = ADDED) -> None:
        self.storage, self.began = storage, began

    async def look(self, at: int, *changes: TypedChange) -> Texts:
        """Report changes at a moment, as a check does; return the event as alerts read it."""
        drafts: tuple[Draft, ...] = (a_draft("Plans", source_type="html", fetched_at=Millis(at), changes=changes),)
        if has_prices(drafts):
            drafts = await with_records(self.storage.log, SOURCE.id, Millis(ADDED), drafts, self.began)
        mint = CountingMint(at << COUNTER_BITS)
        harvest = Harvest(SOURCE.id, drafts, SourceState(SOURCE.id, SourceRuntime()))
        (event,) = events_of(await self.storage.log.append((harvest,), self.storage.lease, mint, stamp))
        return Texts(decode_event(event.body))


async def watched(began: int = ADDED) -> Watched:
    disk = Disk()
    storage = InLoopStorage(disk, disk.start("test"))
    await storage.sources.add(SOURCE, SourceState(SOURCE.id, SourceRuntime()), storage.lease)
    return Watched(storage, began)


def meets(event: Texts, query: str) -> bool:
    return matches(parse(query, "en"), event.of("change"))


async def test_a_first_change_is_a_drop_from_the_value_of_the_first_check() -> None:
    source = await watched()
    event = await source.look(ADDED + DAY, price(399, 299))
    assert meets(event, "price.drop>=25%") and meets(event, "price.drop>=100") and meets(event, "price<300")
    assert not meets(event, "price.drop>=25.07%") and not meets(event, "price.drop>100")
    assert not meets(await source.look(ADDED + 2 * DAY, price(299, 399)), "price.drop>=1%")


@pytest.mark.parametrize(("after", "met"), [(90 * DAY, True), (90 * DAY - 1, False), (89 * DAY, False)])
async def test_a_first_change_is_the_lowest_of_90_days_once_it_was_watched_so_long(after: int, met: bool) -> None:
    event = await (await watched()).look(ADDED + after, price(399, 299))
    assert meets(event, "price.lowest:90d") == met


@pytest.mark.parametrize(("after", "met"), [(90 * DAY, True), (90 * DAY - 1, False)])
async def test_the_days_of_another_part_of_the_page_do_not_count(after: int, met: bool) -> None:
    began = ADDED + 30 * DAY
    event = await (await watched(began)).look(began + after, price(399, 299))
    assert meets(event, "price.lowest:90d") == met


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(("after", "met"), [(90 * DAY, True), (90 * DAY - 1, False)])
async def test_a_first_price_below_both_others_counts_until_it_went(back: bool, after: int, met: bool) -> None:
    source = await watched()
    rose = ADDED + 200 * DAY
    if back:  # its row was removed, and returned with another price
        await source.look(rose, row(200, came=False))
        rose += DAY
        await source.look(rose, row(399, came=True))
    else:
        await source.look(rose, price(200, 399))
    event = await source.look(rose + after, price(399, 299))
    assert meets(event, "price.lowest:90d") == met
    assert not meets(event, "price.lowest:91d"), "at first it was lower"
    assert meets(await source.look(rose + after + DAY, price(299, 150)), "price.lowest:290d"), "below them all"


async def test_a_row_added_last_week_is_absent_from_the_first_version() -> None:
    source = await watched()
    await source.look(ADDED + 100 * DAY, row(399, came=True))
    event = await source.look(ADDED + 107 * DAY, price(399, 299))
    assert meets(event, "price.lowest:7d") and not meets(event, "price.lowest:8d")


async def test_an_unseen_price_is_never_guessed_to_be_the_lowest() -> None:
    source = await watched()
    await source.look(ADDED + DAY, price(500, 450))
    full = tuple(price(1, 2, f"Plan {number}") for number in range(MOST_CHANGES))
    await source.look(ADDED + 2 * DAY, *full)  # leaves no room for Team's 100
    assert not meets(await source.look(ADDED + 200 * DAY, price(100, 300)), "price.lowest:1d")
    event = await source.look(ADDED + 210 * DAY, price(300, 200))
    assert meets(event, "price.lowest:10d") and not meets(event, "price.lowest:11d"), "it was 100 until then"
    relabelled = await source.look(ADDED + 220 * DAY, price(90, 150))
    assert not meets(relabelled, "price.lowest:1d"), "it was 90 for a time that nobody knows"
    event = await source.look(ADDED + 300 * DAY, price(60, 50, "Solo"))
    assert meets(event, "price.lowest:298d") and not meets(event, "price.lowest:299d"), "known since the full one"


async def test_the_price_that_rose_is_the_highest_and_not_the_lowest() -> None:
    event = await (await watched()).look(ADDED + 90 * DAY, price(299, 399))
    assert meets(event, "price.highest:90d") and not meets(event, "price.lowest:1d")


async def test_a_log_that_cannot_be_read_leaves_the_event_without_a_record() -> None:
    class Broken(EventLog):
        def __init__(self) -> None:
            pass

        async def read_back(self, *_: Any) -> Any:
            raise Unavailable("the disk is gone")

    drafts = (a_draft("Plans", changes=(price(399, 299),)),)
    assert await with_records(Broken(), a_source_id(), Millis(ADDED), drafts) == drafts


@pytest.mark.real
@pytest.mark.parametrize("name", ["sqlite", "postgres"])
async def test_a_restart_forgets_no_price_on_any_storage(name: str, tmp_path: Path) -> None:
    engine = ENGINES[name](tmp_path / "data")
    storage = await engine.start()
    await storage.sources.add(SOURCE, SourceState(SOURCE.id, SourceRuntime()), storage.lease)
    assert not meets(await Watched(storage).look(ADDED + 5 * DAY, price(200, 399)), "price.lowest:1d")
    await storage.aclose()
    storage = await engine.start()
    event = await Watched(storage).look(ADDED + 95 * DAY, price(399, 299))
    assert meets(event, "price.drop>=25%")
    assert meets(event, "price.lowest:90d") and not meets(event, "price.lowest:91d")
    await storage.aclose()
