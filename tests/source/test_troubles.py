from __future__ import annotations

import pytest
import trio

from actors.source.troubles import notice
from storage.memory import Disk
from storage.records.event import Kind
from storage.records.health import Flag, Health
from storage.records.identity import Millis
from tests.source.harness import Origin, rss, watching
from tests.source.test_push import Pusher
from tests.support.build import NOW, a_source

URL = "https://site.example/feed"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("ok", "ok", None),
        ("ok", "degraded", "source_failing"),
        ("ok", "rotten", "source_failing"),
        ("degraded", "rotten", None),
        ("rotten", "degraded", None),
        ("degraded", "ok", "source_recovered"),
        ("rotten", "ok", "source_recovered"),
    ],
)
def test_a_trouble_is_said_when_it_begins_and_when_it_is_over(before: Flag, after: Flag, said: str | None) -> None:
    down = None if after == "ok" else Millis(NOW - 1)
    told = notice(a_source(), Health(flag=before, reason="down for 2 h"), Health(flag=after, down_since=down), NOW)
    assert (None if told is None else told.alert_type) == said
    if said == "source_recovered":
        assert told is not None and "down for 2 h" in told.content


def test_silence_that_costs_health_is_said_as_such() -> None:
    quiet = Health(0.5, "degraded", "silent for 10 h", cause="yield")
    told = notice(a_source(), Health(), quiet, NOW)
    assert told is not None
    assert (told.alert_type, told.content) == ("source_quiet", "silent for 10 h")


async def test_a_source_that_fails_and_recovers_says_each_once_as_a_notice(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        origin.status = 500
        await trio.sleep(48 * 3600)
        (failing,) = await service.alerts()
        assert (failing["alert_type"], failing["source_id"], failing["source_url"]) == ("source_failing", source, URL)
        assert "500" in failing["content"] and failing["signature"]
        origin.status = None
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(3600)
        assert [event.get("alert_type", event["title"]) for event in await service.events()] == [
            "source_failing",
            "source_recovered",
            "b",
        ]
        assert [event.kind for event in service.disk.events] == [Kind.NOTICE, Kind.NOTICE, Kind.FEED]
        assert service.registry.table.describe(source).hot.events == 1, "notices are no events of the source"


async def test_two_bad_looks_are_no_trouble(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.status = 500
        await trio.sleep(1200)
        origin.status = None
        await trio.sleep(24 * 3600)
        assert await service.alerts() == []


async def test_a_restart_in_the_middle_of_a_trouble_repeats_nothing(autojump_clock: object) -> None:
    disk, origin = Disk(), Origin()
    async with watching(origin, disk=disk) as (service, _):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.status = 500
        await trio.sleep(6 * 3600)
    async with watching(origin, disk=disk) as (service, _):
        await trio.sleep(24 * 3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing"]
        origin.status = None
        await trio.sleep(3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing", "source_recovered"]


async def test_a_notice_that_could_not_be_committed_is_said_later(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.status = 500
        await trio.sleep(1800)
        service.disk.full = True
        await trio.sleep(6 * 3600)
        assert await service.alerts() == []
        service.disk.full = False
        await trio.sleep(3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing"]


async def test_a_push_source_says_it_too(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add("ws://push.example/live", filter="")
        await trio.sleep(2)
        pusher.refuse = 500
        await pusher.hang_up()
        await trio.sleep(12 * 3600)
        pusher.refuse = None
        await trio.sleep(3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing", "source_recovered"]
