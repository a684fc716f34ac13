"""What happens to a harvest under way when its source is edited, taught, paused or restarted: told once, not lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import trio

from actors.errors import TooSoon
from actors.messages import EditSource, SourceEdit
from storage.errors import Unavailable
from storage.records.identity import SourceId
from tests.source.harness import SITE, Watching, rss, watching

Change = Callable[[Watching, SourceId], Awaitable[Any]]


async def tag(service: Watching, source: SourceId) -> None:
    await service.registry_box.ask(lambda reply: EditSource(source, SourceEdit(tags=("label:a",)), reply))


async def pause(service: Watching, source: SourceId) -> None:
    for enabled in (False, True):
        edit = SourceEdit(enabled=enabled)
        await service.registry_box.ask(lambda reply, edit=edit: EditSource(source, edit, reply))  # type: ignore[misc]


async def nothing(service: Watching, source: SourceId) -> None:
    pass


@pytest.mark.parametrize("change", [tag, pause, nothing])
async def test_r3_an_edit_while_a_harvest_waits_behind_a_slow_commit_tells_it_once(
    autojump_clock: object, change: Change
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f1"], origin.bodies["/f2"] = rss("x1"), rss("y1")
        ids = [(await service.add(f"https://{SITE}{path}")).view.source.id for path in ("/f1", "/f2")]
        await trio.sleep(5)
        real = service.storage.log.append

        async def append(*given: Any) -> Any:
            await trio.sleep(20)
            return await real(*given)

        service.storage.log.append = append  # type: ignore[method-assign]
        origin.bodies["/f1"], origin.bodies["/f2"] = rss("x2", "x1"), rss("y2", "y1")
        with trio.fail_after(3600):
            while not service.recorder_box.statistics().depth:  # noqa: ASYNC110  # a mailbox tells nobody of its depth
                await trio.sleep(0.5)
        async with trio.open_nursery() as nursery:
            for source in ids:
                nursery.start_soon(change, service, source)
        await trio.sleep(7200)
        assert sorted(await service.news()) == ["x2", "y2"]


async def test_a_harvest_that_was_committed_without_an_answer_is_read_back_and_told_once(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f"] = rss("x1")
        source = (await service.add(f"https://{SITE}/f")).view.source.id
        await trio.sleep(120)
        real, lost = service.storage.log.append, 0

        async def append(*given: Any) -> Any:
            nonlocal lost
            answer = await real(*given)
            if not lost:
                lost += 1
                raise Unavailable("the answer was lost")
            return answer

        service.storage.log.append = append  # type: ignore[method-assign]
        for news in (("x2", "x1"), ("x3", "x2", "x1")):
            origin.bodies["/f"] = rss(*news)
            await trio.sleep(120)
            with suppress(TooSoon):  # it has just looked again by itself
                await service.check(source)
            await trio.sleep(120)
        assert lost == 1
        assert await service.news() == ["x2", "x3"]
        unanswered = [name for name, _ in service.logged if name == "harvest.unacknowledged"]
        assert len(unanswered) == 1  # what is true was read back: no later harvest began with another version


async def test_an_edit_takes_over_what_looks_without_news_have_learned_and_nobody_has_stored_yet(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f"] = rss("x1")
        source = (await service.add(f"https://{SITE}/f")).view.source.id
        live = service.registry.table.get(source)
        with trio.fail_after(7 * 86400):
            while live.hot.looks < 4 or not live.unsaved:  # noqa: ASYNC110  a look tells nobody of its end
                await trio.sleep(60)
        before = live.hot
        await tag(service, source)
        assert service.registry.table.get(source).hot == before
