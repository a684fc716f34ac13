"""Doors from a browser's pages to the guarded proxy: a listener each, or one shared gate with secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import trio

from extras.browser.forward_proxy import ForwardProxy, ProxyGate, Slot
from extras.browser.leases import Lease
from extras.browser.wire import Door

_SECRET_SIZE: Final = 16


class OwnDoors:
    """Listeners on this machine, with ports, one for each concurrent page. The first refuses traffic of no page."""

    def __init__(self, listeners: Sequence[tuple[int, trio.SocketListener]]) -> None:
        self._listeners = listeners
        self._slots = [Slot() for _ in listeners]
        self._free = [(port, slot) for (port, _), slot in zip(listeners, self._slots, strict=True)][1:]

    def __repr__(self) -> str:
        return f"<OwnDoors {len(self._free)} of {len(self._listeners) - 1} free>"

    async def run(self, proxy: ForwardProxy) -> None:
        async with trio.open_nursery() as nursery:
            for (_, listener), slot in zip(self._listeners, self._slots, strict=True):
                nursery.start_soon(proxy.listen, listener, slot)

    @contextmanager
    def let(self, lease: Lease) -> Iterator[Door]:
        port, slot = self._free.pop()
        try:
            with slot.let(lease):
                yield Door(f"http://127.0.0.1:{port}")
        finally:
            self._free.append((port, slot))

    def close(self) -> None:
        for _, listener in self._listeners:
            listener.socket.close()


class GateDoors:
    """Doors behind a gate that others can reach: each page has its secret. address: as the browser reaches it."""

    def __init__(self, gate: ProxyGate, address: str, entropy: Callable[[int], bytes]) -> None:
        self._gate, self._address, self._entropy = gate, address, entropy

    def __repr__(self) -> str:
        return f"<GateDoors at {self._address}>"

    async def run(self, proxy: ForwardProxy) -> None:
        """Do nothing: the gate is served for all browsers together."""
        await trio.lowlevel.checkpoint()

    @contextmanager
    def let(self, lease: Lease) -> Iterator[Door]:
        secret = self._entropy(_SECRET_SIZE).hex()
        with self._gate.let(secret, lease):
            yield Door(f"http://{self._address}", secret)
