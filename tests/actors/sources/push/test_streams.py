"""Streams over HTTP: Server-Sent Events and JSON lines."""

from __future__ import annotations

import json
import random

import pytest
import trio

from actors.egress.event_stream import QUIET
from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest, Previewed
from actors.messages.sources import DetectUrl
from storage.records.checks import read_rows
from tests.actors.sources.harness import SITE, Watching, watching
from tests.actors.sources.push.streaming import (
    ADDRESS,
    HOST,
    URL,
    Log,
    Replayed,
    Streamer,
    line,
    number_of,
    numbered,
    offset_of,
    wikimedia,
)
from tests.support.in_loop import Disk


async def detected(service: Watching, url: str = URL, **wish: object) -> Previewed:
    asked = DetectRequest(url, **wish)  # type: ignore[arg-type]
    return await service.registry_box.ask(lambda reply: DetectUrl(asked, reply))


@pytest.mark.parametrize("type", [None, "push"])
@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/event-stream; charset=utf-8", "Server-Sent Events"),
        ("application/x-ndjson", "JSON lines"),
        ("application/jsonl", "JSON lines"),
        ("application/stream+json;charset=UTF-8", "JSON lines"),
    ],
)
async def test_a_stream_is_known_by_its_header(
    autojump_clock: trio.abc.Clock, content_type: str, kind: str, type: str | None
) -> None:
    async with watching() as (service, _):
        streamer = Streamer(content_type).join(service)
        began = trio.current_time()
        view = (await service.add(URL, type=type, filter="")).view
        assert trio.current_time() - began <= 2.1
        assert (view.source.type, view.source.detection.type) == ("push", "push")
        assert kind in view.source.detection.evidence
        await trio.sleep(2)
        await streamer.send(
            b'data: {"id": 1, "title": "High"}\n\n' if "event" in content_type else b'{"title":"High"}\n'
        )
        assert await service.titles() == ["High"]


async def test_detect_shows_the_first_events_of_a_stream(autojump_clock: object) -> None:
    async with watching() as (service, _):
        Streamer(greeting=b'event: update\ndata: {"title": "High tide"}\n\n').join(service)
        found = await detected(service, filter="tide")
        push = found.preview.push
        assert push is not None
        assert [(shown.title, shown.told, shown.tags) for shown in push.frames] == [
            ("High tide", True, ("change:new", "category:update"))
        ]


@pytest.mark.parametrize("type", ["html", "feed"])
async def test_a_stream_is_refused_as_anything_else_at_its_header(autojump_clock: object, type: str) -> None:
    async with watching() as (service, _):
        Streamer().join(service)
        began = trio.current_time()
        with pytest.raises(Unprocessable, match=r"text/event-stream.*only push"):
            await service.add(URL, type=type)
        assert trio.current_time() - began <= 2


async def test_a_document_of_json_lines_is_a_page(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/list"] = b'{"a": 1}\n{"a": 2}\n'
        origin.headers["/list"] = {"content-type": "application/x-ndjson"}
        assert (await service.add(f"https://{SITE}/list")).view.source.type == "html"


async def test_a_page_that_becomes_a_stream_says_so(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/list"] = (
            b"<html><body><p>The water is high today and it will be low tomorrow.</p></body></html>"
        )
        source = (await service.add(f"http://{SITE}/list")).view.source.id
        origin.headers["/list"] = {"content-type": "text/event-stream"}
        origin.bodies["/list"] += b"x"
        await trio.sleep(3600)
        assert "add it again, as push" in str(service.registry.table.describe(source).hot.last_error)


@pytest.mark.parametrize(
    ("content_type", "greeting", "titles"),
    [
        (  # Mastodon: an object in a string
            "text/event-stream",
            b':)\nevent: update\ndata: {"id":"109","content":"<p>Hello</p>","url":"https://m.example/109"}\n\n'
            b':thump\nevent: notification\ndata: {"id":"1","content":"<p>Hi</p>"}\n\n',
            ["Hello", "Hi"],
        ),
        (  # ntfy
            "application/x-ndjson; charset=utf-8",
            b'{"id":"a","time":1800000000,"event":"open","topic":"t"}\n'
            b'{"id":"b","time":1800000001,"event":"message","topic":"t","title":"Tide","message":"high"}\n\n'
            b'{"id":"c","time":1800000002,"event":"keepalive","topic":"t"}\n',
            ["high"],
        ),
        (
            "text/event-stream",
            b'event: open\ndata: {"id":"a","event":"open","topic":"t"}\n\n'
            b'id: b\ndata: {"id":"b","event":"message","topic":"t","message":"high"}\n\nevent: keepalive\ndata: {}\n\n',
            ["high"],
        ),
        (  # Mercure
            "text/event-stream",
            b':\nid: urn:uuid:1\ndata: {"@id":"/books/1","name":"Tides",\ndata: "description":"read"}\n\n',
            ["read"],
        ),
    ],
)
async def test_streams_of_well_known_servers_are_read(
    autojump_clock: object, content_type: str, greeting: bytes, titles: list[str]
) -> None:
    async with watching() as (service, _):
        Streamer(content_type, greeting=greeting).join(service)
        await service.add(URL, filter="")
        await trio.sleep(3)
        assert [event["content"] for event in await service.events()] == titles


@pytest.mark.parametrize(("render", "place_of"), [(wikimedia, offset_of), (numbered, number_of)])
async def test_a_stream_resumes_after_the_last_event_even_after_a_restart(
    autojump_clock: object, render: object, place_of: object
) -> None:
    disk = Disk()
    log = Log(render, place_of)  # type: ignore[arg-type]
    async with watching(disk=disk) as (service, _):
        log.join(service)
        await service.add(URL, filter="tide")
        await trio.sleep(2)
        await log.add(3)
        await trio.sleep(1)
        await log.hang_up()
        await log.add(2)
        await trio.sleep(10)
    await log.add(2)
    async with watching(disk=disk) as (service, _):
        log.join(service)
        await trio.sleep(10)
        assert len(await service.titles()) == len(set(await service.titles())) == log.count == 7
    assert all(place_of(asked["last-event-id"]) for asked in log.asked[2:])  # type: ignore[operator]


async def test_a_place_that_moves_without_a_harvest_is_stored_within_a_minute(autojump_clock: object) -> None:
    disk = Disk()
    log = Log(numbered, number_of)
    async with watching(disk=disk) as (service, _):
        log.join(service)
        await service.add(URL, filter="nothing")
        await trio.sleep(2)
        await log.add(5)
        await trio.sleep(61)
        disk.full = True  # like a kill: nothing is written at the end
    disk.full = False
    async with watching(disk=disk) as (service, _):
        log.join(service)
        await trio.sleep(10)
        assert log.asked[-1]["last-event-id"] == "n4"
        assert await service.titles() == []


async def test_retry_is_obeyed_within_bounds(autojump_clock: object) -> None:
    async with watching() as (service, _):
        streamer = Streamer(greeting=b"retry: 90000\ndata: x\n\n").join(service)
        await service.add(URL, filter="")
        await trio.sleep(5)
        for greeting, least, most in ((b"retry: 99999999\n\n", 90, 92), (b"retry: 1\n\n", 300, 302), (b"", 1, 10)):
            streamer.greeting = greeting
            before = len(streamer.times)
            await trio.sleep(70)
            began = trio.current_time()
            await streamer.hang_up()
            await trio.sleep(310)
            assert least <= streamer.times[before] - began <= most


async def test_comments_keep_a_stream_and_silence_has_it_opened_again(autojump_clock: object) -> None:
    async with watching() as (service, _):
        streamer = Streamer(greeting=b": hi\n\n").join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(5)
        opened = len(streamer.times)
        for _ in range(30):
            await streamer.send(b":\n\n")
            await trio.sleep(60)
        assert len(streamer.times) == opened
        await trio.sleep(QUIET + 10)
        assert len(streamer.times) == opened + 1
        hot = service.registry.table.describe(source).hot
        assert (hot.health.score, hot.breaker.state) == (1.0, "closed")


async def test_204_means_stop(autojump_clock: object) -> None:
    async with watching() as (service, _):
        streamer = Streamer().join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(70)
        streamer.status = 204
        await streamer.hang_up()
        await trio.sleep(3600)
        asked = len(streamer.times)
        await trio.sleep(20 * 3600)
        assert len(streamer.times) == asked
        assert "for no more requests" in str(service.registry.table.describe(source).hot.last_error)


async def test_another_content_type_fails_with_a_sentence(autojump_clock: object) -> None:
    async with watching() as (service, _):
        streamer = Streamer().join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(70)
        streamer.content_type = "text/html"
        await streamer.hang_up()
        await trio.sleep(10)
        error = "answered 200 with text/html: a stream has text/event-stream or JSON lines (application/x-ndjson)"
        assert service.registry.table.describe(source).hot.last_error == error
        with pytest.raises(Unprocessable, match="answered 200 with text/html"):
            await service.add(f"{URL}/other", type="push")


async def test_a_redirect_is_followed_through_the_guard_without_the_users_headers(autojump_clock: object) -> None:
    async with watching() as (service, _):
        first, second = Streamer(status=307, headers=[("Location", "http://other.example/x")]), Streamer()
        first.join(service)
        second.join(service, "other.example", "93.184.216.79")
        await service.add(URL, type="push", filter="", headers="Authorization: Bearer s3cret")
        await trio.sleep(3)
        await second.send(b"data: hello\n\n")
        assert [event["content"] for event in await service.events()] == ["hello"]
        assert first.asked[-1]["authorization"] == "Bearer s3cret"
        assert "authorization" not in second.asked[-1]
        first.headers = [("Location", "http://10.0.0.1/x")]
        await second.hang_up()
        await trio.sleep(10)
        assert ("10.0.0.1", 80) not in service.network.connected


async def test_the_target_of_a_redirect_sets_no_cookie_of_the_user(autojump_clock: object) -> None:
    async with watching() as (service, _):
        first, second = Streamer(status=307, headers=[("Location", "http://other.example/x")]), Streamer()
        second.headers = [("Set-Cookie", "session=stranger; Path=/")]
        first.join(service)
        second.join(service, "other.example", "93.184.216.79")
        await service.add(URL, type="push", filter="", headers="Cookie: session=t0")
        await trio.sleep(3)
        await second.hang_up()
        await trio.sleep(400)
        assert len(second.asked) > 2
        assert {asked["cookie"] for asked in first.asked} == {"session=t0"}


async def test_a_source_that_had_yet_to_answer_may_turn_out_to_be_a_stream(autojump_clock: object) -> None:
    async with watching() as (service, _):
        service.network.names[HOST] = [(ADDRESS,)]
        source = (await service.add(URL, verify="later", filter="")).view.source.id
        streamer = Streamer().join(service)
        await trio.sleep(3600)
        await streamer.send(b"data: hello\n\n")
        assert service.registry.table.describe(source).source.type == "push"
        assert [event["content"] for event in await service.events()] == ["hello"]


async def test_events_that_are_too_large_lower_the_health_and_say_why(autojump_clock: object) -> None:
    async with watching() as (service, _):
        streamer = Streamer(content_type="application/x-ndjson").join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(3)
        for _ in range(3):
            await streamer.send(b"x" * (3 << 19) + b"\n")
            await trio.sleep(60)
        health = service.registry.table.describe(source).hot.health
        assert health.score < 1.0
        assert health.reason.endswith("could not be read: an event has more than 1 MiB")


async def test_only_a_socket_is_spoken_to_and_the_trail_says_200(autojump_clock: object) -> None:
    async with watching() as (service, _):
        Streamer().join(service)
        for wish in ({"hello": "x"}, {"subprotocols": ("x",)}, {"replies": ("2 -> 3",)}):
            with pytest.raises(Unprocessable, match="WebSocket"):
                await service.add(URL, **wish)
        with pytest.raises(Unprocessable, match="hours"):
            await service.add(URL, hours="weekdays 08-18 UTC")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(3)
        assert read_rows(service.registry.table.describe(source).hot.trail)[-1].status == 200


@pytest.mark.parametrize("seed", range(9))
async def test_no_cut_loses_or_repeats_an_event(autojump_clock: object, seed: int) -> None:
    await cuts(seed, 20)


async def test_500_cuts_lose_and_repeat_no_event(autojump_clock: object) -> None:
    made, seed = 0, 100
    while made < 500:
        made, seed = made + await cuts(seed, 20), seed + 1


async def cuts(seed: int, number: int) -> int:
    """Break a stream at random places within its events, and stop and kill the service. Return the broken connections.

    A server numbers its events and resumes, or repeats them all. Nothing may be lost or come twice.
    """
    chance = random.Random(seed)
    disk = Disk()
    log = (Log(wikimedia, offset_of), Log(numbered, number_of), Replayed(line))[seed % 3]
    is_added = False
    for _ in range(number):
        async with watching(disk=disk) as (service, _):
            log.join(service)
            if not is_added:
                await service.add(URL, filter="tide")
                is_added = True
                await trio.sleep(3)
                await log.add(1)  # a server can only resume after a known id
            await trio.sleep(12)
            disk.full = chance.random() < 0.2
            await log.add(chance.randrange(1, 12), chance)
            await trio.sleep(chance.choice((0, 0.005, 0.5, 5)))
            disk.full = chance.random() < 0.5  # like a kill: nothing is written at the end
        disk.full = False
    async with watching(disk=disk) as (service, _):
        log.join(service)
        await trio.sleep(400)
        titles = [json.loads(event.body)["title"] for event in disk.events() if b'"alert_type"' not in event.body]
        assert len(titles) == len(set(titles))
        assert sorted(set(range(log.count)) - {int(title.split()[1]) for title in titles}) == []
    return log.cuts
