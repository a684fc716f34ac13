"""The front end over TLS: the same answers and streams, and renewal without a dropped connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from trio.testing import lockstep_stream_pair

from api.server import server
from api.server import server as connection
from sanderling.listeners import CertificateFiles
from tests.api.house import House, make_house, running
from tests.api.listening import Listening
from tests.support.build import a_draft
from tests.support.certificates import NAME, make_certificate, needs_openssl, trusting

pytestmark = needs_openssl

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return make_certificate(tmp_path)


@asynccontextmanager
async def secured(pair: tuple[Path, Path], **settings: object) -> AsyncIterator[House]:
    house = make_house(**settings)  # type: ignore[arg-type]
    world = replace(house.context.world, certificate=CertificateFiles(*pair))
    house.context = replace(house.context, world=world)
    async with running(house):
        yield house


async def connect(house: House, pair: tuple[Path, Path]) -> trio.SSLStream[trio.abc.Stream]:
    stream = trio.SSLStream(
        await house.listener.connect(),
        trusting(pair[0], alpn=("http/1.1",)),
        server_hostname=NAME,
        https_compatible=True,
    )
    await stream.do_handshake()
    return stream


async def is_well(stream: trio.abc.Stream) -> bool:
    await stream.send_all(GET)
    got = b""
    while b'"ok"' not in got:
        got += await stream.receive_some()
    return got.startswith(b"HTTP/1.1 200 ")


async def test_requests_and_streams_pass(pair: tuple[Path, Path], autojump_clock: object) -> None:
    async with secured(pair) as house:
        stream = await connect(house, pair)
        assert await is_well(stream)
        reader = Listening(stream)
        await reader.ask("/v1/stream", Authorization=f"Bearer {await house.key()}")
        for title in ("one", "two"):
            await house.publish(a_draft(title, content="x" * 60_000))
            assert await reader.titles(1) == [title]
        await trio.aclose_forcefully(stream)
        await trio.testing.wait_all_tasks_blocked()
        assert house.storage.tail.statistics().waiting == 0


async def test_a_renewed_certificate_is_for_new_connections_and_drops_none(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    async with secured(pair) as house:
        first = await connect(house, pair)
        reader = Listening(first)
        await reader.ask("/v1/stream", Authorization=f"Bearer {await house.key()}")
        (pair[0].parent / "new").mkdir()
        for new, old in zip(make_certificate(pair[0].parent / "new", "renewed"), pair, strict=True):
            new.replace(old)
        await trio.sleep(server.RENEWAL_CHECK + 1)
        assert [fields["taken"] for event, fields in house.logs if event == "http.certificate"] == [True]
        second = await connect(house, pair)
        assert second.getpeercert()["subject"] == ((("commonName", "renewed"),),)
        await house.publish("after")
        assert await reader.titles(1) == ["after"]
        for stream in (first, second):
            await trio.aclose_forcefully(stream)


async def test_a_bad_certificate_renewal_is_logged_and_the_old_one_serves(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    async with secured(pair) as house:
        kept = pair[0].read_bytes()
        pair[0].write_text("nonsense")
        await trio.sleep(3 * server.RENEWAL_CHECK)
        (line,) = [fields for event, fields in house.logs if event == "http.certificate"]
        assert line["level"] == "error" and "stays in use" in line["says"]
        pair[0].write_bytes(kept)
        stream = await connect(house, pair)
        await trio.aclose_forcefully(stream)


async def test_x21_a_missing_handshake_is_disconnected_and_affects_no_other(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    async with secured(pair) as house:
        silent = [await house.listener.connect() for _ in range(50)]
        plain = await house.raw(GET)
        assert b"HTTP/1.1 " not in b"".join([bytes(piece) async for piece in plain]), "plain HTTP gets no answer"
        stream = await connect(house, pair)
        assert await is_well(stream)
        began = trio.current_time()
        for one in silent:
            assert await one.receive_some() == b""
        assert trio.current_time() - began <= connection.HEAD_TIMEOUT
        await trio.aclose_forcefully(stream)
        assert not [fields for event, fields in house.logs if event == "http.fault"]


async def test_a_client_that_does_not_read_its_last_frame_does_not_delay_a_stop(
    pair: tuple[Path, Path], autojump_clock: object
) -> None:
    """TLS sends a close alert first; a peer that reads nothing must not delay the stop."""
    house = make_house(lockstep_stream_pair, drain=3, send_timeout=300)
    house.context = replace(house.context, world=replace(house.context.world, certificate=CertificateFiles(*pair)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.serve, house.context, house.child)
        await house.child.is_ready.wait()
        stalled = [await connect(house, pair) for _ in range(3)]
        began = trio.current_time()
        house.child.stopping.set()
        await trio.testing.wait_all_tasks_blocked()
    assert trio.current_time() - began <= 4
    for stream in stalled:
        await trio.aclose_forcefully(stream)
