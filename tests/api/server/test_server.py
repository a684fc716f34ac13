"""Connections: limits, deadlines, faults and shutdown."""

from __future__ import annotations

import errno

import pytest
import trio
from trio.testing import lockstep_stream_pair, memory_stream_pair

from api.server import server
from api.server import server as connection
from api.server.http1 import Exchange
from api.server.server import front
from api.server.wire import Wire
from tests.api.house import House, make_house, running
from tests.api.listening import Listening, listening
from tests.support.build import a_draft

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


async def read_all(stream: trio.abc.Stream) -> bytes:
    return b"".join([bytes(piece) async for piece in stream])


async def answers(stream: trio.abc.Stream, count: int = 1) -> bytes:
    got = b""
    while got.count(b'"ok"') < count:
        got += await stream.receive_some(4096)
    return got


async def test_a_connection_serves_one_request_after_another(house: House) -> None:
    stream = await house.raw(GET + GET)
    got = await answers(stream, 2)
    assert got.count(b"HTTP/1.1 200 ") == 2 and b"\r\ndate:" not in got.lower()
    await trio.aclose_forcefully(stream)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", b"431"),
        (b"GET /" + b"y" * 10_000, b"414"),
    ],
)
async def test_an_unparsable_request_gets_a_problem(house: House, raw: bytes, status: bytes) -> None:
    answer = await read_all(await house.raw(raw))
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"application/problem+json" in answer and b"x-request-id" in answer.lower()
    assert b'"type":"http://sanderling.test/problems/' in answer


async def test_x21_a_head_that_trickles_in_is_cut_after_ten_seconds(house: House, autojump_clock: object) -> None:
    stream = await house.raw(b"GET / HTTP/1.1\r\n")
    began = trio.current_time()

    async def trickle() -> None:
        try:
            while True:
                await stream.send_all(b"X: y\r\n")
                await trio.sleep(1)
        except trio.BrokenResourceError:
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trickle)
        answer = await read_all(stream)
    assert answer.startswith(b"HTTP/1.1 408 ") and b"/problems/request-timeout" in answer
    assert trio.current_time() - began <= connection.HEAD_TIMEOUT + 1


@pytest.mark.parametrize("path", ["/healthz", "/v1/status"])
async def test_an_idle_keep_alive_connection_is_closed(house: House, path: str, autojump_clock: object) -> None:
    """The end of a request cancels its handler, whose last send marks the connection as idle."""
    for _ in range(20):  # it depended on the order of two tasks
        stream = await house.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        began = trio.current_time()
        with trio.move_on_after(connection.IDLE_TIMEOUT + 1):
            await read_all(stream)
        assert connection.IDLE_TIMEOUT - 0.1 <= trio.current_time() - began <= connection.IDLE_TIMEOUT + 0.1


async def test_a_client_that_asks_once_a_minute_keeps_its_connection(house: House, autojump_clock: object) -> None:
    stream = await house.raw(GET)
    for _ in range(4):
        assert (await answers(stream)).startswith(b"HTTP/1.1 200 ")
        await trio.sleep(60)
        await stream.send_all(GET)


async def test_x21_the_head_of_a_later_request_that_trickles_in_is_cut(house: House, autojump_clock: object) -> None:
    stream = await house.raw(GET)
    await answers(stream)
    await trio.sleep(33)
    await stream.send_all(b"GET / HTTP/1.1\r\n")
    began = trio.current_time()
    with trio.fail_after(2 * connection.HEAD_TIMEOUT + 1):
        assert (await read_all(stream)).startswith(b"HTTP/1.1 408 ")
    assert trio.current_time() - began >= connection.HEAD_TIMEOUT


async def test_a_head_that_was_late_once_gives_the_next_one_its_full_time(house: House, autojump_clock: object) -> None:
    stream = await house.raw(GET)
    await answers(stream)
    await trio.sleep(connection.HEAD_TIMEOUT - 1)
    await stream.send_all(GET[:-2])
    await trio.sleep(2)
    await stream.send_all(GET[-2:])
    await answers(stream)
    await trio.sleep(1)
    await stream.send_all(GET[:-2])
    await trio.sleep(connection.HEAD_TIMEOUT - 1)
    await stream.send_all(GET[-2:])
    assert (await answers(stream)).startswith(b"HTTP/1.1 200 ")


async def test_a_short_answer_goes_out_in_one_piece(autojump_clock: object) -> None:
    async with running(make_house(lockstep_stream_pair)) as house:
        got = bytes(await (await house.raw(GET.replace(b"/healthz", b"/v1/status"))).receive_some(1 << 16))
        head, _, body = got.partition(b"\r\n\r\n")
        assert b"content-length: %d" % len(body) in head.lower() and body


async def test_a_connection_that_is_reset_before_its_request_is_no_fault(autojump_clock: object) -> None:
    class Reset:
        def getpeername(self) -> None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

        getsockname = getpeername

    def pair() -> tuple[trio.abc.Stream, trio.abc.Stream]:
        ours, theirs = memory_stream_pair()
        theirs.socket = Reset()  # type: ignore[attr-defined]
        return ours, theirs

    async with running(make_house()) as house:
        house.listener.pair = pair
        for _ in range(3):
            assert await read_all(await house.listener.connect()) == b""
        assert [event for event, _ in house.logs if event == "http.fault"] == []


async def test_a_stop_does_not_wait_for_keep_alive_connections(autojump_clock: object) -> None:
    house = make_house(drain=3)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.registry.run)
        nursery.start_soon(_serve_and_stop, house, nursery)
        await house.child.is_ready.wait()
        kept = [await house.raw(GET) for _ in range(20)]
        for stream in kept:
            await stream.receive_some(4096)
        await trio.sleep(1)
        began = trio.current_time()
        house.child.stopping.set()
    assert trio.current_time() - began <= 0.1


async def test_x21_hundreds_of_half_open_requests_leave_room_for_a_new_one(house: House) -> None:
    waiting = [await house.raw(b"GET / HTTP/1.1\r\n") for _ in range(500)]
    async with await house.client() as client:
        assert (await client.get("/v1/sources")).status_code == 200
    for stream in waiting:
        await trio.aclose_forcefully(stream)


async def test_x21_out_of_files_pauses_accepting_and_kills_nothing(house: House, autojump_clock: object) -> None:
    house.listener.errors += [OSError(errno.EMFILE, "Too many open files")] * 5
    async with await house.client() as client:
        await client.get("/v1/sources")  # uses up the pending accept
    began = trio.current_time()
    async with house.stranger() as client:
        assert (await client.get("/healthz")).status_code == 200
    assert trio.current_time() - began == pytest.approx(5 * server.PAUSE)
    assert len([event for event, _ in house.logs if event == "http.out_of_files"]) == 1, (
        "told, and not ten times a second"
    )


async def test_too_many_connections_are_turned_away_with_503(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(server, "BESIDE_STREAMS", 1)
    async with running(make_house(max_streams=1)) as house:
        first, second = await house.listener.connect(), await house.listener.connect()
        third = await read_all(await house.listener.connect())
        assert third.startswith(b"HTTP/1.1 503 ") and b"retry-after: 10" in third
        await trio.aclose_forcefully(first)
        await trio.sleep(1)
        stream = await house.raw(GET)
        assert (await stream.receive_some(100)).startswith(b"HTTP/1.1 200 ")
        await trio.aclose_forcefully(second)


async def test_f5_a_reader_that_takes_nothing_is_cut_and_delays_no_other(autojump_clock: object) -> None:
    """Ten clients never read: an eleventh gets each event at once, and the deadline ends the ten."""
    async with running(make_house(lockstep_stream_pair)) as house:
        stalled = []
        for _ in range(10):
            client = Listening(await house.listener.connect())
            await client.ask("/v1/stream", Authorization=f"Bearer {await house.key()}")
            stalled.append(client)
        house.listener.pair = memory_stream_pair
        async with listening(house) as reader:
            for number in range(3):
                began = trio.current_time()
                await house.publish(a_draft(str(number), content="x" * 60_000))
                assert await reader.titles(1) == [str(number)]
                assert trio.current_time() - began < 0.1
                await trio.sleep(5)
            assert connections() == 11
            await trio.sleep(20)
            assert connections() == 1
            await house.publish("after")
            assert await reader.titles(1) == ["after"]


def connections() -> int:
    """Count the connection tasks."""
    root = trio.lowlevel.current_root_task()
    todo, count = [root], 0
    while todo:
        task = todo.pop()
        assert task is not None
        count += task.coro.cr_code.co_name == "_live"
        todo += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return count


async def test_a_stop_ends_streams_lets_requests_finish_and_closes_the_door(autojump_clock: object) -> None:
    house = make_house()
    async with running(house), listening(house) as stream, await house.client() as client:
        house.registry.silent.add("https://slow.test/")
        answers = []

        async def slow() -> None:
            answers.append(await client.post("/v1/sources", json={"url": "https://slow.test/"}))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(slow)
            await trio.sleep(1)
            house.child.stopping.set()
            await trio.sleep(1)
            assert house.listener.closed
            while await stream.chunk():
                pass
            assert stream.ended
            (message,) = house.registry.seen
            message.reply.answer(house.registry._add(message))
        assert answers[0].status_code == 201


async def test_a_stop_waits_no_longer_than_the_drain_even_for_a_client_that_does_not_read(
    autojump_clock: object,
) -> None:
    """Hypercorn shields its sends; ours have a deadline that the stop shortens."""
    house = make_house(lockstep_stream_pair, drain=3, send_timeout=300)
    began = 0.0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.registry.run)
        nursery.start_soon(_serve_and_stop, house, nursery)
        await house.child.is_ready.wait()
        stalled = await house.raw(GET)
        await trio.sleep(1)
        began = trio.current_time()
        house.child.stopping.set()
    assert trio.current_time() - began == pytest.approx(3, abs=0.1)
    await trio.aclose_forcefully(stalled)


async def _serve_and_stop(house: House, nursery: trio.Nursery) -> None:
    await server.serve(house.context, house.child)  # type: ignore[arg-type]
    nursery.cancel_scope.cancel()


async def test_the_wire_cuts_a_send_that_is_cancelled_half_way() -> None:
    """Half a chunk cannot be taken back, so nothing may follow it."""
    ours, theirs = lockstep_stream_pair()
    wire = Wire(theirs, patience=30)
    ended = []
    wire.on_eof = lambda: ended.append(True)
    with trio.move_on_after(0.01):
        await wire.send_all(b"x" * 1000)
    assert wire.eof and ended
    with pytest.raises(trio.ClosedResourceError):
        await theirs.send_all(b"more")
    await trio.aclose_forcefully(ours)


async def test_a_client_that_leaves_frees_its_stream_at_once(house: House) -> None:
    async with listening(house):
        await trio.testing.wait_all_tasks_blocked()
        assert house.storage.tail.statistics().waiting == 1
    await trio.testing.wait_all_tasks_blocked()
    assert house.storage.tail.statistics().waiting == 0


def test_http_has_a_budget_above_the_drain_and_the_hub_comes_after_it() -> None:
    house = make_house(drain=7)
    spec, hub = front(house.context)
    assert hub.id == "hub", "it comes after HTTP, so that its crashes are its own"
    assert spec.id == "http" and spec.shutdown > 7 and spec.ready_within


async def test_an_http_1_0_client_gets_a_stream_without_chunks(house: House) -> None:
    key = (await house.key()).encode()
    stream = await house.raw(b"GET /v1/stream HTTP/1.0\r\nHost: x\r\nX-API-Key: " + key + b"\r\n\r\n")
    got = b""
    while b": replay-from" not in got:
        got += await stream.receive_some(4096)
    assert b"\r\n\r\nretry: 3000\n\n" in got and b"chunked" not in got.lower()
    await trio.aclose_forcefully(stream)


async def test_last_use_of_a_key_is_saved_once_a_minute(house: House, autojump_clock: object) -> None:
    async with await house.client() as client:
        await client.get("/v1/sources")
        (key,) = await house.storage.keys.all()
        assert key.last_used_at is None
        await trio.sleep(61)
        (key,) = await house.storage.keys.all()
        assert key.last_used_at is not None


def fields_of(answer: bytes) -> tuple[bytes, list[bytes]]:
    """Return the body, and the lines of the head without the request's id, in order."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = [line.lower() for line in head.split(b"\r\n")]
    return body, sorted(line for line in lines if not line.startswith(b"x-request-id: "))


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("trouble", ["", "It is being loaded."])
async def test_a_probe_is_answered_before_routing_as_it_would_be_behind_it(
    monkeypatch: pytest.MonkeyPatch, path: str, trouble: str
) -> None:
    async with running(make_house(base_url="https://sanderling.test")) as house:
        house.readiness["recorder"] = trouble
        ask = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        routed = await read_all(await house.raw(f"{ask}X-Request-Id: routed\r\n\r\n".encode()))
        monkeypatch.setattr(Exchange, "answer", None)  # no other request would get an answer
        at_once = await read_all(await house.raw(f"{ask}\r\n".encode()))
    assert b"routed" in routed
    assert fields_of(at_once) == fields_of(routed)
