"""Messages from standard input to the service's `/mcp`, its answers to standard output: a line each, in the order in
which they are ready.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from sanderling.client.api import Client
from sanderling.exits import CommandFailed

AT_ONCE = 4
"""Messages that are answered at once; the client's next ones wait in the pipe."""
MOST = 1 << 20
"""Bytes of a message."""
_PARSE, _FAULT = -32700, -32603
_READ = 64 << 10
Answering = Callable[[bytes], Awaitable[bytes]]


def through(client: Client) -> Answering:
    """Return what answers a line by asking the service; b"" to what wants no answer. What the service refuses is an
    error of the message.
    """

    async def answer(line: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        try:
            answered = await client.ask("POST", "/mcp", content=line, headers=headers)
        except CommandFailed as error:
            return _failed(line, error.message)
        return answered.content.rstrip()

    return answer


def _failed(line: bytes, says: str) -> bytes:
    """Return the error of a message; of one that wants no answer none."""
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        message, code = {"id": None}, _PARSE
    else:
        code = _FAULT
    if not isinstance(message, dict) or "id" not in message:
        return b""
    said = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": says}}
    return json.dumps(said).encode()


async def serve(
    answering: Answering, read: Callable[[], Awaitable[bytes]], write: Callable[[bytes], Awaitable[None]]
) -> None:
    """Answer until the input ends. read: some bytes, b"" at the end. write: a line."""
    slots, turn = trio.Semaphore(AT_ONCE), trio.Lock()

    async def answer(line: bytes) -> None:
        try:
            if answered := await answering(line):
                async with turn:
                    await write(answered + b"\n")
        finally:
            slots.release()

    waiting = bytearray()
    async with trio.open_nursery() as nursery:
        while some := await read():
            waiting += some
            *lines, rest = bytes(waiting).split(b"\n")
            # A line without an end is cut: what is left of it is no message, and is answered as one that is none.
            waiting = bytearray(rest[: MOST + 1])
            for line in filter(bytes.strip, lines):
                await slots.acquire()
                nursery.start_soon(answer, line)


async def on_standard_streams(answering: Answering) -> None:
    """Serve the client that has started this program."""

    reading, writing = trio.CapacityLimiter(1), trio.CapacityLimiter(1)

    async def read() -> bytes:
        return await trio.to_thread.run_sync(os.read, 0, _READ, abandon_on_cancel=True, limiter=reading)

    async def write(line: bytes) -> None:
        await trio.to_thread.run_sync(_write_all, line, limiter=writing)

    await serve(answering, read, write)


def _write_all(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]
