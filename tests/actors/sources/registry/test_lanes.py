"""A question waits only for its own needs, and work stops when the asker leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.errors import Busy, DomainError, TooSoon
from actors.messages.requests import DetectRequest, NewSource, SourcePatch
from actors.messages.sources import (
    AddSource,
    CheckNow,
    DescribeSource,
    DetectUrl,
    EditSource,
    ExamineSource,
    ExplainSource,
    ListSources,
    PreviewSource,
)
from actors.sources.registry import actor
from storage.records.identity import SourceId
from supervision import Reply
from tests.actors.sources.harness import SITE, Watching, page, rss, watching

DEAF, FEED, PAGE = "deaf.example", f"https://{SITE}/feed", f"https://{SITE}/page"
TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it."
ADDS = 50


async def _never_answer(stream: trio.abc.Stream) -> None:
    await trio.sleep_forever()


def _add_deaf_host(service: Watching) -> None:
    service.network.add(DEAF, "93.184.216.99", _never_answer)


async def _add_to_host(service: Watching, address: str) -> None:
    with suppress(DomainError):
        await service.add(f"http://{address}")


async def _add_to_deaf_host(service: Watching, number: int, came: list[Exception]) -> None:
    try:
        await service.add(f"http://{DEAF}/{number}")
    except Exception as error:
        came.append(error)


QUESTIONS: dict[str, Callable[[SourceId, Any], Any]] = {
    "list": lambda source, reply: ListSources(10, reply),
    "describe": DescribeSource,
    "examine": ExamineSource,
    "check": CheckNow,
    "explain": lambda source, reply: ExplainSource(source, reply, "x1"),
    "edit": lambda source, reply: EditSource(source, SourcePatch(tags=("topic:a",)), reply),
}


@pytest.mark.parametrize("question", QUESTIONS)
async def test_r5_many_adds_to_a_host_that_never_answers_delay_no_question_about_sources(
    autojump_clock: object, question: str
) -> None:
    async with watching() as (service, origin), trio.open_nursery() as nursery:
        origin.bodies["/feed"] = rss("x1")
        source = (await service.add(FEED)).view.source.id
        _add_deaf_host(service)
        await trio.sleep(120)
        for number in range(ADDS):
            nursery.start_soon(_add_to_deaf_host, service, number, [])
        await wait_all_tasks_blocked()
        with trio.fail_after(1), suppress(TooSoon):  # also an answer
            await service.registry_box.ask(lambda reply: QUESTIONS[question](source, reply))
        nursery.cancel_scope.cancel()


async def test_r5_adds_beyond_the_network_lane_are_refused_with_retry_after(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _), trio.open_nursery() as nursery:
        _add_deaf_host(service)
        came: list[Exception] = []
        for number in range(ADDS):
            nursery.start_soon(_add_to_deaf_host, service, number, came)
        await wait_all_tasks_blocked()
        assert len(came) == ADDS - actor.MOST_OF_HOST - actor.MOST_NETWORK
        assert all(isinstance(error, Busy) and error.retry_after == actor.RETRY_AFTER for error in came)
        nursery.cancel_scope.cancel()


async def test_r5_a_host_that_never_answers_has_a_quarter_of_the_places_and_others_are_added(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin), trio.open_nursery() as nursery:
        origin.bodies["/feed"] = rss("x1")
        _add_deaf_host(service)
        for number in range(ADDS):
            nursery.start_soon(_add_to_deaf_host, service, number, [])
        await wait_all_tasks_blocked()
        with trio.fail_after(5):
            assert (await service.add(FEED)).created
        for number in range(3):
            service.network.add(f"deaf{number}.example", f"93.184.216.{number + 100}", _never_answer)
            for place in range(actor.MOST_OF_HOST):
                nursery.start_soon(_add_to_host, service, f"deaf{number}.example/{place}")
        await wait_all_tasks_blocked()
        with pytest.raises(Busy, match="most at once"):
            await service.add(PAGE)
        nursery.cancel_scope.cancel()


async def test_r5_work_for_disconnected_callers_is_cancelled_and_frees_their_places(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("x1")
        _add_deaf_host(service)
        async with trio.open_nursery() as nursery:
            for number in range(actor.MOST_NETWORK):
                nursery.start_soon(_add_to_deaf_host, service, number, [])
            await trio.sleep(5)
            nursery.cancel_scope.cancel()
        await wait_all_tasks_blocked()
        with trio.fail_after(5):
            added = await service.add(FEED)
        await trio.sleep(3600)
        page = await service.registry_box.ask(lambda reply: ListSources(10, reply))
        assert [view.source.id for view in page.views] == [added.view.source.id]


async def test_r5_a_cancelled_request_in_the_mailbox_is_not_started(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("x1")
        reply: Reply[Any] = Reply()
        reply.abandon()
        await service.registry_box.send(AddSource(NewSource(FEED), reply))
        await trio.sleep(60)
        assert not origin.asked


async def test_r5_an_add_cancelled_during_its_write_is_stored_and_watched(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("x1")
        real: Callable[..., Awaitable[None]] = service.storage.sources.add
        begun = trio.Event()

        async def add(*given: Any) -> None:
            begun.set()
            await trio.sleep(20)
            await real(*given)

        monkeypatch.setattr(service.storage.sources, "add", add)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(service.add, FEED)
            await begun.wait()
            nursery.cancel_scope.cancel()
        await trio.sleep(60)
        origin.bodies["/feed"] = rss("x2", "x1")
        await trio.sleep(7200)
        assert await service.news() == ["x2"]


async def test_r5_a_preview_that_waits_for_its_host_does_not_delay_an_edit_of_its_source(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin), trio.open_nursery() as nursery:
        origin.bodies["/page"] = page(TEXT)
        source = (await service.add(PAGE)).view.source.id
        await trio.sleep(3620)
        service.network.servers["93.184.216.34", 443] = _never_answer
        nursery.start_soon(
            service.registry_box.ask, lambda reply: PreviewSource(source, "main", (), reply), name="preview"
        )
        await wait_all_tasks_blocked()
        with trio.fail_after(1):
            await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(title="T"), reply))
        assert service.registry.table.describe(source).source.title == "T"
        nursery.cancel_scope.cancel()


async def test_r5_a_detection_without_callers_is_not_awaited(autojump_clock: object) -> None:
    async with watching() as (service, _):
        _add_deaf_host(service)
        with trio.move_on_after(2):
            await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(f"http://{DEAF}/"), reply))
        await wait_all_tasks_blocked()
        assert service.registry.network_limit.active == 0
