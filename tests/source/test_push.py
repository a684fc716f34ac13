from __future__ import annotations

import json

import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from actors.errors import Unprocessable
from storage.memory import Disk
from storage.records.alert import Alert
from tests.source.harness import Watching, watching
from tests.support.build import NOW

URL = "ws://push.example/live"
ADDRESS = "93.184.216.77"


class Pusher:
    """A WebSocket server that sends what a test hands it, to whoever is connected."""

    def __init__(self) -> None:
        self.connections: list[WebSocketConnection] = []
        self.accepted: list[float] = []
        self.refuse: int | None = None

    async def serve(self, stream: trio.abc.Stream) -> None:
        async with trio.open_nursery() as nursery:
            request = await wrap_server_stream(nursery, stream)  # type: ignore[arg-type]  # any stream will do
            if self.refuse is not None:
                await request.reject(self.refuse)
                return
            connection = await request.accept()
            self.accepted.append(trio.current_time())
            self.connections.append(connection)
            try:
                while True:
                    await connection.get_message()
            except ConnectionClosed:
                self.connections.remove(connection)
            nursery.cancel_scope.cancel()

    async def send(self, *frames: object) -> None:
        for frame in frames:
            await self.connections[-1].send_message(frame if isinstance(frame, str) else json.dumps(frame))
        await trio.sleep(2)

    async def hang_up(self) -> None:
        # The library's close waits for its reader, which our own server has ended by then.
        with trio.move_on_after(1):
            await self.connections[-1].aclose(1011, "no")
        await trio.sleep(1)

    def join(self, service: Watching) -> None:
        service.network.add("push.example", ADDRESS, self.serve)


async def test_frames_that_pass_the_sources_own_filter_become_events(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        view = (await service.add(URL, filter="price OR pris", tags=("label:p",))).view
        assert (view.source.type, view.source.detection.type) == ("push", "push")
        await trio.sleep(2)
        await pusher.send({"title": "Price cut", "text": "now 9", "url": "https://a.example/1"}, "weather is fine")
        (event,) = await service.events()
        assert (event["source_type"], event["title"], event["content"]) == ("push", "Price cut", "now 9")
        assert event["url"] == "https://a.example/1"
        assert event["tags"] == ["label:p", "change:new"]
        assert service.registry.table.describe(view.source.id).hot.looks == 2


async def test_without_filter_or_alert_frames_are_counted_and_not_kept(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL)).view.source.id
        await trio.sleep(2)
        await pusher.send("one", "two")
        assert await service.events() == []
        assert service.registry.table.describe(source).hot.looks == 2


async def test_frames_that_match_an_alert_become_events(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL)).view.source.id
        other = Alert("a2", "elsewhere", "weather", "en", ("nobody",), NOW, NOW)
        await service.storage.alerts.put(Alert("a1", "storms", "storm", "en", (source,), NOW, NOW))
        await service.storage.alerts.put(other)
        await trio.sleep(6)
        await pusher.send("Storms are coming", "the weather is fine")
        assert [event["content"] for event in await service.events()] == ["Storms are coming"]


async def test_an_empty_filter_admits_every_frame_once(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add(URL, filter="")
        await trio.sleep(2)
        await pusher.send("one", "two", "one")
        await pusher.send("two", "three")
        assert [event["content"] for event in await service.events()] == ["one", "two", "three"]


async def test_a_link_that_ends_is_made_again_and_what_it_repeats_is_not(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add(URL, filter="")
        await trio.sleep(2)
        await pusher.send("one")
        await pusher.hang_up()
        await trio.sleep(30)
        await pusher.send("one", "two")
        assert [event["content"] for event in await service.events()] == ["one", "two"]
    async with watching(disk=disk) as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await trio.sleep(30)
        await pusher.send("two", "three")
        assert [event["content"] for event in await service.events()] == ["one", "two", "three"]


async def test_b5_a_server_that_accepts_and_drops_is_not_hammered(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add(URL)
        pusher.accepted.clear()

        async def drop() -> None:
            while True:
                await trio.sleep(0.5)
                while pusher.connections:
                    await pusher.hang_up()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(drop)
            await trio.sleep(3600)
            nursery.cancel_scope.cancel()
        assert 5 <= len(pusher.accepted) <= 80
        late = [b - a for a, b in zip(pusher.accepted, pusher.accepted[1:], strict=False) if b > 1800]
        assert max(late) <= 301 + 60


async def test_a_server_that_refuses_the_handshake_is_not_added(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.refuse = 403
        pusher.join(service)
        with pytest.raises(Unprocessable, match="403"):
            await service.add(URL)


async def test_a_source_whose_server_is_gone_says_so_and_recovers(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(2)
        del service.network.servers[ADDRESS, 80]
        await pusher.hang_up()
        await trio.sleep(6 * 3600)
        view = service.registry.table.describe(source)
        assert view.hot.health.score < 0.7
        assert view.hot.last_error
        service.network.servers[ADDRESS, 80] = pusher.serve
        await trio.sleep(420)
        await pusher.send("back")
        view = service.registry.table.describe(source)
        assert (view.hot.health.score, view.hot.breaker.state) == (1.0, "closed")
        assert len(await service.news()) == 1


async def test_frames_that_a_crashed_recorder_did_not_commit_are_sent_again(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add(URL, filter="")
        await trio.sleep(2)
        service.disk.full = True
        await pusher.send("one")
        service.disk.full = False
        await trio.sleep(20)
        assert [event["content"] for event in await service.events()] == ["one"]
