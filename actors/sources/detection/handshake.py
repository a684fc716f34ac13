"""A trial of a stream: the handshake, and on request the server's first frames."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

import trio
from msgspec import Struct

from actors.egress.event_stream import EventStream, open_stream
from actors.egress.failures import Blame, CheckFailed
from actors.egress.hosts import TurnRequest
from actors.egress.http import MOST_REDIRECTS, RedirectElsewhere
from actors.egress.websocket import Frames, open_websocket
from actors.sources.checks.access import RequestAccess
from actors.sources.checks.fetch import at_host
from actors.sources.ports import Ports
from storage.records.tiers import SOCKETS

MOST_FRAMES: Final = 5


class Greeting(Struct, frozen=True):
    """The first frames, the subprotocol, the seconds waited, why the session ended, and a stream's content_type."""

    frames: tuple[str, ...] = ()
    subprotocol: str | None = None
    waited: float = 0.0
    ended: str | None = None
    content_type: str = ""


async def open_session(  # noqa: PLR0917  # where, how, and whose turn
    ports: Ports,
    stack: AsyncExitStack,
    claim: TurnRequest,
    request_access: RequestAccess,
    subprotocols: Sequence[str] = (),
    last_id: str = "",
) -> Frames | EventStream:
    """Open a session or a stream for as long as the stack lasts. Each request, redirects included, takes a turn at its
    host; the open connection holds none. Raises CheckFailed.
    """
    url, services = request_access.url, (ports.egress.guard, ports.settings, ports.world)
    on_cookies, sign = request_access.on_set_cookies, ports.egress.http.sign
    for _ in range(MOST_REDIRECTS + 1):
        try:
            async with at_host(ports, claim, url, asked=claim.interactive), ports.check_slots:
                given = request_access.begin().headers_to(url, ports.world.now())
                if url.scheme in SOCKETS:
                    session = open_websocket(
                        url, *services, subprotocols=subprotocols, user_headers=given, on_cookies=on_cookies
                    )
                    return await stack.enter_async_context(session)
                stream = open_stream(
                    url, *services, last_id=last_id, user_headers=given, on_cookies=on_cookies, sign=sign
                )
                return await stack.enter_async_context(stream)
        except RedirectElsewhere as redirect:
            url = redirect.url
    raise CheckFailed(Blame.REMOTE_TRANSIENT, f"more than {MOST_REDIRECTS} redirects", status=302)


async def greet(
    ports: Ports, claim: TurnRequest, opened: RequestAccess, listen: float, subprotocols: Sequence[str] = ()
) -> Greeting:
    """Open a session, take at most `MOST_FRAMES` frames within `listen` seconds, close it. Raises CheckFailed."""
    frames: list[str] = []
    ended: str | None = None
    async with AsyncExitStack() as stack:
        session = await open_session(ports, stack, claim, opened, subprotocols)
        since = trio.current_time()
        with trio.move_on_after(listen):
            try:
                while listen and len(frames) < MOST_FRAMES:
                    frames += await session.receive()
            except CheckFailed as failure:
                ended = failure.reason
        waited = round(trio.current_time() - since, 1)
        content_type = session.says if isinstance(session, EventStream) else ""
        return Greeting(tuple(frames[:MOST_FRAMES]), session.subprotocol, waited, ended, content_type)
