"""Parked streams: on a real socket a silent stream has no task, and keeps every promise of a stream.

Both ends of a socket pair are in this process, so data arrive at once and the clock may be virtual.
"""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import AsyncIterator, Sequence

import h11
import pytest
import trio
import trio.testing

from api.server.http1 import LiveStream
from api.streams.reader import Reader
from storage.records.event import Stored
from tests.actors.matcher.rig import an_alert
from tests.api.house import House, ids, make_house, running
from tests.api.listening import Listening, listening
from tests.support.build import a_draft

KEEPALIVE = 15.0


def sockets() -> tuple[trio.abc.Stream, trio.abc.Stream]:
    ours, theirs = (trio.SocketStream(trio.socket.from_stdlib_socket(end)) for end in socket.socketpair())
    return ours, theirs


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house(sockets, keepalive=KEEPALIVE, send_timeout=30, key_streams=4)) as house:
        yield house


def tasks() -> int:
    """Count the tasks of connections and streams."""
    todo, count = [trio.lowlevel.current_root_task()], 0
    while todo:
        task = todo.pop()
        assert task is not None
        count += task.coro.cr_code.co_name in ("_live", "_run", "_handle")
        todo += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return count


async def quiet() -> None:
    await trio.testing.wait_all_tasks_blocked(0.01)


def places(house: House) -> tuple[int, float, int]:
    """Return how many streams the operator sees, the metrics count and the tail knows."""
    context = house.context
    return len(context.open_streams), context.world.metrics.streams.value, house.storage.tail.statistics().waiting


@contextlib.asynccontextmanager
async def parked(house: House, path: str = "/v1/stream", key: str = "", **headers: str) -> AsyncIterator[Listening]:
    """Open a stream for the block, and wait until it has no task."""
    async with listening(house, path, key, **headers) as client:
        assert client.status == 200
        if "ndjson" not in str(headers):
            assert await client.frame() == b"retry: 3000" and (await client.frame()).startswith(b": replay-from ")
        await quiet()
        assert tasks() == 0
        yield client


async def completes(client: Listening) -> bool:
    """Read to the end; return whether the body is complete."""
    with contextlib.suppress(h11.RemoteProtocolError):
        while await client.chunk():
            pass
    return client.ended


async def test_a_silent_stream_has_no_task_and_gets_each_event_in_order(house: House) -> None:
    async with parked(house) as client:
        assert places(house) == (1, 1, 1), "at the end of the log"
        for number in range(5):
            (event,) = await house.publish(str(number))
            assert (await client.frame()).endswith(b"\nid: " + ids([event])[0].encode())
            assert tasks() == 0, "what fits the socket needs no task"
        (one,) = house.context.open_streams.all()
        assert one.progress is not None and one.progress.cursor == event.seq and one.progress.sent > 5 * len(event.body)
    await quiet()
    assert places(house) == (0, 0, 0)


async def test_a_stream_without_chunks_and_one_of_lines_are_parked_too(house: House) -> None:
    key = (await house.key()).encode()
    old = await house.raw(b"GET /v1/stream HTTP/1.0\r\nHost: x\r\nX-API-Key: " + key + b"\r\n\r\n")
    async with parked(house, Accept="application/x-ndjson") as lines:
        (event,) = await house.publish("new")
        assert await lines.frame(b"\n") == event.body
    got = b""
    while not got.endswith(ids([event])[0].encode() + b"\n\n"):
        got += await old.receive_some(65536)
    assert b": replay-from" in got and b"chunked" not in got.lower()
    await trio.aclose_forcefully(old)


async def test_a_parked_stream_continues_at_the_end_of_its_replay(house: House) -> None:
    events = await house.publish(*map(str, range(700)))
    async with listening(house, f"/v1/stream?since={ids(events)[0]}") as client:
        assert await client.titles(699) == [str(number) for number in range(1, 700)]
        await quiet()
        assert tasks() == 0
        await house.publish("live")
        assert await client.titles(1) == ["live"]


async def test_words_are_matched_by_a_task_and_the_stream_is_parked_again(house: House) -> None:
    async with parked(house, "/v1/stream?keyword=rare") as client:
        for number in range(3):
            await house.publish("common", f"rare {number}")
            assert await client.titles(1) == [f"rare {number}"]
            await quiet()
            assert tasks() == 0


async def test_a_parked_stream_of_a_channel_follows_its_alerts(house: House) -> None:
    await house.storage.alerts.put(an_alert("a", "rare", channel="desk"))
    async with parked(house, "/v1/streams/desk") as client:
        await house.publish("common", "rare")
        assert await client.titles(1) == ["rare"]


async def test_nothing_is_lost_or_comes_twice_however_little_a_client_takes(house: House) -> None:
    """Streams fill their sockets, wake, catch up and park again."""
    woken = 0
    for seed in range(3):
        chance, told, got = random.Random(seed), list[str](), list[str]()
        async with parked(house) as client:
            socket_of(client).setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

            async def read(client: Listening = client, chance: random.Random = chance, got: list[str] = got) -> None:
                while event := await client.event():
                    got.append(event["id"])
                    if chance.random() < 0.3:
                        await trio.sleep(chance.choice((0.01, 0.3, 2)))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(read)
                for _ in range(30):
                    drafts = [
                        a_draft("x", content="y" * chance.choice((10, 40_000))) for _ in range(chance.choice((1, 7)))
                    ]
                    told += ids(await house.publish(*drafts))
                    woken += tasks()
                    await trio.sleep(chance.choice((0, 0, 0.01, 1, 20)))
                await trio.sleep(200)
                assert tasks() == 0
                nursery.cancel_scope.cancel()
        assert got == told
    assert woken > 10


def socket_of(client: Listening) -> trio.socket.SocketType:
    assert isinstance(client.stream, trio.SocketStream)
    return client.stream.socket


async def test_keepalives_come_in_time_and_carry_the_newest_id(house: House) -> None:
    key, times = await house.key(), list[float]()
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(parked(house, "/v1/stream?source_type=push", key)) for _ in range(4)]
        (newest,) = ids(await house.publish("for nobody here"))
        began = trio.current_time()
        for _ in range(3):
            for client in clients:
                assert await client.frame() == f": keepalive {newest}".encode()
            assert tasks() == 0
            times.append(trio.current_time() - began)
    assert 10 <= times[0] <= KEEPALIVE and times[2] <= 3 * KEEPALIVE


async def test_a_deleted_key_ends_its_parked_streams_within_a_second(house: House) -> None:
    key = await house.key()
    async with parked(house, key=key) as client, parked(house) as other:
        await trio.sleep(100)
        await house.revoke(key)
        began = trio.current_time()
        assert client.headers["connection"] == "close", "no other request would be read"
        assert await completes(client) and trio.current_time() - began <= 1
        await house.publish("new")
        assert await other.titles(1) == ["new"]
        assert places(house) == (1, 1, 1)


@pytest.mark.parametrize("half", [False, True])
async def test_a_peer_that_goes_frees_its_place_at_once(house: House, half: bool) -> None:
    """A half-closed connection has ended too, as it has in a connection with tasks."""
    key = await house.key()
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(parked(house, key=key)) for _ in range(4)]
        async with listening(house, key=key) as fifth:
            assert fifth.status == 429, "parked streams count"
        if half:
            socket_of(clients[0]).shutdown(socket.SHUT_WR)
        else:
            await trio.aclose_forcefully(clients[0].stream)
        await quiet()
        assert places(house) == (3, 3, 3)
        if half:
            assert not await completes(clients[0])
        async with parked(house, key=key):
            assert places(house) == (4, 4, 4)


async def test_a_request_behind_a_stream_does_not_hide_that_the_peer_goes(house: House) -> None:
    async with parked(house) as client:
        await client.stream.send_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        await quiet()
        assert places(house) == (1, 1, 1)
    await quiet()
    assert places(house) == (0, 0, 0)


async def test_f5_a_reader_that_takes_nothing_is_cut_at_the_deadline_and_delays_no_other(house: House) -> None:
    async with parked(house) as stalled, parked(house) as reader:
        for number in range(20):
            began = trio.current_time()
            await house.publish(a_draft(str(number), content="x" * 60_000))
            assert await reader.titles(1) == [str(number)] and trio.current_time() == began
        assert tasks() == 1, "it waits for the client"
        await trio.sleep(29)
        assert places(house)[:2] == (2, 2)
        await trio.sleep(2)
        assert places(house) == (1, 1, 1) and tasks() == 0
        assert not await completes(stalled), "cut"


async def test_a_stop_gives_parked_streams_their_last_words_and_does_not_wait(house: House) -> None:
    hints = set[bytes]()
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(parked(house)) for _ in range(3)]
        began = trio.current_time()
        house.child.stopping.set()
        for client in clients:
            hint = await client.frame()
            assert hint.startswith(b"retry: ") and hint.endswith(b"\n: ended: the service stops")
            assert await client.chunk() == b"" and client.ended
            hints.add(hint)
        assert trio.current_time() - began < 0.1 and places(house)[:2] == (0, 0)
    assert len(hints) == 3


async def test_a_service_that_is_cut_off_closes_parked_streams_incomplete(autojump_clock: object) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with running(make_house(sockets)) as house:
            client = await stack.enter_async_context(parked(house))
        assert not await completes(client)
        assert places(house)[:2] == (0, 0)


async def test_a_service_that_is_cut_off_closes_a_stream_that_just_got_a_task(autojump_clock: object) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with running(make_house(sockets)) as house:
            await stack.enter_async_context(parked(house))
            await stack.enter_async_context(parked(house))
            for one in house.context.open_streams.all():
                one.close.__self__._wake()  # type: ignore[attr-defined]  # a bound method
        assert places(house) == (0, 0, 0)


async def test_the_operator_closes_a_parked_stream(house: House) -> None:
    async with parked(house) as client:
        (one,) = house.context.open_streams.all()
        one.close()
        one.close()
        assert await client.chunk() == b"" and client.ended
        assert places(house) == (0, 0, 0)


async def test_a_stream_that_is_closed_just_as_it_gets_a_task_ends_once(house: House) -> None:
    async with parked(house) as client:
        (one,) = house.context.open_streams.all()
        stream: LiveStream = one.close.__self__  # type: ignore[attr-defined]  # a bound method
        stream._wake()
        one.close()
        assert await completes(client)
        await quiet()
        assert places(house) == (0, 0, 0) and "http.fault" not in dict(house.logs)


async def test_a_fault_in_one_stream_ends_it_and_no_other(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    takes, faulty = Reader.take_nowait, list[Reader]()

    def take_nowait(self: Reader) -> bytes | None:
        if not faulty:
            faulty.append(self)
        if self is faulty[0]:
            raise ValueError("a bug")
        return takes(self)

    async with parked(house) as first, parked(house) as second:
        monkeypatch.setattr(Reader, "take_nowait", take_nowait)
        await house.publish("new")
        got: Sequence[bytes] = [await first.frame(), await second.frame()]
        assert sorted(frame[:6] for frame in got) == [b"", b"event:"]
    (fault,) = [fields for event, fields in house.logs if event == "http.fault"]
    assert "a bug" in fault["error"]


async def test_a_stream_that_ends_while_an_event_is_shown_gets_it_no_more(house: House) -> None:
    """Publishing to many parked streams pauses between groups, and some may end during a pause."""
    tail, told = house.storage.tail, list[str]()

    class Parked:
        def __init__(self, name: str) -> None:
            self.name = name

        def published(self) -> None:
            told.append(self.name)
            for other in readers:
                tail.unpark(other)

    readers = [Parked("first"), Parked("second")]
    for reader in readers:
        tail.park(reader)
    event: Stored
    (event,) = await house.publish("new")
    assert told == ["first"] and tail.head == event.seq
