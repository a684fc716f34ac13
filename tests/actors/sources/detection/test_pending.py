"""Sources added while unreachable: kept, and detected at their first answer."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import trio

from actors.errors import DomainError, Unprocessable, UrlRefused
from actors.messages.requests import SourcePatch
from actors.messages.sources import CheckNow, DescribeSource, EditSource
from actors.messages.views import SourceView
from storage.records.identity import SourceId
from tests.actors.sources.harness import SITE, Origin, Watching, page, rss, watching
from tests.actors.sources.push.test_push import URL as PUSH
from tests.actors.sources.push.test_push import Pusher
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, web

URL = f"https://{SITE}/news"
TEXTS = [f"A paragraph of a page about the {word}, with a dozen words or more in it, as it was." for word in "abcde"]
MORE = "The lighthouse will be dark for repairs in the first week of December, says the harbour master."


async def view_of(service: Watching, source: SourceId) -> SourceView:
    view: SourceView = await service.registry_box.ask(lambda reply: DescribeSource(source, reply))
    return view


async def added(service: Watching, origin: Origin, status: int = 503, **wish: Any) -> SourceView:
    """Add a source while its site is down."""
    origin.status = status
    return (await service.add(URL, verify="later", **wish)).view


@pytest.mark.parametrize("status", [404, 500, 503, 401])
async def test_an_unreachable_url_is_refused_unless_requested_and_then_noted(
    status: int, autojump_clock: object
) -> None:
    async with watching() as (service, origin):
        origin.status = status
        with pytest.raises(DomainError) as refused:
            await service.add(URL)
        assert refused.value.may_pass and len(service.registry.table) == 0
        view = await added(service, origin, status)
        source, hot = view.source, view.hot
        assert (source.type, source.detection.pending, source.detection.confidence) == ("html", True, "low")
        assert (
            source.detection.evidence.startswith("it has yet to answer: ") and str(status) in source.detection.evidence
        )
        assert hot.health.reason.startswith("It has yet to answer: ") and str(status) in hot.health.reason
        assert (hot.health.flag, hot.looks, hot.last_success_at) == ("degraded", 1, None)
        await trio.sleep(24 * 3600)
        later = (await view_of(service, source.id)).hot
        assert later.looks > 1 and later.health.reason.startswith("It has yet to answer: ")
        assert (await service.events(), later.health.flag) == ([], "rotten")


@pytest.mark.parametrize(
    ("body", "type", "evidence", "after"),
    [
        (page(*TEXTS), "html", "an HTML document", page(*TEXTS, MORE)),
        (rss("a", "b"), "feed", "root element <rss", rss("c|" + MORE, "a", "b")),
        (b"\n\n".join(text.encode() for text in TEXTS), "html", "plain text", "\n\n".join([*TEXTS, MORE]).encode()),
    ],
)
async def test_the_first_answer_decides_the_tier_and_is_the_baseline(
    body: bytes, type: str, evidence: str, after: bytes, autojump_clock: object
) -> None:
    async with watching() as (service, origin):
        source = (await added(service, origin)).source
        origin.bodies["/news"], origin.status = body, None
        await trio.sleep(3600)
        view = await view_of(service, source.id)
        assert (view.source.type, view.source.detection.pending) == (type, False)
        assert (view.source.detection.type, evidence in view.source.detection.evidence) == (type, True)
        assert (view.hot.health.flag, view.hot.health.score, view.hot.last_error) == ("ok", 1.0, None)
        assert await service.events() == [], "the first answer is the baseline, and no news of a recovery"
        origin.bodies["/news"] = after
        await trio.sleep(3 * 3600)
        (event,) = await service.events()
        assert (event["source_type"], MORE in event["content"]) == (type, True)


async def test_a_feed_that_its_page_advertises_is_found_at_the_first_answer(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        source = (await added(service, origin, backfill=1)).source
        head = b"<html><head><link rel=alternate type='application/rss+xml' href='/feed'></head>"
        origin.bodies["/news"], origin.bodies["/feed"] = head + page(*TEXTS)[6:], rss("b", "a")
        origin.status = None
        await trio.sleep(3600)
        found = (await view_of(service, source.id)).source
        assert (found.type, found.watch_url) == ("feed", f"https://{SITE}/feed")
        assert found.detection.feed_url == f"https://{SITE}/feed"
        assert await service.news() == ["b"], "a backfill comes with it"


async def test_an_unreachable_source_survives_a_restart_and_is_detected_after_it(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, origin):
        source = (await added(service, origin, title="Mine", tags=("label:x",))).source
        await trio.sleep(600)
    async with watching(origin, disk=disk) as (service, origin):
        view = await view_of(service, source.id)
        assert view.source == source and view.hot.health.reason.startswith("It has yet to answer")
        origin.bodies["/news"], origin.status = rss("a"), None
        await trio.sleep(3600)
        found = (await view_of(service, source.id)).source
        assert (found.type, found.title, found.tags, found.updated_at) == (
            "feed",
            "Mine",
            ("label:x",),
            source.updated_at,
        )
    async with watching(origin, disk=disk) as (service, origin):
        assert (await view_of(service, source.id)).source == found


@pytest.mark.parametrize("by", ["add", "edit"])
async def test_an_unreachable_source_is_watched_as_the_requested_type(by: str, autojump_clock: object) -> None:
    async with watching() as (service, origin):
        source = (await added(service, origin, type="html" if by == "add" else None)).source
        if by == "edit":
            edit = EditSource
            await service.registry_box.ask(lambda reply: edit(source.id, SourcePatch(type="html"), reply))
        origin.bodies["/news"], origin.status = rss("a", "b"), None
        await trio.sleep(3600)
        found = (await view_of(service, source.id)).source
        assert (found.type, found.detection.type, found.detection.forced) == ("html", "feed", True)


async def test_an_unwatchable_url_fails_with_its_reason(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        source = (await added(service, origin)).source
        origin.bodies["/news"], origin.status = b"%PDF-1.7", None
        await trio.sleep(3600)
        view = await view_of(service, source.id)
        assert view.source.detection.pending
        assert view.hot.health.reason.startswith("It has yet to answer: it can't be watched: This PDF is damaged")
        origin.bodies["/news"] = page(*TEXTS)
        await trio.sleep(24 * 3600)
        assert not (await view_of(service, source.id)).source.detection.pending


async def test_a_known_unwatchable_or_forbidden_url_is_refused_with_later_too(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/news"] = b"%PDF-1.7"
        with pytest.raises(Unprocessable, match="PDF"):
            await service.add(URL, verify="later")
        origin.bodies["/page"], origin.bodies["/robots.txt"] = page(*TEXTS), b"User-agent: *\nDisallow: /page\n"
        for type in (None, "html"):
            with pytest.raises(Unprocessable, match=r"robots\.txt forbids"):
                await service.add(f"https://{SITE}/page", verify="later", type=type)
        with pytest.raises(Unprocessable, match="push"):
            await service.add(URL, verify="later", type="push")
        assert len(service.registry.table) == 0


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "https://inside.example/", "http://169.254.169.254/", "ftp://a.example/"]
)
async def test_a_url_that_the_guard_refuses_is_never_added(url: str, autojump_clock: object) -> None:
    async with watching() as (service, _):
        service.network.add("inside.example", "10.1.2.3", web(lambda asked: Answer(200), []))
        with pytest.raises(UrlRefused):
            await service.add(url, verify="later")
        assert len(service.registry.table) == 0


@pytest.mark.parametrize("url", ["https://nowhere.example/", "wss://nowhere.example/"])
async def test_a_name_that_does_not_resolve_is_not_added(url: str, autojump_clock: object) -> None:
    async with watching() as (service, _):
        with pytest.raises(DomainError, match="does not resolve"):
            await service.add(url, verify="later")
        assert len(service.registry.table) == 0


async def test_a_host_that_is_silent_is_added_and_a_redirect_into_a_private_network_is_not(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        service.network.names["silent.example"] = [["93.184.216.77"]]
        assert (await service.add("https://silent.example/", verify="later")).view.source.detection.pending
        there = {"location": "http://10.0.0.7/"}
        service.network.add("sly.example", "93.184.216.78", web(lambda asked: Answer(302, b"", there), []))
        with pytest.raises(UrlRefused):
            await service.add("http://sly.example/", verify="later")


async def test_two_spellings_are_one_source_also_when_both_come_at_once(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.status = 500
        found = list[tuple[SourceId, bool]]()

        async def add(url: str) -> None:
            one = await service.add(url, verify="later")
            found.append((one.view.source.id, one.created))

        async with trio.open_nursery() as nursery:
            for url in (URL, URL.replace("site", "SITE"), f"{URL}#top"):
                nursery.start_soon(partial(add, url))
        assert len({id for id, _ in found}) == 1 and sorted(created for _, created in found) == [False, False, True]


async def test_an_unreachable_source_can_be_edited_checked_and_disabled_while_it_waits(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        source = (await added(service, origin, status=500)).source
        await service.registry_box.ask(lambda reply: EditSource(source.id, SourcePatch(enabled=False), reply))
        origin.bodies["/news"], origin.status = page(*TEXTS), None
        await trio.sleep(24 * 3600)
        assert (await view_of(service, source.id)).source.detection.pending
        await service.registry_box.ask(lambda reply: EditSource(source.id, SourcePatch(enabled=True), reply))
        await trio.sleep(61)
        if (await view_of(service, source.id)).source.detection.pending:
            await service.registry_box.ask(lambda reply: CheckNow(source.id, reply))
            await trio.sleep(5)
        view = await view_of(service, source.id)
        assert (view.source.detection.pending, view.source.type, view.hot.health.flag) == (False, "html", "ok")


async def test_a_push_source_that_refuses_the_handshake_is_retried_until_it_accepts(autojump_clock: object) -> None:
    async with watching() as (service, _):
        service.network.names["push.example"] = [["93.184.216.50"]]
        view = (await service.add(PUSH, verify="later", filter="")).view
        assert (view.source.type, view.source.detection.pending) == ("push", True)
        assert view.hot.health.reason.startswith("It has yet to answer")
        await trio.sleep(600)
        assert (await view_of(service, view.source.id)).hot.health.reason.startswith("It has yet to answer")
        Pusher().join(service)
        await trio.sleep(600)
        found = await view_of(service, view.source.id)
        assert not found.source.detection.pending and "101" in found.source.detection.evidence
        assert found.hot.health.flag == "ok" and await service.events() == []
