"""A WebSocket tried out: the handshake, and what the server says first when somebody wants to see it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

import trio
from msgspec import Struct

from actors.egress.failures import LookFailed
from actors.egress.host_queue import Ticket
from actors.sources.looks.renewal import Opened
from actors.sources.ports import Ports

MOST_FRAMES: Final = 5


class Greeting(Struct, frozen=True):
    """The first frames, the subprotocol that was agreed on, how long was waited, and why the session ended, if so."""

    frames: tuple[str, ...] = ()
    subprotocol: str | None = None
    waited: float = 0.0
    ended: str | None = None


async def shake_hands(
    ports: Ports, claim: Ticket, opened: Opened, listen: float, subprotocols: Sequence[str] = ()
) -> Greeting:
    """Open a session, take at most `MOST_FRAMES` frames within `listen` seconds, close it. Raises LookFailed.

    The handshake is one request, in its host's turn; listening must not keep others from the host.
    """
    frames: list[str] = []
    ended: str | None = None
    url = opened.url
    async with AsyncExitStack() as stack:
        async with ports.egress.hosts.turn(url.host, claim):
            given = opened.begin().to(url, ports.world.now())
            opening = ports.egress.websocket(url, subprotocols=subprotocols, given=given, heard=opened.take)
            session = await stack.enter_async_context(opening)
            ports.egress.line.answered(url.host)
        since = trio.current_time()
        with trio.move_on_after(listen):
            try:
                while listen and len(frames) < MOST_FRAMES:
                    frames += await session.receive()
            except LookFailed as failure:
                ended = failure.reason
        return Greeting(tuple(frames[:MOST_FRAMES]), session.subprotocol, round(trio.current_time() - since, 1), ended)
