"""A loopback proxy that cuts connections at random bytes, and splits and delays the traffic."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import trio

BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError)
PIECES = (1, 2, 7, 100, 1_500)


class CuttingProxy:
    """Between a client and the service at `port`. `cuts` counts the cut connections.

    It closes every third connection as the service would, and resets the others. It rewrites the retry hint to 10 ms,
    in as many bytes: a client that obeys the real hint would make the test last minutes.
    """

    def __init__(self, port: int, seed: int, most: int) -> None:
        self.port, self.cuts = port, 0
        self._chance, self._most = random.Random(seed), most

    async def serve(self, client: trio.SocketStream) -> None:
        """Forward one connection until either end closes it or it has used up its bytes."""
        async with client, await trio.open_tcp_stream("127.0.0.1", self.port) as service:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._requests, client, service, nursery)
                with suppress(*BROKEN):
                    await self._answers(service, client)
                nursery.cancel_scope.cancel()
            await trio.aclose_forcefully(service)
            await trio.aclose_forcefully(client)

    async def _requests(self, client: trio.SocketStream, service: trio.SocketStream, nursery: trio.Nursery) -> None:
        with suppress(*BROKEN):
            async for data in client:
                await service.send_all(data)
        nursery.cancel_scope.cancel()

    async def _answers(self, service: trio.SocketStream, client: trio.SocketStream) -> None:
        left, size = self._chance.randint(1, self._most), self._chance.choice(PIECES)
        async for data in service:
            shown = bytes(data).replace(b"retry: 3000", b"retry: 0010")[:left]
            for at in range(0, len(shown), size):
                await client.send_all(shown[at : at + size])
                if self._chance.random() < 0.002:
                    await trio.sleep(0.003)
            left -= len(shown)
            if left == 0:
                self.cuts += 1
                if self.cuts % 3:
                    client.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                return


@asynccontextmanager
async def cutting(port: int, seed: int, most: int = 6_000) -> AsyncIterator[tuple[CuttingProxy, int]]:
    """Run a proxy that lets 1 to `most` bytes of each connection pass; yield it and its port."""
    proxy = CuttingProxy(port, seed, most)
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, proxy.serve, 0, host="127.0.0.1"))
        yield proxy, listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()
