"""A WebSocket tried out: the handshake, and what the server says first when somebody wants to see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import trio
from msgspec import Struct

from actors.egress.cookies import Heard
from actors.egress.failures import LookFailed
from actors.egress.host_queue import ASKED
from actors.egress.url import Url
from actors.egress.websocket import Given
from actors.sources.ports import Ports

MOST_FRAMES: Final = 5


class Greeting(Struct, frozen=True):
    """The first frames, the subprotocol that was agreed on, how long was waited, and why the session ended, if so."""

    frames: tuple[str, ...] = ()
    subprotocol: str | None = None
    waited: float = 0.0
    ended: str | None = None


async def shake_hands(
    ports: Ports,
    url: Url,
    listen: float,
    subprotocols: Sequence[str] = (),
    *,
    given: Given = (),
    heard: Heard | None = None,
) -> Greeting:
    """Open a session, take at most `MOST_FRAMES` frames within `listen` seconds, close it. Raises LookFailed."""
    frames: list[str] = []
    ended: str | None = None
    async with ports.egress.hosts.turn(url.host, ASKED):
        pass  # a handshake is one request; listening must not keep others from the host
    async with ports.egress.websocket(url, subprotocols=subprotocols, given=given, heard=heard) as session:
        ports.egress.line.answered(url.host)
        since = trio.current_time()
        with trio.move_on_after(listen):
            try:
                while listen and len(frames) < MOST_FRAMES:
                    frames += await session.receive()
            except LookFailed as failure:
                ended = failure.reason
        return Greeting(tuple(frames[:MOST_FRAMES]), session.subprotocol, round(trio.current_time() - since, 1), ended)
