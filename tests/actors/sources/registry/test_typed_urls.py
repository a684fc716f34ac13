"""URLs as people type and paste them; the guard reads the rewritten one."""

from __future__ import annotations

import msgspec
import pytest

from actors.errors import Unprocessable, UrlRefused
from actors.messages.requests import DetectRequest, NewSource
from tests.actors.sources.harness import ADDRESS, SITE, page, rss, watching
from tests.support.memory_network import Answer, ReceivedRequest, web

TYPED = {
    f"feed://{SITE}/x.xml": f"https://{SITE}/x.xml",
    f"feed:https://{SITE}/x.xml": f"https://{SITE}/x.xml",
    f"feed:http://{SITE}/x.xml": f"http://{SITE}/x.xml",
    f"FEED://{SITE}:8443/x": f"https://{SITE}:8443/x",
    f" https://{SITE}/x.xml\n": f"https://{SITE}/x.xml",
    f"{SITE}/x.xml": f"https://{SITE}/x.xml",
    SITE: f"https://{SITE}",
    f"//{SITE}/x": f"https://{SITE}/x",
    "host:8080/x": "https://host:8080/x",
    "wss://a.example/": "wss://a.example/",
    "mailto:ann@shore.example": "mailto:ann@shore.example",
    "ann@shore.example": "ann@shore.example",
    "not a url": "not a url",
    "/x": "/x",
}


def test_a_typed_url_is_completed_as_meant(subtests: pytest.Subtests) -> None:
    for typed, url in TYPED.items():
        with subtests.test(typed):
            assert msgspec.convert({"url": typed}, NewSource).url == url
            assert msgspec.convert({"url": typed}, DetectRequest).url == url


async def test_each_way_of_typing_adds_one_source(autojump_clock: object) -> None:
    async with watching() as (service, site):
        site.bodies["/x.xml"] = rss("a")
        added = [await service.add(typed) for typed, url in TYPED.items() if url == f"https://{SITE}/x.xml"]
        assert [one.created for one in added] == [True] + [False] * (len(added) - 1)


async def test_another_type_for_a_url_that_is_watched_is_refused_with_a_sentence(autojump_clock: object) -> None:
    async with watching() as (service, site):
        site.bodies["/x.xml"] = rss("a")
        known = (await service.add(f"{SITE}/x.xml")).view.source
        with pytest.raises(Unprocessable, match=rf"watched already, as feed: change the type of source {known.id}"):
            await service.add(f"{SITE}/x.xml", type="html")
        assert not (await service.add(f"{SITE}/x.xml", type="feed")).created


async def test_only_urls_that_robots_txt_forbids_are_reported_as_forbidden(autojump_clock: object) -> None:
    async with watching() as (service, _):

        def serve(asked: ReceivedRequest) -> Answer:
            return Answer(500 if asked.target == "/robots.txt" else 200, page("A text that is long enough."))

        service.network.servers[ADDRESS, 443] = web(serve, [])
        with pytest.raises(Unprocessable, match=r"^it can't be watched now: robots\.txt of .* can't be fetched"):
            await service.add(f"{SITE}/page")


@pytest.mark.parametrize("typed", ["127.0.0.1:8080/x", "feed:http://[::1]/", "feed://user:pw@127.0.0.1/"])
async def test_the_guard_checks_the_corrected_url(autojump_clock: object, typed: str) -> None:
    async with watching() as (service, _):
        with pytest.raises(UrlRefused):
            await service.add(typed)
