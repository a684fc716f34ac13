from __future__ import annotations

import json

import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest, SourcePatch
from actors.messages.sources import DetectUrl, EditSource
from actors.sources.admission import Admission
from actors.sources.schedule import silence as pulse
from storage.records.alert import Alert
from storage.records.checks import Verdict, read_rows
from tests.actors.sources.harness import SITE, Watching, rss, watching
from tests.storage.contract.builders import a_source
from tests.support.build import NOW
from tests.support.in_loop import Disk

HOURLY = pulse.SilenceState(
    gaps=(24_567,) * 64, peaks=(), seen=300.0, above=75.0, watched=15 * 86_400.0, longest=3600.0
)
"""The memory of a source that sent something every hour for 15 days."""
URL = "ws://push.example/live"
ADDRESS = "93.184.216.77"


class Pusher:
    """A WebSocket server that sends messages from a test to its newest connection."""

    def __init__(self) -> None:
        self.connections: list[WebSocketConnection] = []
        self.accepted: list[float] = []
        self.refuse: int | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.heard: list[str | bytes] = []
        self.offered: list[tuple[str, ...]] = []
        self.opened_by: tuple[bytes, bytes] | None = None

    async def serve(self, stream: trio.abc.Stream) -> None:
        async with trio.open_nursery() as nursery:
            request = await wrap_server_stream(nursery, stream)  # type: ignore[arg-type]  # any stream will do
            if self.opened_by is not None and self.opened_by not in request.headers:
                await request.reject(401)
                return
            if self.refuse is not None:
                await request.reject(self.refuse, extra_headers=self.headers)
                return
            self.offered.append(request.proposed_subprotocols)
            connection = await request.accept(subprotocol=next(iter(request.proposed_subprotocols), None))
            self.accepted.append(trio.current_time())
            self.connections.append(connection)
            try:
                while True:
                    self.heard.append(await connection.get_message())
            except ConnectionClosed:
                self.connections.remove(connection)
            nursery.cancel_scope.cancel()

    async def send(self, *frames: object) -> None:
        for frame in frames:
            await self.connections[-1].send_message(frame if isinstance(frame, str) else json.dumps(frame))
        await trio.sleep(2)

    async def hang_up(self, code: int = 1011, reason: str = "no") -> None:
        # The library's close waits for its reader, which our own server has ended by then.
        with trio.move_on_after(1):
            await self.connections[-1].aclose(code, reason)
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


async def test_without_filter_or_alert_frames_are_counted_and_not_stored(autojump_clock: object) -> None:
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


async def test_a_lost_connection_is_reopened_and_repeated_frames_are_duplicates(autojump_clock: object) -> None:
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


async def test_a_source_without_its_server_reports_that_and_recovers(autojump_clock: object) -> None:
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


async def test_the_source_says_hello_at_each_connection_with_the_last_admitted_id(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        hello = '{"subscribe": "s3cret", "since": "{last_id}"}'
        view = (await service.add(URL, filter="", hello=hello, subprotocols=("feed.v2", "feed"))).view
        assert "chose the subprotocol feed.v2" in view.source.detection.evidence
        await trio.sleep(2)
        await pusher.send({"id": 'a"1', "text": "one"}, "no id")
        await pusher.hang_up(1001)
        await trio.sleep(30)
        assert pusher.heard == ['{"subscribe": "s3cret", "since": ""}', r'{"subscribe": "s3cret", "since": "a\"1"}']
        assert pusher.offered == [("feed.v2", "feed")] * 3
        push = service.registry.table.describe(view.source.id).push
        assert push is not None
        assert (push.subprotocol, push.connections) == ("feed.v2", 2)
        assert "s3cret" not in repr(service.logged) + repr(view)


async def test_a_hello_of_several_messages_waits_for_an_answer_to_each(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        hello = ('{"type": "connection_init"}', '{"type": "subscribe", "since": "{last_id}"}', "last")
        source = (await service.add(URL, filter="", hello=hello)).view.source
        assert source.hello == "\n---\n".join(hello)
        await trio.sleep(2)
        assert pusher.heard == ['{"type": "connection_init"}']
        await pusher.send({"type": "connection_ack"})
        assert pusher.heard[1:] == ['{"type": "subscribe", "since": ""}']
        await pusher.send({"id": "1", "text": "one"}, {"id": "2", "text": "two"})
        assert pusher.heard[2:] == ["last"]
        await pusher.hang_up(1001)
        await trio.sleep(30)
        assert pusher.heard[3:] == ['{"type": "connection_init"}']
        assert [event["content"] for event in await service.events()] == ["one", "two"]


async def test_pings_are_answered_by_the_sources_rules(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="", replies=('{"ping":*} -> {"pong":*}', "2 -> 3"))).view.source.id
        await trio.sleep(2)
        await pusher.send({"ping": 17}, "2", "tide")
        assert pusher.heard == ['{"pong":17}', "3"]
        assert [event["content"] for event in await service.events()] == ["tide"]
        view = await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(replies=()), reply))
        assert view.source.replies == ()
        with pytest.raises(Unprocessable, match="pattern -> text"):
            await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(replies=("* * -> x",)), reply))
        with pytest.raises(Unprocessable, match="line ---"):
            await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(hello=("a\n---",)), reply))


async def test_a_message_with_several_events_is_several_events(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="tide")).view.source.id
        await trio.sleep(2)
        await pusher.send([{"id": 1, "title": "High tide"}, {"id": 2, "title": "Fog"}, {"id": 3, "title": "Low tide"}])
        await pusher.send({"type": "ping"}, [{"id": 3, "title": "Low tide"}])
        assert await service.titles() == ["High tide", "Low tide"]
        push = service.registry.table.describe(source).push
        assert push is not None
        assert (push.frames, push.admitted, push.filtered, push.duplicates) == (4, 2, 1, 1)


async def test_unreadable_frames_lower_the_health_with_a_reason(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="")).view.source.id
        for _ in range(3):
            await trio.sleep(60)
            await pusher.connections[-1].send_message(b"\xff\x00\xfe")
        await trio.sleep(60)
        health = service.registry.table.describe(source).hot.health
        assert health.score < 1.0
        assert health.reason.endswith("could not be read: a binary frame is neither text nor compressed text")


async def test_only_a_push_source_has_a_hello(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        for wish in ({"hello": "x"}, {"subprotocols": ("x",)}):
            with pytest.raises(Unprocessable, match="only a push source"):
                await service.add(f"https://{SITE}/feed", **wish)
        source = (await service.add(f"https://{SITE}/feed")).view.source.id
        with pytest.raises(Unprocessable, match="only a push source"):
            await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(hello="x"), reply))


async def test_each_frame_is_counted_once_by_its_outcome(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="price")).view.source.id
        await trio.sleep(2)
        await pusher.send("price 1", "price 1", "weather", '{"id": ' + "9" * 5_000 + "}", "price 2")
        await pusher.connections[-1].send_message(b"\xff")
        await pusher.send("price 3")
        push = service.registry.table.describe(source).push
        assert push is not None
        assert (push.frames, push.admitted, push.duplicates, push.filtered, push.unreadable) == (7, 3, 1, 1, 2)


async def test_large_frames_are_read_in_a_worker_and_cut(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add(URL, filter="tide")
        await trio.sleep(2)
        calls = service.jail.calls
        await pusher.send({"title": "T", "text": "tide " * 20_000}, {"text": "nothing " * 1_000}, "small tide")
        assert service.jail.calls == calls + 2
        large, small = await service.events()
        assert (len(large["content"]), large["content_truncated"], small["content"]) == (1 << 16, True, "small tide")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"id": ' + "9" * 1_000_000 + "}"])
async def test_x23_a_hostile_frame_is_unreadable_and_nothing_else_happens(autojump_clock: object, text: str) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="tide")).view.source.id
        await trio.sleep(2)
        await pusher.send(text, "high tide")
        assert [event["content"] for event in await service.events()] == ["high tide"]
        push = service.registry.table.describe(source).push
        assert push is not None
        assert push.connections == 1


async def test_an_orderly_end_after_a_minute_is_no_failure_and_soon_mended(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL)).view.source.id
        for _ in range(10):
            await trio.sleep(90)
            await pusher.hang_up(1012)
        await trio.sleep(5)
        hot = service.registry.table.describe(source).hot
        assert len(pusher.connections) == 1
        assert (hot.breaker.failures, hot.health.score, hot.last_error) == (0, 1.0, None)
        assert {(row.status, row.verdict) for row in read_rows(hot.trail)} == {(101, Verdict.UNCHANGED)}


@pytest.mark.parametrize(
    ("code", "least", "blame"), [(1013, 60, Verdict.THROTTLED), (1008, 55, Verdict.REMOTE_PERMANENT)]
)
async def test_a_server_that_sends_us_away_is_left_alone(
    autojump_clock: object, code: int, least: float, blame: Verdict
) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL)).view.source.id
        await trio.sleep(2)
        before = len(pusher.accepted)
        await pusher.hang_up(code, "busy")
        left = trio.current_time()
        assert f"{code}: " in (service.registry.table.describe(source).hot.last_error or "")
        await trio.sleep(least - 6)
        assert len(pusher.accepted) == before
        await trio.sleep(120)
        assert pusher.accepted[before] - left >= least - 6
        rows = read_rows(service.registry.table.describe(source).hot.trail)
        assert [(row.status, row.verdict) for row in rows][:2] == [(101, Verdict.UNCHANGED), (None, blame)]


async def test_a_handshake_refused_with_429_rests_the_whole_host_as_long_as_it_says(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL)).view.source.id
        await trio.sleep(2)
        pusher.refuse, pusher.headers = 429, [(b"Retry-After", b"600")]
        await pusher.hang_up(1001)
        await trio.sleep(30)
        hot = service.registry.table.describe(source).hot
        assert (hot.last_status, hot.health.score) == (429, 1.0)
        assert service.ports.egress.hosts.resting("push.example") > 500
        pusher.refuse, before = None, len(pusher.accepted)
        await trio.sleep(500)
        assert len(pusher.accepted) == before
        await trio.sleep(300)
        assert len(pusher.accepted) == before + 1


async def test_a_source_that_falls_silent_while_connected_loses_score_with_any_filter(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL)).view.source.id
        live = service.registry.table.get(source)
        live.hot = replace(live.hot, pulse=pulse.encode(HOURLY))
        await trio.sleep(100)
        await pusher.send("nobody wants this")
        await trio.sleep(12 * 3600)
        health = service.registry.table.describe(source).hot.health
        assert health.score < 0.7
        assert health.reason.startswith("Silent for")
        assert [event["alert_type"] for event in await service.alerts()] == ["source_quiet"]
        await pusher.send("nor this")
        await trio.sleep(150)
        assert service.registry.table.describe(source).hot.health.score == 1.0
        assert len(read_rows(service.registry.table.describe(source).hot.trail)) == 1


async def test_admitted_frames_are_committed_at_a_stop(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add(URL, filter="")
        await trio.sleep(2)
        await pusher.connections[-1].send_message("at the last moment")
        await wait_all_tasks_blocked()
        assert await service.events() == []
    async with watching(disk=disk) as (service, _):
        assert [event["content"] for event in await service.events()] == ["at the last moment"]


async def test_an_edit_beside_an_unfinished_sweep_keeps_the_last_connection(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        source = (await service.add(URL, filter="")).view.source.id
        await trio.sleep(5)
        live = service.registry.table.get(source)
        connected_at = live.hot.last_look_at
        live.unsaved = False  # the sweep has taken this state, and storage still has the one before
        view = await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(title="Tide"), reply))
        assert view.hot.last_look_at == connected_at
        await trio.sleep(5)


async def test_frames_received_while_storage_fails_are_not_lost_at_a_stop(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source held one frame, and others waited behind it: the server would not send them again."""

    async def refresh(admission: Admission) -> None:
        await trio.sleep_forever()

    disk = Disk()
    async with watching(disk=disk) as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add(URL, filter="")
        await trio.sleep(2)
        with monkeypatch.context() as slow:
            slow.setattr(Admission, "refresh", refresh)
            await pusher.send("in hand", "behind it", "the last")
            assert await service.events() == []
            service.supervisor.stop()
            await trio.sleep(10)
    async with watching(disk=disk) as (service, _):
        await trio.sleep(1)
        assert [event["content"] for event in await service.events()] == ["in hand", "behind it", "the last"]


async def test_after_a_restart_nothing_that_was_admitted_comes_again(autojump_clock: object) -> None:
    disk = Disk()
    slow = [{"id": n, "text": "slow"} for n in range(20)]
    fast = [{"id": n, "text": "fast"} for n in range(4_000)]
    for life in range(2):
        async with watching(disk=disk) as (service, _):
            pusher = Pusher()
            pusher.join(service)
            if life == 0:
                await service.add(URL, filter="")
            await trio.sleep(30)
            for frame in fast:
                await pusher.connections[-1].send_message(json.dumps(frame))
            await trio.sleep(2)
            for frame in slow:
                await pusher.send(frame)
            assert len(disk.events()) == 4_020


async def test_each_handshake_sends_the_sources_headers_and_hello_and_shows_neither(
    autojump_clock: object,
) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, _):
        pusher = Pusher()
        pusher.join(service)
        pusher.opened_by = (b"authorization", b"Bearer s3cret")
        with pytest.raises(Unprocessable, match="answered 401"):
            await service.add(URL, hello="h3llo")
        headers = "Authorization: Bearer s3cret\nOrigin: https://push.example"
        seen = await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(URL, headers=headers), reply))
        assert seen.detection.type == "push"
        view = (await service.add(URL, hello="h3llo", headers=headers, filter="")).view
        await trio.sleep(2)
        await pusher.hang_up()
        await trio.sleep(120)
        assert len(pusher.accepted) == 4 and pusher.heard == ["h3llo"] * 2
        assert "s3cret" not in repr(service.logged) + repr(view) + repr(service.registry.table.describe(view.source.id))
    rows = disk.connection.execute("SELECT body, sealed FROM source").fetchall()
    assert len(rows) == 1 and b"s3cret" not in rows[0][0] + rows[0][1] and b"h3llo" not in rows[0][0] + rows[0][1]
    async with watching(disk=disk) as (service, _):
        pusher.join(service)
        await trio.sleep(60)
        assert len(pusher.accepted) == 5 and pusher.heard == ["h3llo"] * 3


async def test_a_socket_with_expired_headers_says_so_and_new_headers_open_it_at_once(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        pusher.opened_by = (b"x-key", b"old")
        source = (await service.add(URL, headers="X-Key: old", filter="")).view.source.id
        await trio.sleep(2)
        await pusher.send({"id": "1", "title": "one"})
        pusher.opened_by = (b"x-key", b"new")
        await pusher.hang_up()
        await trio.sleep(600)
        error = service.registry.table.describe(source).hot.last_error
        assert error is not None and "answered 401 Unauthorized: the source's headers no longer sign in" in error
        await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(headers="X-Key: new"), reply))
        await trio.sleep(10)
        await pusher.send({"id": "1", "title": "one"}, {"id": "2", "title": "two"})
        assert await service.news() == ["one", "two"], "what was told before is known"


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ("Sec-WebSocket-Key: x", "Sec-WebSocket-Key is set by the handshake itself"),
        ("Upgrade: h2c", "Upgrade is set by the handshake itself"),
        ("POST\nX: y\n\nbody", "write each as Name: value"),
    ],
)
async def test_a_header_that_a_handshake_can_not_send_is_refused(
    headers: str, says: str, autojump_clock: object
) -> None:
    async with watching() as (service, _):
        with pytest.raises(Unprocessable, match=says):
            await service.add(URL, headers=headers)


@pytest.mark.parametrize("hello", [None, "hi", "\0a\0b"])
@pytest.mark.parametrize("headers", [None, "X-Key: 1\nCookie: a=b"])
def test_both_secrets_of_a_socket_lie_in_one_box(hello: str | None, headers: str | None) -> None:
    source = a_source(1, type="push", hello=hello, headers=headers)
    assert source.secret is None or source.without_secret.with_secret(source.secret) == source
    assert (source.secret is None) == (hello is None and headers is None)
    assert source.secret == hello or (source.secret or "").startswith("\0")
