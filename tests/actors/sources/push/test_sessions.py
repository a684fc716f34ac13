"""Sessions renewed with each WebSocket handshake: followed like those of pages."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest
from actors.messages.sources import DetectUrl
from storage.records.identity import SourceId
from storage.records.source import SourceRuntime
from tests.actors.sources.checks.test_access import OTHER, OTHER_ADDRESS, TEXT
from tests.actors.sources.harness import ADDRESS, SITE, Watching, page, watching
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest, web

URL = "wss://push.example/live"
PLACE = "93.184.216.77"
HEADERS = "Cookie: session=t0; theme=dark"


class Club:
    """A server that accepts only the newest session, and renews it with each answer.

    refusals: (status, headers) of the next answers, given without a look at the session.
    """

    def __init__(self) -> None:
        self.number, self.came, self.wrong = 0, list[str](), 0
        self.refusals: list[tuple[int, list[tuple[bytes, bytes]]]] = []
        self.open: list[WebSocketConnection] = []

    def join(self, service: Watching) -> None:
        service.network.names["push.example"] = [(PLACE,)]
        service.network.servers[PLACE, 443] = self.serve

    async def serve(self, stream: trio.abc.Stream) -> None:
        async with trio.open_nursery() as nursery:
            request = await wrap_server_stream(nursery, stream)  # type: ignore[arg-type]  # any stream will do
            cookie = dict(request.headers).get(b"cookie", b"").decode()
            self.came.append(cookie)
            if self.refusals:
                status, headers = self.refusals.pop(0)
                await request.reject(status, extra_headers=headers)
                return
            if f"session=t{self.number}" not in cookie.split("; "):
                self.wrong += 1
                await request.reject(401, extra_headers=[(b"Set-Cookie", b"session=stranger; Path=/")])
                return
            self.number += 1
            connection = await request.accept(extra_headers=[(b"Set-Cookie", self.session())])
            self.open.append(connection)
            try:
                while True:
                    await connection.get_message()
            except ConnectionClosed:
                self.open.remove(connection)
            nursery.cancel_scope.cancel()

    def session(self) -> bytes:
        return f"session=t{self.number}; Path=/; Secure; HttpOnly".encode()

    async def hang_up(self, times: int = 1) -> None:
        """Close the connection and wait for the next, so many times."""
        for _ in range(times):
            # The library's close waits for its reader, which our own server has ended by then.
            with trio.move_on_after(1):
                await self.open[-1].aclose()
            await trio.sleep(400)


async def joined(service: Watching, club: Club, **wish: Any) -> SourceId:
    club.join(service)
    return (await service.add(URL, headers=HEADERS, filter="", **wish)).view.source.id


def hot_of(service: Watching, source: SourceId) -> SourceRuntime:
    return service.registry.table.describe(source).hot


async def test_each_handshake_goes_with_the_session_that_the_one_before_was_given(autojump_clock: object) -> None:
    """This includes a source's first handshake after detection, and the first after a restart."""
    disk, club = Disk(), Club()
    async with watching(disk=disk) as (service, _):
        source = await joined(service, club)
        await trio.sleep(60)
        await club.hang_up(2)
        known = club.number
        stored = await service.storage.sources.get(source)
        assert stored is not None and f"t{known}" in stored.hot.cookies, "at once, and not with the next sweep"
        assert "session=" not in repr(service.logged) + repr(service.registry.table.describe(source))
    (row,) = disk.connection.execute("SELECT body, jar FROM source_hot").fetchall()
    assert b"theme" not in row[0] + row[1], "in a box"
    async with watching(disk=disk) as (service, _):
        club.join(service)
        await trio.sleep(60)
        assert club.number == known + 1 and not club.wrong
        assert club.came == [f"session=t{n}; theme=dark" for n in range(len(club.came))]


async def test_cookies_of_a_refused_handshake_are_taken_unless_they_lock_out(autojump_clock: object) -> None:
    async with watching() as (service, _):
        club = Club()
        source = await joined(service, club)
        await trio.sleep(60)
        club.number, stranger = 70, [(b"Set-Cookie", b"session=stranger; Path=/")]
        club.refusals = [(503, [(b"Set-Cookie", club.session())]), (401, stranger), (403, stranger)]
        await club.hang_up(9)
        assert not club.refusals and not club.wrong and "session=stranger" not in "".join(club.came)
        assert "session=t70; theme=dark" in club.came and hot_of(service, source).last_error is None


async def test_a_redirected_handshake_sends_nothing_to_its_target(autojump_clock: object) -> None:
    async with watching() as (service, _):
        club, abroad = Club(), list[ReceivedRequest]()
        service.network.names[OTHER] = [(OTHER_ADDRESS,)]
        service.network.servers[OTHER_ADDRESS, 443] = web(lambda _: Answer(404), abroad)
        await joined(service, club)
        await trio.sleep(60)
        moved = [
            (b"Location", f"wss://{OTHER}/live".encode()),
            (b"Set-Cookie", b"session=t90; Domain=elsewhere.example"),
        ]
        club.refusals = [(302, moved)]
        await club.hang_up(2)
        assert not club.refusals and not abroad and not club.wrong
        assert "t90" not in "".join(club.came), "nobody sets a cookie for another host"


async def test_headers_without_a_cookie_get_none_from_a_handshake(autojump_clock: object) -> None:
    async with watching() as (service, _):
        club = Club()
        club.join(service)
        accepted = (200, [(b"Set-Cookie", b"session=t0; Path=/")])
        club.refusals = [accepted]
        wish = DetectRequest(URL, headers="X-Key: a")
        for _ in range(2):
            with pytest.raises(Unprocessable):
                await service.registry_box.ask(lambda reply: DetectUrl(wish, reply, reads=True))
        assert club.came == ["", ""]


async def test_a_socket_and_the_pages_of_its_host_go_on_with_one_session(autojump_clock: object) -> None:
    async with watching() as (service, _):
        club, asked = Club(), list[ReceivedRequest]()

        def answer(one: ReceivedRequest) -> Answer:
            if one.target == "/robots.txt":
                return Answer(404)
            club.came.append(one.headers.get("cookie", ""))
            club.number += 1
            return Answer(200, page(TEXT), {"content-type": "text/html", "set-cookie": club.session().decode()})

        service.network.servers[ADDRESS, 443] = web(answer, asked)
        lender = (await service.add(f"https://{SITE}/", headers=HEADERS, headers_for=(SITE,))).view.source.id
        service.network.servers[ADDRESS, 443] = club.serve
        socket = (await service.add(f"wss://{SITE}/live", filter="")).view.source.id
        await trio.sleep(20)
        assert club.came == [f"session=t{n}; theme=dark" for n in range(3)] and not club.wrong
        assert hot_of(service, socket).cookies == "" and "t3" in hot_of(service, lender).cookies


async def test_adding_a_previewed_socket_keeps_the_session_of_the_preview(
    autojump_clock: object,
) -> None:
    """Even after a delay and two previews."""
    async with watching() as (service, _):
        club = Club()
        club.join(service)
        for _ in range(2):
            await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(URL, headers=HEADERS), reply))
            await trio.sleep(600)
        source = await joined(service, club)
        await trio.sleep(60)
        assert club.came == [f"session=t{n}; theme=dark" for n in range(4)] and not club.wrong
        assert "t4" in hot_of(service, source).cookies


async def test_a_preview_of_a_socket_renews_the_session_that_its_host_was_lent(autojump_clock: object) -> None:
    async with watching() as (service, _):
        club = Club()
        club.join(service)
        lender = await joined(service, club, headers_for=("push.example",))
        await trio.sleep(60)
        known = club.number
        wish = DetectRequest("wss://push.example/other")
        await service.registry_box.ask(lambda reply: DetectUrl(wish, reply, reads=True))
        assert club.number == known + 1 and f"t{club.number}" in hot_of(service, lender).cookies
        await club.hang_up(2)
        assert club.number > known + 1 and not club.wrong
