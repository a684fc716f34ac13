"""One feed is one source, by any of its addresses."""

from __future__ import annotations

import pytest
import trio

from actors.messages.sources import DeleteSource
from storage.records.identity import SourceId
from tests.actors.sources.harness import ADDRESS, SITE, Origin, Watching, rss, watching

FEED, PAGE = f"https://{SITE}/feed.xml", f"https://{SITE}/"
ADVERTISES = b"<html><head><link rel='alternate' type='application/rss+xml' href='/feed.xml'></head><body><p>Hi</p>"
TWINS = (FEED, PAGE, f"http://{SITE}/feed.xml", f"https://{SITE}/feed.xml/", f"https://www.{SITE}/feed.xml")


def site() -> Origin:
    origin = Origin()
    origin.bodies |= {"/": ADVERTISES, "/feed.xml": rss("One"), "/feed.xml/": rss("One"), "/other.xml": rss("Two")}
    return origin


async def added(run: Watching, url: str, **wish: object) -> tuple[SourceId, bool]:
    run.network.names[f"www.{SITE}"] = [(ADDRESS,)]
    answer = await run.add(url, **wish)
    return answer.view.source.id, answer.created


@pytest.mark.parametrize("first", TWINS)
async def test_each_twin_attaches_to_the_first(first: str, autojump_clock: object) -> None:
    async with watching(site()) as (run, _):
        there, created = await added(run, first)
        assert created
        for url in TWINS:
            assert await added(run, url, mark=("desk",)) == (there, False), url
        assert run.registry.table.get(there).source.tags == ("desk",)
        assert (await added(run, f"https://{SITE}/other.xml"))[1]


async def test_two_adds_of_one_feed_at_once_make_one_source(autojump_clock: object) -> None:
    async with watching(site()) as (run, _):
        found: list[tuple[SourceId, bool]] = []

        async def add(url: str) -> None:
            found.append(await added(run, url))

        async with trio.open_nursery() as nursery:
            for url in TWINS:
                nursery.start_soon(add, url)
        assert len({source for source, _ in found}) == 1 and sum(created for _, created in found) == 1


async def test_headers_a_wish_for_the_page_or_a_deletion_make_another(autojump_clock: object) -> None:
    async with watching(site()) as (run, _):
        there, _ = await added(run, FEED)
        assert (await added(run, PAGE, type="html"))[1]
        assert (await added(run, f"http://{SITE}/feed.xml", headers="X-Member: 1"))[1]
        await run.registry_box.ask(lambda reply: DeleteSource(there, reply))
        assert (await added(run, f"https://{SITE}/feed.xml/"))[1]
