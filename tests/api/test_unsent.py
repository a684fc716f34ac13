"""Unread answers: their bytes are bounded, and other clients still get answers."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import lockstep_stream_pair

from api import unsent
from api.problems import Refusal
from api.streams import streams
from api.unsent import ALL, OF_ONE, SMALL, Asker, Unsent
from tests.api.house import House, ids, make_house, running
from tests.api.listening import Listening
from tests.support.build import a_draft

LONG = "x" * 60_000
MIB = 1 << 20
ONE, OTHER = Asker("key one", "192.0.2.1"), Asker("key two", "192.0.2.2")


@pytest.fixture
async def unread(autojump_clock: object) -> AsyncIterator[House]:
    """A house whose connections carry bytes only while the client reads."""
    async with running(make_house(lockstep_stream_pair)) as house:
        await house.publish(*[a_draft(str(number), content=LONG) for number in range(40)])
        yield house


async def ask(house: House, key: str, method: str = "GET", path: str = "/v1/events?limit=1000") -> trio.abc.Stream:
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    return await house.raw(head.encode())


async def read(stream: trio.abc.Stream) -> bytes:
    got = b""
    while data := await stream.receive_some(1 << 16):
        got += data
    return got


async def test_s3_forty_unread_pages_of_one_key_take_16_mib_and_the_others_are_503(unread: House) -> None:
    key = await unread.key("stream:read")
    tracemalloc.start()
    try:
        streams = [await ask(unread, key) for _ in range(40)]
        await trio.sleep(1)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < OF_ONE + 8 * MIB and most < 64 * MIB
    answers = [await read(stream) for stream in streams]
    good = [answer for answer in answers if answer.startswith(b"HTTP/1.1 200")]
    assert 12 <= len(good) <= 16
    for refused in (answer for answer in answers if answer not in good):
        head, _, body = refused.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503") and b"/unavailable" in body and b"answers that were not read" in body
        named = {line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:]}
        assert named >= {b"retry-after", b"x-request-id", b"ratelimit-limit"} and b"link" not in named
        assert b"content-length: %d" % len(body) in head.lower()
    assert (await read(await ask(unread, key))).startswith(b"HTTP/1.1 200")
    counted = unread.context.world.metrics.requests.values
    assert counted == {("2xx",): len(good) + 1, ("5xx",): len(answers) - len(good)}


async def test_s3_a_client_that_reads_nothing_blocks_no_page_and_no_health_check_of_others(
    unread: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsent, "OF_ONE", 4 * MIB)
    key, other = await unread.key("stream:read"), await unread.key("stream:read")
    silent = [await ask(unread, key) for _ in range(8)]
    await trio.sleep(1)
    assert (await read(await ask(unread, other))).startswith(b"HTTP/1.1 200")
    assert (await read(await ask(unread, other, path="/healthz"))).startswith(b"HTTP/1.1 200")
    assert [(await read(stream))[9:12] for stream in silent].count(b"200") == 4


async def test_s3_a_change_is_refused_before_it_is_made_and_never_after(
    unread: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsent, "OF_ONE", unsent.BESIDE)
    key = await unread.key()
    silent = await ask(unread, key, "POST", "/v1/webhook-bins")
    await trio.sleep(1)
    refused = await read(await ask(unread, key, "POST", "/v1/webhook-bins"))
    assert refused.startswith(b"HTTP/1.1 503")
    assert len(await unread.storage.bins.all()) == 1
    assert (await read(silent)).startswith(b"HTTP/1.1 201")


def test_s3_unsent_bytes_are_bounded_per_key_per_address_without_a_key_and_in_all() -> None:
    count = Unsent()
    count.take(ONE, OF_ONE // 2)
    for asker in (ONE._replace(address="192.0.2.9"), ONE._replace(key="key three")):
        with pytest.raises(Refusal, match="You have 16 MiB"):
            count.take(asker, OF_ONE // 2)
    count.free(ONE, OF_ONE // 2)
    for number in range(2):
        count.take(Asker("", f"192.0.2.{number}"), OF_ONE // 2 - SMALL)
    with pytest.raises(Refusal, match="without a key"):
        count.take(Asker("", "192.0.2.7"), OF_ONE // 2)
    for number in range(3, 6):
        count.take(Asker(f"key {number}", ""), OF_ONE // 2)
    with pytest.raises(Refusal, match="All clients"):
        count.take(OTHER, OF_ONE - SMALL)
    count.take(OTHER, SMALL)
    count.take(Asker("", "192.0.2.8"), SMALL)
    assert count.total <= ALL


def test_s3_a_client_that_has_read_everything_is_forgotten() -> None:
    count = Unsent()
    count.take(ONE, MIB)
    count.owe(OTHER, MIB)
    count.free(OTHER, MIB)
    count.free(ONE, MIB)
    assert count.total == 0 and "0 askers" in repr(count)


async def test_s3_an_unread_stream_drops_its_page_under_pressure_and_loses_nothing(
    unread: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_HELD", 0)
    events = await unread.publish(*[a_draft(f"more {number}", content=LONG) for number in range(60)])
    listening = Listening(await unread.listener.connect())
    await listening.ask("/v1/stream?since=earliest", Authorization=f"Bearer {await unread.key('stream:read')}")
    got = [(await listening.event())["id"] for _ in range(100)]
    assert len(set(got)) == 100 and got[40:] == ids(events) and got == sorted(got)
