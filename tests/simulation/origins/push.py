"""A WebSocket server that pushes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, wrap_server_stream
from wsproto.utilities import LocalProtocolError

from tests.simulation.network import Host, SimListener
from tests.simulation.origins.server import Seen
from tests.simulation.origins.sessions import STRANGERS, Gate
from tests.simulation.origins.texts import link, published, saying, title
from tests.simulation.program import OriginPlan
from tests.simulation.trace import Trace
from tests.simulation.wire import SimStream

HOLD = 90
_CODES = (1000, 1001, 1008, 1011, 1012, 1013)
# The library answers a ping even while it closes, and raises on that.
_GONE = (ConnectionClosed, LocalProtocolError, trio.BrokenResourceError, trio.ClosedResourceError)


@dataclass(slots=True)
class Pusher:
    """Sends each text as a JSON frame to every client connected at that moment.

    While its host suffers "closes" it ends a session after some seconds, each time with another code; while it "hangs",
    open connections go dead silently, and new ones are accepted.
    """

    host: Host
    trace: Trace
    plan: OriginPlan
    gate: Gate | None = None
    """Of a site with sessions."""
    sent: list[tuple[float, int]] = field(default_factory=list)
    """(when, which text) for each frame that was handed to a live connection."""
    seen: list[Seen] = field(default_factory=list)
    """The handshakes."""
    _connected: dict[WebSocketConnection, SimStream] = field(default_factory=dict)

    async def serve(self, listeners: Sequence[SimListener]) -> None:
        """Accept and push until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._push)
            await trio.serve_listeners(self._accept, list(listeners))

    async def _accept(self, stream: SimStream) -> None:
        try:
            async with trio.open_nursery() as nursery:
                request = await wrap_server_stream(nursery, stream)
                if not await self._turned_away(request):
                    sets = self._session(request)
                    if sets is None:
                        self._note(401)
                        await request.reject(401, extra_headers=[(b"set-cookie", STRANGERS.encode())])
                    else:
                        self._note(101)
                        await self._hold(await request.accept(extra_headers=sets), stream)
                nursery.cancel_scope.cancel()
        except* _GONE:
            pass
        stream.close()

    async def _turned_away(self, request: WebSocketRequest) -> bool:
        """Refuse the handshake, if the host has a trouble that refuses every request."""
        for fault, status, hold in (("http500", 500, 0), ("throttled", 429, HOLD), ("unavailable", 503, HOLD)):
            if self.host.suffers(fault):
                headers = [(b"retry-after", str(hold).encode())] if hold else []
                self._note(status, hold)
                await request.reject(status, extra_headers=headers)
                return True
        return False

    def _session(self, request: WebSocketRequest) -> list[tuple[bytes, bytes]] | None:
        """Return the cookies of a site with sessions for the answer; None for a stranger."""
        if self.gate is None:
            return []
        cookie = dict(request.headers).get(b"cookie", b"").decode()
        session = self.gate.visited(self.plan.path, cookie)
        return None if session is None else [(b"set-cookie", session.encode())]

    def _note(self, status: int, hold: float = 0.0) -> None:
        now = trio.current_time()
        self.seen.append(Seen(now, self.plan.path, status, conditional=False, hold=hold, until=now))
        self.trace.note(self.host.name, f"answers {status}")

    async def _hold(self, connection: WebSocketConnection, stream: SimStream) -> None:
        self.trace.note(self.host.name, "is connected")
        self._connected[connection] = stream
        try:
            with trio.move_on_after(20 if self.host.suffers("closes") else 86_400 * 365):
                while True:
                    await connection.get_message()
            code = _CODES[len(self.seen) % len(_CODES)]
            self.trace.note(self.host.name, "closes", code=code)
            with trio.move_on_after(5):
                await connection.aclose(code, "as the plan says")
        except ConnectionClosed:
            self.trace.note(self.host.name, "is disconnected")
        finally:
            del self._connected[connection]

    def hang(self) -> None:
        """Let all open connections go dead silently."""
        for stream in self._connected.values():
            stream.hang()

    async def _push(self) -> None:
        first = len(published(self.plan.texts))
        for number, text in enumerate(self.plan.texts[first:], first):
            await trio.sleep_until(text.at)
            for connection, stream in tuple(self._connected.items()):
                if stream.hung:
                    continue
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
            "content": saying(plan, number, plan.texts[number].words),
        }
    )
