"""A source's own name: stored at the first check, updated later, never replacing the user's name."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from actors.messages.requests import SourcePatch
from actors.messages.sources import DescribeSource, EditSource, ListSources
from actors.messages.views import SourceSelection, written
from storage.records.identity import SourceId
from storage.records.revision import revision_of
from storage.records.source import Source
from tests.actors.sources.harness import SITE, Watching, page, rss, watching
from tests.support.in_loop import Disk

FEED, PAGE = f"https://{SITE}/feed", f"https://{SITE}/page"
TEXTS = [f"A paragraph of a page about the {word}, with a dozen words or more in it, as it was." for word in "abcde"]


async def source_of(service: Watching, source: SourceId) -> Source:
    found = await service.registry_box.ask(lambda reply: DescribeSource(source, reply))
    return found.source


@pytest.mark.parametrize(("url", "title"), [(FEED, "T"), (PAGE, "Page")])
async def test_a_source_has_its_own_title_until_the_user_names_it(url: str, title: str, autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, origin):
        origin.bodies["/feed"], origin.bodies["/page"] = rss("a"), page(*TEXTS)
        source = (await service.add(url)).view.source
        assert (source.title, source.found_title, source.name) == ("", title, title)
        assert f'text="{title}"' in "".join(written([source], "Mine"))
        found = await service.registry_box.ask(
            lambda reply: ListSources(limit=9, reply=reply, where=SourceSelection(words=(title.lower(),)))
        )
        assert [view.source.id for view in found.views] == [source.id]
        edit = SourcePatch(title="Mine")
        await service.registry_box.ask(lambda reply: EditSource(source.id, edit, reply))
    async with watching(origin, disk=disk) as (service, origin):
        after = await source_of(service, source.id)
        assert (after.title, after.found_title, after.name) == ("Mine", title, "Mine")


async def test_a_title_that_changes_is_followed_but_not_for_its_numbers(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*TEXTS)
        source = (await service.add(PAGE)).view.source
        writes: list[str] = []
        update = service.storage.sources.update

        async def noted(after: Source, *more: Any, **named: Any) -> None:
            writes.append(after.found_title)
            await update(after, *more, **named)

        service.storage.sources.update = noted  # type: ignore[method-assign]
        for number, title in enumerate(("Page", "(3) Notices", "(4) Notices", "Notices of today")):
            body = page(*TEXTS, clock=f"12:00:{number:02}")
            origin.bodies["/page"] = body.replace(b"<title>Page", f"<title>{title}".encode())
            await trio.sleep(3 * 3600)
        assert writes == ["(3) Notices", "Notices of today"]
        after = await source_of(service, source.id)
        assert (after.found_title, after.updated_at) == ("Notices of today", source.updated_at)
        assert revision_of(after) == revision_of(source), "whoever edits it meanwhile is not told that it has changed"


async def test_a_page_that_is_held_in_the_place_of_another_gives_it_no_name(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*TEXTS)
        source = (await service.add(PAGE)).view.source
        other = [
            f"Quite another text says of the {word} what nobody has asked for, at some length." for word in "vwxyz"
        ]
        origin.bodies["/page"] = page(*other).replace(b"<title>Page", b"<title>Welcome to the portal")
        asked = len(origin.asked)
        for _ in range(360):
            if len(origin.asked) > asked:
                break
            await trio.sleep(60)
        await trio.sleep(5)
        assert (await source_of(service, source.id)).found_title == "Page"
        await trio.sleep(3 * 86400)
        assert (await source_of(service, source.id)).found_title == "Welcome to the portal"
