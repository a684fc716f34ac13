"""The scripted servers' own HTTP/1.1: one request a connection, answered at once, slowly, by half, or never.

Small on purpose: the client at the other end is under test, and a full server's code would take half of a simulation's
time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import trio

from tests.simulation.wire import SimStream

LONGEST_STALL = 600.0
"""Virtual seconds after which a silent server gives up too."""
_LARGEST_HEAD = 64 * 1024
_TRICKLE = 2.0

Pace = Literal["at once", "never", "half", "trickle", "lost"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a scripted server. Header names are lower-case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A scripted server's answer.

    claims: a Content-Length that the body may fall short of (a truncated answer). pace: "half" stops in the middle,
    "trickle" sends a byte every two seconds, "lost" drops the connection without an answer. finished: called when
    nothing more will be sent.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: int | None = None
    pace: Pace = "at once"
    finished: Callable[[], None] | None = None


Respond = Callable[[Request], Awaitable[Answer]]


async def serve_http(respond: Respond, listeners: Sequence[trio.abc.Listener[SimStream]]) -> None:
    """Serve until cancelled."""
    await trio.serve_listeners(partial(_converse, respond), list(listeners))


async def _converse(respond: Respond, stream: SimStream) -> None:
    try:
        request = await _read(stream)
        if request is not None:
            await _answer(stream, await respond(request))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # the client has gone
    finally:
        stream.close()


async def _read(stream: SimStream) -> Request | None:
    """Return the request, or None when the client leaves before it is whole."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = await stream.receive_some(_LARGEST_HEAD)
        if not piece:
            return None
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    missing = int(headers.get("content-length", "0")) - len(body)
    while missing > 0:
        piece = await stream.receive_some(missing)
        if not piece:
            return None
        body, missing = body + piece, missing - len(piece)
    return Request(method, path, headers, body)


async def _answer(stream: SimStream, answer: Answer) -> None:
    head, body = _head(answer), b"" if answer.status == 304 else answer.body
    try:
        if answer.pace == "at once":
            await stream.send_all(head + body)
        elif answer.pace == "lost":
            stream.reset()
        else:
            await _stall(stream, head, body, answer.pace)
    finally:
        if answer.finished is not None:
            answer.finished()


def _head(answer: Answer) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} Answer", *(f"{name}: {value}" for name, value in answer.headers.items())]
    if answer.status != 304:
        lines.append(f"content-length: {len(answer.body) if answer.claims is None else answer.claims}")
    return "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1")


async def _stall(stream: SimStream, head: bytes, body: bytes, pace: Pace) -> None:
    """Answer badly until the client has gone, or for `LONGEST_STALL`."""
    with trio.move_on_after(LONGEST_STALL):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_drip, stream, head, body, pace)
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                while await stream.receive_some():
                    pass
            nursery.cancel_scope.cancel()


async def _drip(stream: SimStream, head: bytes, body: bytes, pace: Pace) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        if pace == "half":
            await stream.send_all(head + body[: len(body) // 2])
        elif pace == "trickle":
            for byte in head + body:
                await trio.sleep(_TRICKLE)
                await stream.send_all(bytes([byte]))
    await trio.sleep_forever()
