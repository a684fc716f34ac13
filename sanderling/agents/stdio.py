"""The session on standard input and output: a message a line, answers in the order in which they are ready."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import trio

from sanderling.agents.protocol import MOST, Session

AT_ONCE = 4
"""Messages that are answered at once; the client's next ones wait in the pipe."""
_READ = 64 << 10


async def serve(
    session: Session, read: Callable[[], Awaitable[bytes]], write: Callable[[bytes], Awaitable[None]]
) -> None:
    """Answer until the input ends. read: some bytes, b"" at the end. write: a line."""
    slots, turn = trio.Semaphore(AT_ONCE), trio.Lock()

    async def answer(line: bytes) -> None:
        try:
            answered = await session.answer(line)
            if answered is not None:
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


async def on_standard_streams(session: Session) -> None:
    """Serve the client that has started this program."""

    reading, writing = trio.CapacityLimiter(1), trio.CapacityLimiter(1)

    async def read() -> bytes:
        return await trio.to_thread.run_sync(os.read, 0, _READ, abandon_on_cancel=True, limiter=reading)

    async def write(line: bytes) -> None:
        await trio.to_thread.run_sync(_write_all, line, limiter=writing)

    await serve(session, read, write)


def _write_all(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]
