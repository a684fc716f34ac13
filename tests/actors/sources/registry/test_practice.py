"""Practice sources are checked like all others, but never over the network, and no count includes them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from actors.errors import Conflict, LibraryFull, NotFound, TooSoon, UrlRefused
from actors.messages.requests import SourcePatch
from actors.messages.sources import (
    ChangePractice,
    DeleteSource,
    DescribeSource,
    EditSource,
    EndPractice,
    ListSources,
    ShowPractice,
)
from actors.messages.views import PracticeChange, SourceView
from actors.practice import PracticeKind, address
from actors.signatures import jwks
from actors.sources.registry import actor as registry
from actors.sources.registry.practice import PACE
from sanderling_client.verify import check_event, key_set
from storage.records.identity import SourceId
from tests.actors.sources.harness import KEY, SITE, Origin, Watching, rss, watching
from tests.support.build import BASE_URL
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest, web

PAGE, FEED = address(BASE_URL, "page"), address(BASE_URL, "feed")


@asynccontextmanager
async def practising(**more: Any) -> AsyncIterator[tuple[Watching, Origin]]:
    async with watching(**{"base_url": BASE_URL, **more}) as (service, origin):
        yield service, origin


async def show(service: Watching, *, start: bool = True) -> list[SourceView]:
    return list(await service.registry_box.ask(lambda reply: ShowPractice(reply, start)))


async def change(service: Watching, what: PracticeKind = "page") -> PracticeChange:
    """Change a document and wait for the results."""
    practised = await service.registry_box.ask(lambda reply: ChangePractice(what, reply))
    await trio.sleep(0.1)
    return practised


async def delete(service: Watching, source: SourceId) -> None:
    await service.registry_box.ask(lambda reply: DeleteSource(source, reply))


async def test_both_documents_are_detected_by_their_bodies_and_stored_unchanged(autojump_clock: object) -> None:
    async with practising() as (service, _origin):
        views = await show(service)
        again = await show(service)
    assert [(view.source.url, view.source.type) for view in views] == [(PAGE, "html"), (FEED, "feed")]
    assert "no feed" in views[0].source.detection.evidence
    assert [view.source.id for view in again] == [view.source.id for view in views]


async def test_a_change_becomes_one_signed_event_with_its_difference_and_nothing_is_fetched(
    autojump_clock: object,
) -> None:
    async with practising() as (service, origin):
        practised = await change(service)
        (event,) = await service.events()
        assert origin.asked == []
    assert practised.says == 'The fare "Single, adult" went from 18.00 to 21.70 euro.'
    assert event["source_id"] == practised.view.source.id
    assert event["diff"]["changed"] == [
        {
            "before": "Single, adult: 18.00 euro",
            "after": "Single, adult: 21.70 euro",
            "context": {"heading": "Fares"},
            "spans": {"before": [[15, 20]], "after": [[15, 20]]},
        },
    ]
    assert event["summary"] == "Fares: Single, adult: 18.00 euro → Single, adult: 21.70 euro"
    assert event["tags"] == ["practice:page", "change:updated"]
    assert check_event(event, key_set(jwks([KEY]))).valid


async def test_each_press_is_an_event_of_its_own_on_the_page_and_in_the_feed(autojump_clock: object) -> None:
    async with practising() as (service, _):
        for _ in range(4):
            await change(service, "page")
            await change(service, "feed")
            await trio.sleep(PACE / 1000)
        assert [event["source_type"] for event in await service.events()] == ["html", "feed"] * 4


async def test_a_restart_goes_on_from_the_last_change(autojump_clock: object) -> None:
    disk = Disk()
    async with practising(disk=disk) as (service, _):
        await change(service)
    async with practising(disk=disk) as (service, _):
        assert "French" in (await change(service)).says
        assert len(await service.events()) == 2


async def test_a_document_is_changed_once_in_three_seconds(autojump_clock: object) -> None:
    async with practising() as (service, _):
        await change(service)
        with pytest.raises(TooSoon, match="once in 3 s: try again in 3 s") as refused:
            await change(service)
        assert refused.value.retry_after == 3
        await change(service, "feed")
        await trio.sleep(PACE / 1000)
        await change(service)


async def test_a_change_waits_for_the_check_of_the_one_before(autojump_clock: object) -> None:
    async with practising() as (service, _):
        source = (await show(service))[0].source.id
        await trio.sleep(1)
        await service.registry.table.stop(service.registry.table.get(source))
        await change(service)
        await trio.sleep(PACE / 1000)
        with pytest.raises(TooSoon, match="still being checked"):
            await change(service)


async def test_an_unused_practice_page_is_checked_once_a_week(autojump_clock: object) -> None:
    async with practising() as (service, _):
        before = [view.hot.looks for view in await show(service)]
        await trio.sleep(4 * 86_400)
        assert [view.hot.looks for view in await show(service)] == before
        await trio.sleep(4 * 86_400)
        assert [view.hot.looks for view in await show(service)] == [looks + 1 for looks in before]
        assert await service.events() == []


async def test_silence_after_much_practice_sends_no_notice(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EVERY", "REPRICE"):  # irrelevant here, and most of the cost of two months
        monkeypatch.setattr(registry, name, 7200.0)
    async with practising() as (service, _):
        for _ in range(30):
            await change(service)
            await trio.sleep(600)
        await trio.sleep(60 * 86_400)
        page = (await show(service, start=False))[0]
        assert page.hot.health.flag == "rotten" and "Silent for" in page.hot.health.reason
        assert await service.alerts() == []


async def test_practice_is_in_no_list_no_limit_and_no_statistics(autojump_clock: object) -> None:
    async with practising(max_sources=1) as (service, origin):
        origin.bodies["/feed"] = origin.bodies["/other"] = rss("a")
        await show(service)
        added = await service.add(f"https://{SITE}/feed")
        with pytest.raises(LibraryFull):
            await service.add(f"https://{SITE}/other")
        page = await service.registry_box.ask(lambda reply: ListSources(10, reply))
        assert [view.source.id for view in page.views] == [added.view.source.id]
        table = service.registry.table
        assert (len(table), (await table.overdue_round()).sources) == (1, 1)
        alone = await table.planned_rate()
        await service.registry_box.ask(EndPractice)
        assert await table.planned_rate() == alone


async def test_no_figure_counts_practice_checks_or_events(autojump_clock: object) -> None:
    async with practising() as (service, _):
        metrics = service.world.metrics
        await change(service)
        assert len(await service.events()) == 1
        assert (metrics.looks.total(), metrics.events.total()) == (0, 0)


async def test_one_act_ends_it_and_the_events_stay(autojump_clock: object) -> None:
    async with practising() as (service, _):
        source = (await change(service)).view.source.id
        await service.registry_box.ask(EndPractice)
        assert await show(service, start=False) == []
        with pytest.raises(NotFound):
            await service.registry_box.ask(lambda reply: DescribeSource(source, reply))
        assert len(await service.events()) == 1


async def test_a_practice_source_can_be_deleted_like_any_other_and_comes_back(autojump_clock: object) -> None:
    async with practising() as (service, _):
        first = (await show(service))[0].source.id
        await delete(service, first)
        assert [view.source.url for view in await show(service, start=False)] == [FEED]
        assert (await show(service))[0].source.id != first


async def test_concurrent_starts_and_ends_of_practice_cause_no_error(autojump_clock: object) -> None:
    async with practising() as (service, _):
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(show, service)
        assert len(await show(service)) == 2
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(service.registry_box.ask, EndPractice)
        assert await show(service, start=False) == []


async def test_a_paused_one_says_so(autojump_clock: object) -> None:
    async with practising() as (service, _):
        source = (await show(service))[0].source.id
        await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(enabled=False), reply))
        with pytest.raises(Conflict, match="resume it first"):
            await change(service)


async def test_a_new_public_address_recreates_the_practice_sources(autojump_clock: object) -> None:
    disk = Disk()
    async with practising(disk=disk) as (service, _):
        await show(service)
    async with practising(disk=disk, base_url="https://moved.test") as (service, _):
        assert await show(service, start=False) == []
        assert (await change(service)).view.source.url == "https://moved.test/practice/page"
        assert [view.source.url for view in await show(service)] == [
            "https://moved.test/practice/page",
            "https://moved.test/practice/feed",
        ]
        assert len(disk.sources()) == 2


# --- no hole in the guard ---


async def test_the_practice_url_itself_goes_through_the_guard_when_somebody_adds_it(autojump_clock: object) -> None:
    async with practising(base_url="http://10.0.0.7:8080") as (service, _):
        with pytest.raises(UrlRefused):
            await service.add("http://10.0.0.7:8080/practice/page")
        assert len(service.registry.table) == 0


async def test_x1_a_redirect_does_not_reach_practice(autojump_clock: object) -> None:
    async with practising(base_url="http://10.0.0.7:8080") as (service, origin):
        await show(service)

        def away(asked: ReceivedRequest) -> Answer:
            return Answer(302, b"", {"location": "http://10.0.0.7:8080/practice/feed"})

        service.network.add("away.example", "93.184.216.99", web(away, origin.asked))
        service.network.servers["93.184.216.99", 443] = service.network.servers["93.184.216.99", 80]
        with pytest.raises(UrlRefused):
            await service.add("https://away.example/")


async def test_a_page_that_advertises_the_practice_feed_does_not_reach_it(autojump_clock: object) -> None:
    async with practising(base_url="http://10.0.0.7:8080") as (service, origin):
        await show(service)
        link = '<link rel="alternate" type="application/rss+xml" href="http://10.0.0.7:8080/practice/feed">'
        text = "<p>A paragraph that is long enough to count as text of a page, a dozen words or more.</p>"
        origin.bodies["/page"] = f"<html><head><title>T</title>{link}</head><body>{text * 3}</body></html>".encode()
        added = await service.add(f"https://{SITE}/page")
        assert (added.view.source.type, added.view.source.practice) == ("html", None)
        assert "10.0.0.7 is not public" in added.view.source.detection.evidence


async def test_an_ordinary_source_at_the_practice_address_is_left_alone(autojump_clock: object) -> None:
    base = f"https://{SITE}"
    async with practising(base_url=base) as (service, origin):
        origin.bodies["/practice/page"] = rss("a")
        await service.add(address(base, "page"))
        with pytest.raises(Conflict, match="ordinary source"):
            await change(service)
