from __future__ import annotations

import pytest
import trio

from actors.content import feeds
from tests.actors.sources.harness import rss, watching
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, web

URL = "https://site.example/feed"


async def test_first_entries_are_the_baseline_and_a_new_one_is_reported_once(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a", "b")
        added = await service.add(URL, tags=("label:x",))
        assert (added.created, added.view.source.type) == (True, "feed")
        await trio.sleep(3600)
        assert await service.events() == []
        origin.bodies["/feed"] = rss("c", "a", "b")
        await trio.sleep(2 * 3600)
        (event,) = await service.events()
        assert (event["title"], event["source_type"], event["url"]) == ("c", "feed", "https://site.example/c")
        assert event["tags"] == ["label:x", "change:new"]


async def test_entries_are_reported_oldest_first(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.bodies["/feed"] = rss("d", "c", "b", "a")
        await trio.sleep(3600)
        assert await service.titles() == ["b", "c", "d"]


async def test_a_backfill_reports_the_newest_entries_of_the_first_check(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("d", "c", "b", "a")
        await service.add(URL, backfill=2)
        assert await service.titles() == ["c", "d"]
        await trio.sleep(3 * 3600)
        assert await service.titles() == ["c", "d"]


async def test_a_feed_that_is_added_is_read_once_also_for_its_backfill(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("c", "b", "a")
        await service.add(URL, backfill=2)
        assert service.jail.calls == 1


async def test_the_first_check_says_that_a_feed_has_too_many_entries(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(feeds, "MOST_ENTRIES", 2)
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a", "b", "c")
        added = await service.add(URL)
        assert added.view.hot.health.reason.endswith("The feed has more entries than are read: 1 were left out.")


async def test_a_feed_that_ends_early_at_its_first_check_is_fetched_whole_at_the_next(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a", "b").removesuffix(b"</description></item></channel></rss>")
        await service.add(URL)
        await trio.sleep(3600)
        _, second, *_ = origin.looks("/feed")
        assert "if-none-match" not in second.headers
        assert await service.events() == []


async def test_an_entry_that_is_edited_materially_is_reported_again(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a|first text", "b")
        await service.add(URL)
        origin.bodies["/feed"] = rss("a|other text", "b")
        await trio.sleep(3600)
        (event,) = await service.events()
        assert "change:updated" in event["tags"]
        assert event["content"] == "other text"


async def test_an_unchanged_feed_costs_a_304_and_no_commit(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        service.points.clear()
        await trio.sleep(0.4 * 3600)  # before the sweep
        looks = origin.looks("/feed")[1:]
        assert len(looks) >= 2
        assert all("if-none-match" in look.headers for look in looks)
        assert service.points == []


async def test_a_restart_remembers_seen_entries_and_does_not_stampede(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, origin):
        origin.bodies["/feed"] = rss("a", "b")
        await service.add(URL)
        origin.bodies["/feed"] = rss("c", "a", "b")
        await trio.sleep(3600)
        assert await service.titles() == ["c"]
    async with watching(origin, disk=disk) as (service, origin):
        origin.bodies["/feed"] = rss("d", "c", "a", "b")
        await trio.sleep(3 * 3600)
        assert await service.titles() == ["c", "d"]


async def test_the_feed_that_a_page_advertises_is_watched_in_its_place(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        link = "<link rel='alternate' type='application/rss+xml' href='/feed'>"
        origin.bodies["/"] = f"<html><head>{link}</head><body><p>Welcome to the page.</p></body></html>".encode()
        origin.bodies["/feed"] = rss("a")
        view = (await service.add("https://site.example/")).view
        assert (view.source.type, view.source.watch_url) == ("feed", URL)
        assert view.source.detection.feed_url == URL
        assert "advertises a feed" in view.source.detection.evidence
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(3600)
        assert await service.titles() == ["b"]


async def test_a_feed_behind_a_redirect_to_another_host_gets_conditional_requests(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        service.network.add("moved.example", "93.184.216.40", web(lambda asked: Answer(301, headers={"location": URL})))
        origin.bodies["/feed"] = rss("a")
        await service.add("http://moved.example/feed")
        await trio.sleep(3600)
        looks = origin.looks("/feed")[1:]
        assert looks and all("if-none-match" in look.headers for look in looks)


async def test_an_error_report_among_real_entries_is_left_out(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.bodies["/feed"] = rss("Bridge returned error 500! (20413)", "b", "a")
        await trio.sleep(3600)
        assert await service.titles() == ["b"]


async def test_entries_without_or_with_future_dates_are_reported_once(
    autojump_clock: object,
) -> None:
    def dated(*items: tuple[str, str]) -> bytes:
        rows = (f"<item><guid>{name}</guid><title>{name}</title><pubDate>{at}</pubDate></item>" for name, at in items)
        return f"<rss version='2.0'><channel><title>T</title>{''.join(rows)}</channel></rss>".encode()

    async with watching() as (service, origin):
        old = [("a", "Tue, 10 Mar 2026 10:00:00 GMT"), ("far", "Mon, 01 Jan 2120 00:00:00 GMT"), ("never", "soon")]
        origin.bodies["/feed"] = dated(*old)
        await service.add(URL)
        new = [("far2", "Mon, 01 Jan 2121 00:00:00 GMT"), ("zero", "Thu, 01 Jan 1970 00:00:00 GMT"), ("odd", "?")]
        origin.bodies["/feed"] = dated(*new, *old)
        await trio.sleep(2 * 3600)
        events = await service.events()
        assert sorted(event["title"] for event in events) == ["far2", "odd", "zero"]
        assert {event["title"]: event["published_at"] for event in events}["odd"] is None
        origin.bodies["/feed"] = dated(("next", "?"), *new, *old)
        await trio.sleep(2 * 3600)
        assert len(await service.titles()) == 4
