"""Connections of HTTP/2 over TLS: the promises of HTTP/1.1, for each single stream."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from api import app
from api.frames import Code
from api.http1 import HEAD_LIMIT, LINE_LIMIT
from tests.api.house import House, make_house, running
from tests.api.http2.asking import JSON, bearer, faults, handlers, has, open_stream, problem_in
from tests.api.http2.peer import Http2Peer, connected, secured
from tests.support.build import a_draft
from tests.support.certificates import needs_openssl

pytestmark = needs_openssl


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
