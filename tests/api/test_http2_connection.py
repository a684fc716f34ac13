"""Connections of HTTP/2 over TLS: the promises of HTTP/1.1, for each single stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from h2.settings import SettingCodes
from trio.testing import lockstep_stream_pair, wait_all_tasks_blocked

from api import app, server
from api.connection import HEAD_TIMEOUT
from api.frames import ALLOWED, Code, Frame, Kind
from api.http1 import HEAD_LIMIT, LINE_LIMIT
from tests.api.house import BASE_URL, House, make_house, running
from tests.api.http2_peer import Answer, Http2Peer, connected, secured, securing
from tests.support.build import a_draft
from tests.support.certificates import make_certificate, needs_openssl

pytestmark = needs_openssl
JSON = ("content-type", "application/json")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
async def house(pair: tuple[Path, Path], autojump_clock: object) -> AsyncIterator[House]:
    async with secured(pair) as house:
        yield house


@pytest.fixture
async def peer(house: House, pair: tuple[Path, Path]) -> AsyncIterator[Http2Peer]:
    async with connected(house, pair) as peer:
        yield peer


async def bearer(house: House, *scopes: str) -> tuple[str, str]:
    return ("authorization", f"Bearer {await house.key(*scopes)}")


def problem_in(answer: Answer) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json" and answer.headers["x-request-id"]
    found: dict[str, Any] = json.loads(answer.body)
    return found


def tasks(name: str) -> int:
    """Count the tasks of a function."""
    todo, count = [trio.lowlevel.current_root_task()], 0
    while todo:
        task = todo.pop()
        assert task is not None
        count += task.coro.cr_code.co_qualname == name if hasattr(task.coro.cr_code, "co_qualname") else 0
        todo += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return count


def handlers() -> int:
    return tasks("Http2Connection._live")


async def open_stream(house: House, peer: Http2Peer, *more: tuple[str, str]) -> int:
    number = await peer.ask("/v1/stream", await bearer(house), *more)
    await peer.until(lambda: b"replay-from" in peer.answers[number].body)
    return number


async def has(peer: Http2Peer, title: str, *numbers: int) -> None:
    """Read until all these streams have had an event."""
    mark = f'"{title}"'.encode()
    await peer.until(lambda: all(mark in peer.answers[number].body for number in numbers))


async def test_answers_are_those_of_http_1(house: House, peer: Http2Peer) -> None:
    key = await bearer(house)
    async with running(make_house()) as plain, await plain.client() as client:
        for path in ("/v1/sources", "/v1/sources/none", "/nowhere", "/healthz", "/v1/events?limit=x", "/openapi.json"):
            one, two = await client.get(path), await peer.get(path, key)
            assert (two.status, two.body) == (one.status_code, one.content), path
            differ = ("connection", "date", "x-request-id", "transfer-encoding", ":status", "ratelimit-remaining")
            assert {name: value for name, value in two.headers.items() if name not in differ} == {
                name: value for name, value in one.headers.items() if name not in differ
            }


async def test_head_has_no_body_and_the_headers_of_get(house: House, peer: Http2Peer) -> None:
    key = await bearer(house)
    get, head = await peer.get("/v1/sources", key), await peer.get("/v1/sources", key, method="HEAD")
    assert head.ended and head.body == b"" and head.headers["content-length"] == get.headers["content-length"]
    assert head.headers["ratelimit-limit"] and head.headers["x-request-id"]


async def test_a_request_id_of_the_client_is_kept(house: House, peer: Http2Peer) -> None:
    assert (await peer.get("/healthz", ("x-request-id", "mine-1"))).headers["x-request-id"] == "mine-1"


async def test_x16_scopes_hold(house: House, peer: Http2Peer) -> None:
    assert (await peer.get("/v1/sources")).status == 401
    assert (await peer.get("/v1/sources", await bearer(house, "stream:read"))).status == 403
    assert (await peer.get(f"/v1/sources?api_key={await house.key()}")).status == 401
    assert (await peer.get("/v1/sources", await bearer(house))).status == 200


async def test_a_key_that_asks_too_often_is_told_on_its_stream(house: House, peer: Http2Peer) -> None:
    key = ("x-api-key", await house.key(rate=60, burst=2))
    answers = [await peer.get("/v1/sources", key) for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429] and answers[2].headers["retry-after"] == "1"


async def test_a_body_arrives_in_pieces(house: House, peer: Http2Peer, autojump_clock: object) -> None:
    number = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
    for piece in (b'{"url": ', b'"https://a.t', b'est/"}'):
        await peer.data(number, piece)
        await trio.sleep(1)
    await peer.data(number, b"", ended=True)
    assert (await peer.answer(number)).status == 201


async def test_many_requests_at_once_are_answered_each_on_its_stream(house: House, peer: Http2Peer) -> None:
    key = await bearer(house)
    numbers = [await peer.ask("/healthz" if number % 2 else "/v1/sources", key) for number in range(60)]
    bodies = [(await peer.answer(number)).body for number in numbers]
    assert bodies == [b"[]\n", b'{"status":"ok"}\n'] * 30


async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(house: House, peer: Http2Peer) -> None:
    expect = ("expect", "100-continue")
    number = await peer.ask("/v1/sources", await bearer(house), JSON, expect, method="POST", ended=False)
    await peer.until(lambda: bool(peer.answers[number].informed))
    await peer.data(number, b'{"url": "https://a.test/"}', ended=True)
    assert (await peer.answer(number)).status == 201 and peer.answers[number].informed == ["100"]


@pytest.mark.parametrize(
    ("path", "more", "status", "slug"),
    [
        ("/" + "y" * LINE_LIMIT, (), 414, "target-too-long"),
        ("/", (("x", "y" * HEAD_LIMIT),), 431, "headers-too-large"),
        ("/", (("x", "y" * 14_000), ("z", "y" * 14_000)), 431, "headers-too-large"),
        ("/", (("Capital", "y"),), 400, "invalid-request"),
        ("/", (("connection", "close"),), 400, "invalid-request"),
        ("/a b", (), 400, "invalid-request"),
    ],
)
async def test_what_never_becomes_a_request_is_a_problem_and_ends_its_stream_alone(
    house: House, peer: Http2Peer, path: str, more: tuple[tuple[str, str], ...], status: int, slug: str
) -> None:
    answer = await peer.get(path, *more)
    assert answer.status == status and answer.ended
    assert problem_in(answer)["type"].endswith(f"/{slug}") and problem_in(answer)["errors"][0]["location"]
    assert (await peer.get("/healthz")).status == 200, "the connection serves on"


@pytest.mark.parametrize(("length", "body"), [("5", b"four"), ("3", b"four")])
async def test_a_body_that_is_not_as_long_as_it_said_is_a_problem(
    house: House, peer: Http2Peer, length: str, body: bytes
) -> None:
    more = (await bearer(house), JSON, ("content-length", length))
    number = await peer.ask("/v1/sources", *more, method="POST", ended=False)
    await peer.data(number, body, ended=True)
    answer = await peer.answer(number)
    assert answer.status == 400 and problem_in(answer)["errors"][0]["location"] == "body"
    assert not house.registry.seen and (await peer.get("/healthz")).status == 200


async def test_trailers_are_a_problem(house: House, peer: Http2Peer) -> None:
    number = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
    await peer.data(number, b'{"url": "https://a.test/"}')
    peer.h2.send_headers(number, [("x", "y")], end_stream=True)
    await peer.flush()
    assert problem_in(await peer.answer(number))["errors"][0]["location"] == "body"
    assert not house.registry.seen


async def test_a_body_that_is_too_large_is_413_and_the_connection_serves_on(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    async with secured(pair, request_limit=40_000) as house, connected(house, pair) as peer:
        number = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
        for _ in range(4):
            await peer.data(number, b"x" * 15_000)
        answer = await peer.answer(number)
        assert answer.status == 413 and problem_in(answer)["type"].endswith("/body-too-large")
        await peer.until(lambda: answer.reset is not None)
        assert answer.reset == Code.NO_ERROR and (await peer.get("/healthz")).status == 200


async def test_x21_a_body_that_does_not_come_is_408(house: House, peer: Http2Peer, autojump_clock: object) -> None:
    began = trio.current_time()
    number = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
    await peer.data(number, b"{")
    answer = await peer.answer(number)
    assert answer.status == 408 and trio.current_time() - began == pytest.approx(app.BODY_TIMEOUT, abs=0.1)
    assert (await peer.get("/healthz")).status == 200


async def test_a_stream_that_the_client_resets_ends_its_handler_at_once(house: House, peer: Http2Peer) -> None:
    house.registry.silent.add("https://slow.test/")
    number = await peer.ask("/v1/sources", await bearer(house), JSON, method="POST", ended=False)
    await peer.data(number, b'{"url": "https://slow.test/"}', ended=True)
    await wait_all_tasks_blocked()
    assert handlers() == 1 and len(house.registry.seen) == 1
    peer.h2.reset_stream(number, Code.CANCEL)
    await peer.flush()
    await wait_all_tasks_blocked()
    assert handlers() == 0
    assert (await peer.get("/healthz")).status == 200 and not faults(house)


def faults(house: House) -> list[Any]:
    return [fields for event, fields in house.logs if event == "http.fault"]


async def test_a_browsers_tabs_each_have_a_live_stream(house: House, peer: Http2Peer) -> None:
    """Over HTTP/1.1 a browser opens six connections to a host, and a seventh tab waits."""
    numbers = [await open_stream(house, peer) for _ in range(12)]
    for title in ("one", "two"):
        await house.publish(a_draft(title, content="x" * 3_000))
        await has(peer, title, *numbers)
    assert (await peer.get("/healthz")).status == 200
    peer.h2.reset_stream(numbers[0])
    await peer.flush()
    await wait_all_tasks_blocked()
    assert house.storage.tail.statistics().waiting == 11, "its place is free"
    await house.publish("three")
    await has(peer, "three", *numbers[1:])
    assert b'"three"' not in peer.answers[numbers[0]].body


async def test_x15_a_deleted_keys_streams_end_within_a_second_and_others_stay(
    house: House, peer: Http2Peer, autojump_clock: object
) -> None:
    key = await house.key()
    mine = await peer.ask("/v1/stream", ("x-api-key", key))
    other = await open_stream(house, peer)
    began = trio.current_time()
    await house.revoke(key)
    assert (await peer.answer(mine)).ended and trio.current_time() - began <= 1
    assert not peer.answers[other].over and (await peer.get("/v1/sources", ("x-api-key", key))).status == 401


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
