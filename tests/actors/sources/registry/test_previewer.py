"""Previews of a source's reports, and the validation of selectors."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from actors.errors import TooSoon, Unprocessable
from actors.messages.requests import DetectRequest, Preview, Previewed, SourcePatch
from actors.messages.sources import DetectUrl, EditSource, PreviewSource
from storage.records.alert import Alert
from tests.actors.sources.harness import SITE, Origin, Watching, rss, watching
from tests.actors.sources.push.test_push import URL as PUSH
from tests.actors.sources.push.test_push import Pusher
from tests.support.build import NOW
from tests.support.memory_network import Answer, web

FEED, PAGE = f"https://{SITE}/feed", f"https://{SITE}/page"
TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it: {}."
ADVERTISED = "<link rel=alternate type='application/rss+xml' href='{}'>"


def document(head: str = "") -> bytes:
    body = "".join(f"<p class=text>{TEXT.format(n)}</p>" for n in ("one", "two", "three"))
    return (
        f"<!doctype html><html><head><title>Page</title>{head}</head><body><nav><a href=/>Home</a></nav>"
        f"<main id=story><h1>Page</h1>{body}<div class=offer>Buy a boat now</div></main>"
        "<footer>Imprint and more</footer></body></html>"
    ).encode()


async def detect(service: Watching, url: str, **wish: Any) -> Previewed:
    return await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(url, **wish), reply))


async def preview(service: Watching, source: Any, selector: str | None, *ignore: str) -> Preview:
    return await service.registry_box.ask(lambda reply: PreviewSource(source, selector, ignore, reply))


async def test_a_feed_shows_its_newest_entries_as_a_backfill_would_report_them(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        names = [f"e{n}" for n in range(12)]
        origin.bodies["/feed"] = rss(*names, ttl="30")
        found = await detect(service, FEED)
        feed, pace = found.preview.feed, found.preview.pace
        assert feed is not None and pace is not None
        assert (feed.entries, feed.undated, feed.identities, feed.backfill) == (12, 12, {"guid": 12}, 12)
        assert [event.title for event in feed.newest] == names[:10]
        assert (feed.newest[0].content, feed.newest[0].tags) == ("text of e0", ("change:new",))
        assert (pace.ttl_s, pace.next_look_at) == (1800.0, NOW + 1_800_000)
        assert (found.source, found.preview.page, found.preview.robots) == (None, None, None)
        assert len(service.registry.table) == 0
        await service.add(FEED, backfill=3)
        assert await service.titles() == names[2::-1]


async def test_websub_and_paging_links_are_shown_as_evidence(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        links = "<link rel='hub' href='https://hub.example/'/><link rel='next' href='/feed?page=2'/>"
        origin.bodies["/feed"] = (
            f"<feed xmlns='http://www.w3.org/2005/Atom'><title>T</title>{links}"
            "<entry><id>1</id><title>a</title><updated>2026-03-10T10:00:00Z</updated></entry></feed>"
        ).encode()
        feed = (await detect(service, FEED)).preview.feed
        assert feed is not None
        assert (feed.hubs, feed.paging) == (("https://hub.example/",), {"next": f"https://{SITE}/feed?page=2"})


async def test_a_preview_of_a_page_shows_watched_and_ignored_blocks(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        origin.bodies["/robots.txt"] = b"User-agent: *\nCrawl-delay: 2\n"
        found = await detect(service, PAGE)
        page, robots = found.preview.page, found.preview.robots
        assert page is not None and robots is not None
        assert (page.title, page.matched, page.watched, page.left_out) == ("Page", None, 5, 2)
        assert {block.text: block.why for block in page.blocks if not block.watched} == {
            "Home": "furniture",
            "Imprint and more": "furniture",
        }
        assert page.content.startswith("Page")
        assert (robots.allowed, robots.crawl_delay_s) == (True, 2.0)


async def test_a_preview_shows_the_blocks_a_selector_keeps_and_ignore_removes(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        page = (await detect(service, PAGE, selector="main p", ignore=(".offer", ".none"))).preview.page
        assert page is not None
        assert [block.text for block in page.blocks] == [TEXT.format(n) for n in ("one", "two", "three")]
        assert page.matched == 3
        assert [(removed.selector, removed.elements) for removed in page.ignored] == [(".offer", 1), (".none", 0)]


async def test_trying_out_selectors_asks_the_origin_once_a_minute(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        for selector in ("main", "p", "h1"):
            await detect(service, PAGE, selector=selector)
        assert len(origin.looks("/page")) == 1
        await trio.sleep(61)
        await detect(service, PAGE)
        assert len(origin.looks("/page")) == 2


async def test_a_chosen_part_keeps_a_page_from_being_followed_to_its_feed(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document(ADVERTISED.format("/feed"))
        origin.bodies["/feed"] = rss("a")
        assert (await detect(service, PAGE)).detection.type == "feed"
        found = (await service.add(PAGE, selector="main")).view.source
        assert found.type == "html"
        assert "because a part of it was chosen" in found.detection.evidence


async def test_a_dead_feed_is_skipped_for_the_next_and_both_are_named(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document(ADVERTISED.format("/gone") + ADVERTISED.format("/feed"))
        origin.bodies["/feed"] = rss("a")
        found = (await detect(service, PAGE)).detection
        assert found.feed_url == FEED
        assert f"https://{SITE}/gone does not work: answered 404" in found.evidence


async def test_feeds_that_never_answer_or_lead_back_leave_the_page(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        service.network.add("deaf.example", "93.184.216.99", web(lambda asked: Answer(200, b"", after=1000)))
        heads = (ADVERTISED.format("http://deaf.example/feed"), ADVERTISED.format("/page"))
        origin.bodies["/page"] = document("".join(heads))
        start = trio.current_time()
        found = (await detect(service, PAGE)).detection
        assert trio.current_time() - start < 15
        assert found.type == "html"
        assert "no answer within 10 s" in found.evidence
        assert "it is no feed" in found.evidence


async def test_a_page_that_robots_txt_forbids_names_its_feed(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document(ADVERTISED.format("/feed"))
        origin.bodies["/robots.txt"] = b"User-agent: *\nDisallow: /page\n"
        with pytest.raises(Unprocessable, match=r"robots\.txt forbids.*instead: https://site\.example/feed"):
            await detect(service, PAGE)


async def test_a_push_source_shows_its_first_frames_and_which_are_wanted(autojump_clock: object) -> None:
    async with watching() as (service, _):
        await service.storage.alerts.put(Alert("a1", "storms", "storm", "en", (), NOW, NOW))
        pusher = Pusher()
        pusher.join(service)

        async def set_language() -> None:
            await trio.sleep(1)
            await pusher.send({"title": "Storm", "text": "a storm comes"}, "calm", "price 9")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(set_language)
            push = (await detect(service, PUSH, filter="price")).preview.push
        assert push is not None
        assert [(frame.content, frame.told) for frame in push.frames] == [
            ("a storm comes", True),
            ("calm", False),
            ("price 9", True),
        ]
        assert (push.received, push.ended) == (3, None)
        assert 2.9 <= push.waited_s <= 3.1


BAD = [
    ({"selector": "p..x"}, "body.selector", "character 3"),
    ({"selector": "p >"}, "body.selector", "the end"),
    ({"selector": "a:hover-x(2)"}, "body.selector", "hover-x"),
    ({"ignore": (".ok", "[x")}, "body.ignore[1]", "the end"),
    ({"selector": ":not(" * 190 + "p" + ")" * 190}, "body.selector", "CSS"),
]


@pytest.mark.parametrize(("wish", "where", "word"), BAD)
async def test_invalid_css_is_refused_with_its_position_before_any_request(
    wish: dict[str, Any], where: str, word: str, autojump_clock: object
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        for ask in (service.add, lambda url, **more: detect(service, url, **more)):
            with pytest.raises(Unprocessable) as refused:
                await ask(PAGE, **wish)
            assert refused.value.location == where
            assert word in refused.value.detail
        assert origin.asked == []
        source = (await service.add(PAGE)).view.source.id
        with pytest.raises(Unprocessable) as refused:
            await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(**wish), reply))
        assert refused.value.location == where


async def test_a_preview_of_an_unmatched_selector_is_a_state_and_shows_the_page(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        source = (await service.add(PAGE, selector=".content")).view.source
        says = "; the selector '.content' matches nothing now; the page has main, #story"
        assert says in source.detection.evidence
        await trio.sleep(3 * 3600)
        assert await service.events() == []
        origin.bodies["/page"] = document().replace(b"<main", b'<div class="content">Open</div><main', 1)
        await trio.sleep(3600)
        (event,) = await service.events()
        assert event["content"] == "Open"


async def test_a_watched_page_previews_another_selector(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        source = (await service.add(PAGE)).view.source.id
        for selector, blocks in (("h1", 1), ("main p", 3), (None, 5)):
            page = (await preview(service, source, selector)).page
            assert page is not None and page.watched == blocks
        assert len(origin.looks("/page")) == 1, "the look that added it is recent enough"
        page = (await preview(service, source, ".gone")).page
        assert page is not None and (page.matched, page.watched, page.blocks) == (0, 0, ())


async def test_a_preview_is_as_polite_as_a_check(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = document()
        source = (await service.add(PAGE, schedule="1h")).view.source.id
        await trio.sleep(1000)
        looks = len(origin.looks("/page"))
        for _ in range(3):
            await preview(service, source, "h1")
        assert len(origin.looks("/page")) == looks + 1
        origin.status = 500
        await trio.sleep(24 * 3600)
        with pytest.raises(TooSoon):
            await preview(service, source, "h1")


async def test_only_pages_have_parts(autojump_clock: object) -> None:
    async with watching(Origin()) as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(FEED)).view.source.id
        with pytest.raises(Unprocessable, match="not watched as a page"):
            await preview(service, source, "h1")
