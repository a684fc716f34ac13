"""A minimal stream client: h11 on a memory stream, frame by frame."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import h11
import msgspec
import trio

from tests.api.house import House


class Listening:
    """An open stream. `status` and `headers` are from the head of the answer."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.status = 0
        self.headers: dict[str, str] = {}
        self.ended = False
        self._h11 = h11.Connection(h11.CLIENT)
        self._buffer = b""

    async def ask(self, path: str, **headers: str) -> None:
        request = h11.Request(method="GET", target=path, headers=[("Host", "sanderling.test"), *headers.items()])
        await self.stream.send_all(self._h11.send(request) + self._h11.send(h11.EndOfMessage()))
        head = await self._event()
        assert isinstance(head, h11.Response)
        self.status = head.status_code
        self.headers = {name.decode(): value.decode() for name, value in head.headers}

    async def chunk(self) -> bytes:
        """Return the next chunk of the body, b"" after its end or a cut."""
        event = await self._event()
        if isinstance(event, h11.Data):
            return bytes(event.data)
        self.ended = isinstance(event, h11.EndOfMessage)
        return b""

    async def frame(self, mark: bytes = b"\n\n") -> bytes:
        """Return the next frame without its empty line; b"" at the end."""
        while mark not in self._buffer:
            data = await self.chunk()
            if not data:
                return b""
            self._buffer += data
        frame, _, self._buffer = self._buffer.partition(mark)
        return frame

    async def event(self) -> dict[str, Any]:
        """Return the next event, skipping comments and the retry hint; {} at the end."""
        while frame := await self.frame():
            for line in frame.split(b"\n"):
                if line.startswith(b"data: "):
                    found: dict[str, Any] = msgspec.json.decode(line[6:])
                    return found
        return {}

    async def titles(self, count: int) -> list[str]:
        return [(await self.event())["title"] for _ in range(count)]

    async def _event(self) -> Any:
        while True:
            event = self._h11.next_event()
            if event is not h11.NEED_DATA:
                return event
            try:
                self._h11.receive_data(await self.stream.receive_some(65536))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return None


@asynccontextmanager
async def listening(house: House, path: str = "/v1/stream", key: str = "", **headers: str) -> AsyncIterator[Listening]:
    """Open a stream during the block, with a new key unless one is given."""
    stream = await house.listener.connect()
    try:
        client = Listening(stream)
        name_fixed = {name.replace("_", "-"): value for name, value in headers.items()}
        await client.ask(path, Authorization=f"Bearer {key or await house.key()}", **name_fixed)
        yield client
    finally:
        await trio.aclose_forcefully(stream)
