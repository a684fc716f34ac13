"""Send one request of a probe through the same guard as a delivery, at any pace."""

from __future__ import annotations

from contextlib import suppress

import h11
import trio

from actors.egress.failures import LookFailed
from actors.egress.guard import Guard
from actors.egress.headers import user_agent
from actors.egress.url import Url
from sanderling.receiver.cases import Posting
from sanderling.receiver.grades import Answered

PATIENCE = 15.0
"""Seconds until a delivery counts as failed."""
PIECES = 12


async def post(guard: Guard, url: Url, posting: Posting) -> Answered:
    """Send a request on a new connection and return the result. Failures are results, too."""
    start = trio.current_time()
    sent: list[float] = []
    try:
        with trio.fail_after(PATIENCE + posting.seconds):
            stream = await guard.open(url)
            try:
                status = await _exchange(stream, url, posting, sent)
            finally:
                await trio.aclose_forcefully(stream)
    except (LookFailed, h11.RemoteProtocolError, trio.BrokenResourceError, trio.TooSlowError) as error:
        return Answered(None, _since(sent or [start]), _words(error))
    return Answered(status, _since(sent or [start]))


async def _exchange(stream: trio.abc.Stream, url: Url, posting: Posting, sent: list[float]) -> int:
    """Return the response's status; append the time of the last byte to `sent`. Raises RemoteProtocolError,
    BrokenResourceError.
    """
    connection = h11.Connection(h11.CLIENT)
    # A receiver may respond and close before reading everything: the response counts.
    with suppress(trio.BrokenResourceError):
        await _send(stream, connection, url, posting)
        sent.append(trio.current_time())
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            data = bytes(await stream.receive_some(16384))
            if not data:
                raise h11.RemoteProtocolError("the connection was closed without an answer")
            connection.receive_data(data)
        elif isinstance(event, h11.Response):
            return int(event.status_code)


async def _send(stream: trio.abc.Stream, connection: h11.Connection, url: Url, posting: Posting) -> None:
    headers = [
        ("Host", url.authority),
        ("User-Agent", user_agent("")),
        ("Content-Type", "application/json"),
        *posting.headers.items(),
        ("Content-Length", str(len(posting.body))),
        ("Accept-Encoding", "identity"),
    ]
    head = connection.send(h11.Request(method="POST", target=url.target, headers=headers))
    await stream.send_all(head or b"")
    size = len(posting.body) if not posting.seconds else len(posting.body) // PIECES + 1
    for place in range(0, len(posting.body), max(1, size)):
        if place:
            await trio.sleep(posting.seconds / PIECES)
        await stream.send_all(connection.send(h11.Data(data=posting.body[place : place + size])) or b"")
    connection.send(h11.EndOfMessage())


def _since(moments: list[float]) -> int:
    return round(1000 * (trio.current_time() - moments[-1]))


def _words(error: Exception) -> str:
    match error:
        case trio.TooSlowError():
            return f"none within {PATIENCE:g} s"
        case trio.BrokenResourceError():
            return "the connection was reset"
        case _:
            return str(error)
