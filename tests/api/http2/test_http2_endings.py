"""How streams and connections of HTTP/2 end: shut windows, stops, silence, floods, and peers that go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from h2.settings import SettingCodes
from trio.testing import lockstep_stream_pair, wait_all_tasks_blocked

from api import server
from api.connection import HEAD_TIMEOUT
from api.frames import ALLOWED, Code, Frame, Kind
from tests.api.house import BASE_URL, House, make_house, running
from tests.api.http2.asking import JSON, bearer, faults, handlers, has, open_stream, problem_in, tasks
from tests.api.http2.peer import Http2Peer, connected, secured, securing
from tests.support.build import a_draft
from tests.support.certificates import make_certificate, needs_openssl

pytestmark = needs_openssl


async def test_f5_a_window_that_stays_shut_ends_its_stream_and_delays_no_other(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    """Ten streams whose windows are never opened; one that is read gets each event at once, over one connection."""
    shut = {SettingCodes.INITIAL_WINDOW_SIZE: 300}
    async with secured(pair) as house, connected(house, pair, frozen=True, settings=shut) as peer:
        stalled = [await open_stream(house, peer) for _ in range(10)]
        reader = await open_stream(house, peer)
        peer.h2.increment_flow_control_window(1 << 20)
        peer.h2.increment_flow_control_window(1 << 20, reader)
        await peer.flush()
        for number in range(3):
            began = trio.current_time()
            await house.publish(a_draft(f"event{number}", content="x" * 60_000))
            await has(peer, f"event{number}", reader)
            assert trio.current_time() - began < 0.1
            with trio.move_on_after(5):
                await peer.until(lambda: False)
        assert handlers() == 11
        with trio.move_on_after(20):
            await peer.until(lambda: False)
        assert handlers() == 1 and {peer.answers[number].reset for number in stalled} == {Code.CANCEL}
        await house.publish("after")
        await has(peer, "after", reader)
        assert not peer.answers[reader].over and not faults(house)


async def test_f5_an_answer_that_no_window_lets_pass_is_not_waited_for_without_end(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    shut = {SettingCodes.INITIAL_WINDOW_SIZE: 0}
    async with secured(pair) as house, connected(house, pair, settings=shut) as peer:
        numbers = [await peer.ask("/openapi.json") for _ in range(20)]
        began = trio.current_time()
        assert [(await peer.answer(number)).reset for number in numbers] == [Code.CANCEL] * 20
        assert trio.current_time() - began == pytest.approx(30, abs=0.5)
        assert handlers() == 0 and not faults(house)


async def test_f5_a_peer_that_takes_nothing_off_the_wire_is_cut(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    async with secured(pair) as house:
        house.listener.pair = lockstep_stream_pair
        async with connected(house, pair) as peer:
            for _ in range(5):
                await peer.ask("/openapi.json")
            await trio.sleep(35)
            assert handlers() == 0 and tasks("House._live") == 0


async def test_an_export_comes_whole_over_windows_that_open_late(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    async with secured(pair) as house, connected(house, pair, frozen=True) as peer:
        for number in range(30):
            await house.publish(a_draft(f"event{number}", content="x" * 20_000))
        number = await peer.ask("/v1/events/export?format=ndjson", await bearer(house))
        got = -1
        while not peer.answers[number].over:
            with trio.move_on_after(1):
                await peer.until(lambda: peer.answers[number].over)
            assert len(peer.answers[number].body) > got
            got = len(peer.answers[number].body)
            if not peer.answers[number].over:
                peer.h2.increment_flow_control_window(50_000)
                peer.h2.increment_flow_control_window(50_000, number)
                await peer.flush()
        answer = peer.answers[number]
        assert answer.ended and answer.body.count(b"\n") == 30


async def test_a_stop_says_goodbye_ends_streams_with_their_farewell_and_lets_requests_finish(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    async with secured(pair) as house, connected(house, pair) as peer:
        house.registry.silent.add("https://slow.test/")
        stream = await open_stream(house, peer)
        slow = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
        await peer.data(slow, b'{"url": "https://slow.test/"}', ended=True)
        await wait_all_tasks_blocked()
        house.child.stopping.set()
        assert (await peer.answer(stream)).ended and b"retry: " in peer.answers[stream].body.split(b"\n\n")[-2]
        await peer.until(lambda: peer.goaway is not None)
        assert peer.goaway == (slow, Code.NO_ERROR)
        late = await peer.ask("/healthz")
        assert (await peer.answer(late)).reset == Code.REFUSED_STREAM, "which may be asked again elsewhere"
        (message,) = house.registry.seen
        message.reply.answer(house.registry._add(message))
        assert (await peer.answer(slow)).status == 201
        began = trio.current_time()
        await peer.wait_closed()
        assert trio.current_time() - began < 1


async def test_a_stop_waits_no_longer_than_the_drain(pair: tuple[Path, Path], autojump_clock: object) -> None:
    house = securing(make_house(drain=3, send_timeout=300), pair)
    shut = {SettingCodes.INITIAL_WINDOW_SIZE: 0}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.registry.run)
        nursery.start_soon(_serve_and_stop, house, nursery)
        await house.child.is_ready.wait()
        async with connected(house, pair, settings=shut) as peer:
            await peer.ask("/openapi.json")
            await trio.sleep(1)
            began = trio.current_time()
            house.child.stopping.set()
            await peer.wait_closed()
            assert trio.current_time() - began == pytest.approx(3, abs=0.2)


async def _serve_and_stop(house: House, nursery: trio.Nursery) -> None:
    await server.serve(house.doors, house.child)  # type: ignore[arg-type]
    nursery.cancel_scope.cancel()


async def test_an_idle_connection_is_closed_in_order_whatever_it_pings(
    house: House, peer: Http2Peer, autojump_clock: object
) -> None:
    await trio.sleep(5)
    await peer.get("/healthz")
    began = trio.current_time()

    async def ping() -> None:
        for _ in range(20):
            peer.h2.ping(b"12345678")
            await peer.flush()
            await trio.sleep(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ping)
        await peer.wait_closed()
        nursery.cancel_scope.cancel()
    assert trio.current_time() - began == pytest.approx(HEAD_TIMEOUT, abs=1.1)
    assert peer.goaway == (1, Code.NO_ERROR) and len(peer.pongs) >= 9


async def test_a_connection_with_a_live_stream_is_not_idle(
    house: House, peer: Http2Peer, autojump_clock: object
) -> None:
    number = await open_stream(house, peer)
    with trio.move_on_after(60):
        await peer.until(lambda: False)
    assert not peer.closed and peer.answers[number].body.count(b": keepalive") >= 3


@pytest.mark.parametrize("beside", [True, False])
async def test_x21_a_head_that_trickles_in_ends_the_connection_after_ten_seconds(
    house: House, peer: Http2Peer, beside: bool, autojump_clock: object
) -> None:
    await (open_stream(house, peer) if beside else peer.get("/healthz"))
    await peer.send_frames(Frame(Kind.HEADERS, 1, 99, b"\x82"))
    began = trio.current_time()
    await peer.wait_closed()
    assert trio.current_time() - began == pytest.approx(HEAD_TIMEOUT, abs=0.1)
    assert peer.goaway is not None and peer.goaway[1] == Code.ENHANCE_YOUR_CALM and handlers() == 0


@pytest.mark.parametrize(
    "frame",
    [
        Frame(Kind.PING, 0, 0, b"12345678"),
        Frame(Kind.SETTINGS, 0, 0, b""),
        Frame(Kind.PRIORITY, 0, 3, b"\0\0\0\0\0"),
        Frame(Kind.RST_STREAM, 0, 1, b"\0\0\0\x08"),
        Frame(Kind.WINDOW_UPDATE, 0, 0, b"\0\0\0\1"),
        Frame(Kind.DATA, 0, 1, b""),
        Frame(200, 0, 0, b""),
    ],
    ids=lambda frame: str(frame.kind),
)
async def test_x21_a_flood_ends_its_connection_and_no_other(
    house: House, pair: tuple[Path, Path], peer: Http2Peer, frame: Frame, autojump_clock: object
) -> None:
    async with connected(house, pair) as hostile:
        await hostile.ask("/v1/stream", await bearer(house), method="POST", ended=False)
        await hostile.send_frames(*[frame] * (1 + max(limit.burst for limit in ALLOWED.values())))
        await hostile.wait_closed()
        assert hostile.goaway is not None and hostile.goaway[1] == Code.ENHANCE_YOUR_CALM
        await wait_all_tasks_blocked()
        assert handlers() == 0
    assert (await peer.get("/healthz")).status == 200 and not faults(house)


async def test_a_peer_that_goes_leaves_no_handler_behind(house: House, pair: tuple[Path, Path]) -> None:
    house.registry.silent.add("https://slow.test/")
    async with connected(house, pair) as peer:
        for _ in range(20):
            await open_stream(house, peer)
            slow = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
            await peer.data(slow, b'{"url": "https://slow.test/"}', ended=True)
            await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
        await wait_all_tasks_blocked()
        assert handlers() == 60
    await wait_all_tasks_blocked()
    assert handlers() == 0 and tasks("House._live") == 0
    assert house.storage.tail.statistics().waiting == 0 and not faults(house)


async def test_requests_on_one_connection_take_places_too(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(server, "BESIDE_STREAMS", 2)
    async with secured(pair, max_streams=1) as house, connected(house, pair) as peer:
        first = await open_stream(house, peer)
        second = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
        full = await peer.get("/healthz")
        assert full.status == 503 and full.headers["retry-after"] == "10" and problem_in(full)
        peer.h2.reset_stream(second)
        await peer.flush()
        await wait_all_tasks_blocked()
        assert (await peer.get("/healthz")).status == 200
        assert not peer.answers[first].over


async def test_a_bin_takes_what_is_sent_to_it(house: House, peer: Http2Peer) -> None:
    made = await peer.get("/v1/webhook-bins", await bearer(house), method="POST")
    address = json.loads(made.body)["url"].removeprefix(BASE_URL)
    number = await peer.ask(address, method="PUT", ended=False)
    for _ in range(20):
        await peer.until(lambda: peer.h2.local_flow_control_window(number) >= 16_000)
        await peer.data(number, b"x" * 16_000)
    await peer.data(number, b"", ended=True)
    answer = await peer.answer(number)
    assert (answer.status, answer.body) == (200, b"ok\n") and "connection" not in answer.headers


async def test_plain_connections_and_upgrades_stay_with_http_1(autojump_clock: object) -> None:
    """h2c is off, by prior knowledge and by upgrade."""
    async with running(make_house()) as house:
        stream = await house.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(Kind.SETTINGS, 0, 0, b"").encode())
        assert b"".join([bytes(piece) async for piece in stream]).startswith(b"HTTP/1.1 400 ")
        upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
        stream = await house.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + upgrade + b"\r\n")
        assert (await stream.receive_some(1_000)).startswith(b"HTTP/1.1 200 ")
        await trio.aclose_forcefully(stream)


async def test_a_renewed_certificate_drops_no_stream(tmp_path: Path, autojump_clock: object) -> None:
    pair = make_certificate(tmp_path)
    async with secured(pair) as house, connected(house, pair) as peer:
        number = await open_stream(house, peer)
        (tmp_path / "new").mkdir()
        for new, old in zip(make_certificate(tmp_path / "new", "renewed"), pair, strict=True):
            new.replace(old)
        with trio.move_on_after(server.RENEWAL_CHECK + 1):
            await peer.until(lambda: False)
        assert [fields["taken"] for event, fields in house.logs if event == "http.certificate"] == [True]
        async with connected(house, pair) as newer:
            assert (await newer.get("/healthz")).status == 200
        await house.publish("after")
        await has(peer, "after", number)
