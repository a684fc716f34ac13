"""A harvest in progress while its source is edited, taught, paused or restarted: reported once, not lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import trio

from actors.errors import TooSoon
from actors.messages.requests import SourcePatch
from actors.messages.sources import DeleteSource, EditSource, Teach
from actors.sources.index import RESPONSE_WITHIN
from storage.errors import Unavailable
from storage.records.identity import SourceId
from tests.actors.sources.harness import ADDRESS, SITE, Watching, page, rss, watching
from tests.actors.sources.push.test_push import URL, Pusher
from tests.support.memory_network import Answer, ReceivedRequest, web

Change = Callable[[Watching, SourceId], Awaitable[Any]]


async def tag(service: Watching, source: SourceId) -> None:
    await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(tags=("label:a",)), reply))


async def pause(service: Watching, source: SourceId) -> None:
    for enabled in (False, True):
        edit = SourcePatch(enabled=enabled)
        await service.registry_box.ask(lambda reply, edit=edit: EditSource(source, edit, reply))  # type: ignore[misc]


async def refused(service: Watching, source: SourceId) -> None:
    """Change the tags while storage refuses: the source's actor stops, and starts again unchanged."""
    real = service.storage.sources.update

    async def update(*_: object, **__: object) -> None:
        service.storage.sources.update = real  # type: ignore[method-assign]
        raise Unavailable("for once")

    service.storage.sources.update = update  # type: ignore[method-assign]
    with suppress(Unavailable):
        await tag(service, source)


async def restart(service: Watching, source: SourceId) -> None:
    service.supervisor.restart_child("sources")


async def teach(service: Watching, source: SourceId) -> None:
    await service.registry_box.ask(lambda reply: Teach(source, ("Visits: 7",), True, reply))


async def nothing(service: Watching, source: SourceId) -> None:
    pass


def slow_commits(service: Watching, seconds: float = 20) -> trio.Event:
    """Slow down each commit of events; return an event that is set when the first has begun."""
    real, begun = service.storage.log.append, trio.Event()

    async def append(*given: Any) -> Any:
        begun.set()
        await trio.sleep(seconds)
        return await real(*given)

    service.storage.log.append = append  # type: ignore[method-assign]
    return begun


@pytest.mark.parametrize("change", [tag, pause, refused, restart, nothing])
async def test_r3_an_edit_while_a_harvest_waits_behind_a_slow_commit_reports_it_once(
    autojump_clock: object, change: Change
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f1"], origin.bodies["/f2"] = rss("x1"), rss("y1")
        ids = [(await service.add(f"https://{SITE}{path}")).view.source.id for path in ("/f1", "/f2")]
        await trio.sleep(5)
        slow_commits(service)
        origin.bodies["/f1"], origin.bodies["/f2"] = rss("x2", "x1"), rss("y2", "y1")
        with trio.fail_after(3600):
            while not service.recorder_box.statistics().depth:  # noqa: ASYNC110  # a mailbox has no event for its depth
                await trio.sleep(0.5)
        async with trio.open_nursery() as nursery:
            for source in ids:
                nursery.start_soon(change, service, source)
        await trio.sleep(7200)
        assert sorted(await service.news()) == ["x2", "y2"]


@pytest.mark.parametrize("change", [tag, pause, refused, restart, nothing])
@pytest.mark.parametrize("wait", [0.0, 15.0])
async def test_r3_each_frame_is_reported_once_when_a_push_source_changes_behind_a_slow_commit(
    autojump_clock: object, change: Change, wait: float
) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(2)
        await pusher.send("one")
        begun = slow_commits(service)
        await pusher.send("two", "three")
        await begun.wait()
        await trio.sleep(wait)
        await change(service, source)
        await trio.sleep(600)
        await pusher.send("four", "two")
        await trio.sleep(600)
        assert [event["content"] for event in await service.events()] == ["one", "two", "three", "four"]


@pytest.mark.parametrize("change", [tag, restart])
async def test_unread_frames_are_reported_at_a_stop(autojump_clock: object, change: Change) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(2)
        begun = slow_commits(service)
        await pusher.send("one")
        await begun.wait()
        await trio.sleep(5)
        await pusher.send("two", "three")  # unread: the source waits for the commit
        await trio.sleep(5)
        await change(service, source)
        await trio.sleep(600)
        assert [event["content"] for event in await service.events()] == ["one", "two", "three"]


async def test_r3_frames_are_reported_once_through_two_changes_and_a_storage_that_can_not_be_read(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(2)
        begun = slow_commits(service)
        await pusher.send("one", "two")
        await begun.wait()
        await tag(service, source)
        with monkeypatch.context() as broken:

            async def get(*_: object) -> None:
                raise Unavailable("for a while")

            broken.setattr(service.storage.sources, "get", get)
            service.supervisor.restart_child("sources")
            await trio.sleep(10)
        await trio.sleep(5)
        await pause(service, source)
        await trio.sleep(600)
        assert [event["content"] for event in await service.events()] == ["one", "two"]


async def test_r3_a_lesson_while_a_pages_harvest_waits_behind_a_slow_commit_reports_it_once(
    autojump_clock: object,
) -> None:
    news = "A second paragraph of this page that is long enough to be told as news by itself."
    async with watching() as (service, origin):
        origin.bodies["/page"] = page("A first paragraph that is long enough to be text of the page in any case.")
        source = (await service.add(f"https://{SITE}/page")).view.source.id
        await trio.sleep(5)
        begun = slow_commits(service)
        origin.bodies["/page"] = page("A first paragraph that is long enough to be text of the page in any case.", news)
        with trio.fail_after(7200):
            await begun.wait()
        await teach(service, source)
        await trio.sleep(4 * 3600)
        assert [event["content"].count(news) for event in await service.events()] == [1]


async def other_part(service: Watching, source: SourceId, **part: Any) -> None:
    await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(**part), reply))


@pytest.mark.parametrize("seconds", [0, 8])
@pytest.mark.parametrize("part", [{"selector": "main"}, {"ignore": (".advert",)}])
async def test_a_new_part_during_a_slow_commit_swallows_no_change(
    autojump_clock: object, seconds: float, part: dict[str, Any]
) -> None:
    first = "A first paragraph that is long enough to be text of the page in any case."
    news = "A second paragraph of this page that is long enough to be told as news by itself."
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(first)
        source = (await service.add(f"https://{SITE}/page")).view.source.id
        await trio.sleep(5)
        begun = slow_commits(service, seconds)
        origin.bodies["/page"] = page(first, news)
        if seconds:
            with trio.fail_after(7200):
                await begun.wait()
        await other_part(service, source, **part)
        await other_part(service, source, title="Fares")
        await other_part(service, source, **(dict.fromkeys(part) if "selector" in part else {"ignore": ()}))
        await trio.sleep(4 * 3600)
        assert [event["content"].count(news) for event in await service.events()] == [1]


async def test_r3_a_deleted_source_reports_nothing(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f1"] = rss("x1")
        source = (await service.add(f"https://{SITE}/f1")).view.source.id
        await trio.sleep(5)
        begun = slow_commits(service)
        origin.bodies["/f1"] = rss("x2", "x1")
        with trio.fail_after(7200):
            await begun.wait()
        await service.registry_box.ask(lambda reply: DeleteSource(source, reply))
        before = await service.news()
        await trio.sleep(7200)
        assert await service.news() == before and not await service.storage.sources.page(None, 10)


async def test_a_harvest_committed_without_an_answer_is_read_back_and_reported_once(
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
            with suppress(TooSoon):  # its own check has just run
                await service.check(source)
            await trio.sleep(120)
        assert lost == 1
        assert await service.news() == ["x2", "x3"]
        unanswered = [name for name, _ in service.logged if name == "harvest.unacknowledged"]
        assert len(unanswered) == 1  # it read the truth back: no later harvest started from another version


async def test_an_edit_keeps_unstored_state_of_checks_without_changes(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f"] = rss("x1")
        source = (await service.add(f"https://{SITE}/f")).view.source.id
        live = service.registry.table.get(source)
        with trio.fail_after(7 * 86400):
            while live.hot.looks < 4 or not live.unsaved:  # noqa: ASYNC110  a check has no event for its end
                await trio.sleep(60)
        before = live.hot
        await tag(service, source)
        assert service.registry.table.get(source).hot == before


async def add_header(service: Watching, source: SourceId) -> None:
    edit = SourcePatch(headers="X-Who: us")
    await service.registry_box.ask(lambda reply: EditSource(source, edit, reply))


@pytest.mark.parametrize("change", [tag, pause, nothing, add_header])
@pytest.mark.parametrize("status", [429, 503])
async def test_p4_a_retry_after_holds_if_an_edit_cuts_its_check(
    autojump_clock: object, change: Change, status: int
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f1"] = rss("x1")
        source = (await service.add(f"https://{SITE}/f1")).view.source.id
        asked: list[float] = []

        def answer(_: ReceivedRequest) -> Answer:
            asked.append(trio.current_time())
            return Answer(status, headers={"retry-after": "1800"}, after=5)

        service.network.servers[ADDRESS, 443] = web(answer)
        while not asked:  # noqa: ASYNC110  # the test's server has no event for it
            await trio.sleep(0.5)
        await change(service, source)
        await trio.sleep(1700)
        assert len(asked) == 1
        await trio.sleep(7200)
        assert len(asked) > 1


async def test_an_edit_waits_no_longer_than_its_bound_for_a_host_that_says_nothing(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/f1"] = rss("x1")
        source = (await service.add(f"https://{SITE}/f1")).view.source.id
        asked: list[ReceivedRequest] = []
        service.network.servers[ADDRESS, 443] = web(lambda _: Answer(after=1e6), asked)
        while not asked:  # noqa: ASYNC110  # the test's server has no event for it
            await trio.sleep(0.5)
        before = trio.current_time()
        await tag(service, source)
        assert RESPONSE_WITHIN - 1 <= trio.current_time() - before <= RESPONSE_WITHIN + 1
