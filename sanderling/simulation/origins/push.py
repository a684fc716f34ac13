"""A WebSocket server that pushes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from sanderling.simulation.network import Host, SimListener
from sanderling.simulation.origins.texts import link, sentence, title
from sanderling.simulation.program import OriginPlan
from sanderling.simulation.trace import Trace
from sanderling.simulation.wire import SimStream


@dataclass(slots=True)
class PushOrigin:
    """A WebSocket server that sends each text as a JSON frame to whoever is connected at that moment."""

    host: Host
    trace: Trace
    plan: OriginPlan
    sent: list[tuple[float, int]] = field(default_factory=list)
    """(when, which text) for each frame that was handed to a connection."""
    _connected: dict[WebSocketConnection, None] = field(default_factory=dict)

    async def serve(self, listeners: Sequence[SimListener]) -> None:
        """Accept and push until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._push)
            await trio.serve_listeners(self._accept, list(listeners))

    async def _accept(self, stream: SimStream) -> None:
        with trio.move_on_after(0) if self.host.suffers("http500") else trio.CancelScope():
            try:
                async with trio.open_nursery() as nursery:
                    request = await wrap_server_stream(nursery, stream)
                    await self._hold(await request.accept())
                    nursery.cancel_scope.cancel()
            except* (ConnectionClosed, trio.BrokenResourceError, trio.ClosedResourceError):
                pass
        stream.close()

    async def _hold(self, connection: WebSocketConnection) -> None:
        self.trace.note(self.host.name, "is connected")
        self._connected[connection] = None
        try:
            while True:
                await connection.get_message()
        except ConnectionClosed:
            self.trace.note(self.host.name, "is disconnected")
        finally:
            del self._connected[connection]

    async def _push(self) -> None:
        for number, text in enumerate(self.plan.texts):
            await trio.sleep_until(text.at)
            for connection in tuple(self._connected):
                with trio.move_on_after(30):
                    try:
                        await connection.send_message(frame(self.plan, number))
                    except (ConnectionClosed, trio.BrokenResourceError):
                        continue
                    self.sent.append((trio.current_time(), number))
            self.trace.note(self.host.name, "pushes", text=number, to=len(self._connected))


def frame(plan: OriginPlan, number: int) -> str:
    """Return a text as a push frame."""
    return json.dumps(
        {
            "id": str(number),
            "title": title(plan, number),
            "url": link(plan, number),
            "content": sentence(plan.texts[number]),
        }
    )
