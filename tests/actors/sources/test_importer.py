from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.errors import Busy, Conflict, LibraryFull, UrlRefused
from actors.messages.views import FeedLine
from actors.messages.workers import BeginImport, Importing, ShowImport, StopImport
from actors.sources import importer
from tests.api.house import House, make_house


def lines(*urls: str) -> tuple[FeedLine, ...]:
    return tuple(FeedLine(url, f"Title of {url}", ("sea",)) for url in urls)


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    house = make_house()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.registry.run)
        nursery.start_soon(house.importer.actor.run, house.child)
        yield house
        nursery.cancel_scope.cancel()


async def begin(house: House, wanted: Sequence[FeedLine]) -> Importing:
    return await house.importer.mailbox.ask(lambda reply: BeginImport(wanted, reply))


async def show(house: House) -> Importing:
    found = await house.importer.mailbox.ask(ShowImport)
    assert found is not None
    return found


async def test_each_line_is_added_or_refused_by_itself(house: House) -> None:
    house.registry.refusals["https://10.0.0.1/"] = UrlRefused("address-private", "10.0.0.1 is not public")
    assert await house.importer.mailbox.ask(ShowImport) is None
    begun = await begin(house, lines("https://a.test/", "https://10.0.0.1/", "https://a.test/"))
    assert begun.ended_at is None and begun.counts()["waiting"] == 3
    await wait_all_tasks_blocked()
    done = await show(house)
    assert [row.status for row in done.rows] == ["new", "failed", "there"]
    assert done.rows[1].says == "10.0.0.1 is not public (rule: address-private)"
    assert done.ended_at is not None and done.id == begun.id
    (view,) = house.registry.views.values()
    assert (view.source.title, view.source.tags) == ("Title of https://a.test/", ("sea",))


async def test_hosts_take_turns_and_few_are_under_way_at_once(house: House) -> None:
    slow = [f"https://a.test/{number}" for number in range(20)]
    house.registry.silent.update(slow)
    await begin(house, lines(*slow, "https://b.test/"))
    await wait_all_tasks_blocked()
    asked = [message.new.url for message in house.registry.seen]
    assert asked[:2] == ["https://a.test/0", "https://b.test/"] and len(asked) == importer.AT_ONCE + 1


async def test_one_list_at_a_time_and_a_stop_ends_it(house: House) -> None:
    house.registry.silent.add("https://slow.test/")
    await begin(house, lines("https://slow.test/", *(f"https://slow.test/{n}" for n in range(30))))
    with pytest.raises(Conflict):
        await begin(house, lines("https://b.test/"))
    await house.importer.mailbox.ask(StopImport)
    await wait_all_tasks_blocked()
    done = await show(house)
    assert done.ended_at is not None and done.counts()["waiting"] == 0
    assert done.rows[0].says == importer.STOPPED
    await begin(house, lines("https://b.test/"))
    await wait_all_tasks_blocked()
    assert (await show(house)).counts()["new"] == 1


async def test_a_full_library_ends_the_list(house: House) -> None:
    urls = [f"https://a.test/{number}" for number in range(50)]
    house.registry.refusals |= {url: LibraryFull("the library is full: max_sources is 5") for url in urls}
    await begin(house, lines(*urls))
    await wait_all_tasks_blocked()
    done = await show(house)
    assert done.ended_at is not None and done.rows[0].says.startswith("the library is full")
    assert len(house.registry.seen) <= importer.AT_ONCE and done.rows[-1].says == importer.STOPPED


async def test_r5_a_url_refused_for_a_full_lane_is_retried(house: House) -> None:
    url = "https://a.test/"
    house.registry.refusals[url] = Busy("32 questions are under way")
    await begin(house, lines(url))
    await trio.sleep(30)
    assert [row.status for row in (await show(house)).rows] == ["waiting"]
    del house.registry.refusals[url]
    await trio.sleep(30)
    assert [row.status for row in (await show(house)).rows] == ["new"]
