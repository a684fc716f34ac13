"""The admin socket: the API for this machine's owner, without a key.

Only the service's account and root can connect (`sanderling/admin_listener.py`), and both could make any key anyway.
Requests have all scopes, a rate limit and a name in the log, as with a key. Forwarded requests are refused
(`api/passed_on.py`).

It is a separate child, so it answers even if the public front end is down. If the socket cannot be opened, it logs that
and the service runs without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio

from actors.app_context import AppContext
from actors.keys import SCOPES
from api.app import make_admin_app
from api.server.server import GRACE, ServerConnections
from storage.records.identity import Millis
from storage.records.key import ApiKey
from supervision import Child, ChildSpec

OWNER = ApiKey("socket", "this machine", "socket", "", tuple(SCOPES), Millis(0), rate_per_minute=60_000, burst=10_000)
"""The key of every request on the socket."""
DRAIN = 1.0
BEAT = 1.0
"""Seconds between two measurements of the loop's lag."""


def admin_socket(context: AppContext) -> Sequence[ChildSpec]:
    """Return the child for the admin socket, to start before the public front end; none without a socket."""
    if context.world.admin_socket is None:
        return ()

    async def run(child: Child) -> None:
        await _serve(context, child)

    return (ChildSpec("admin", run=run, shutdown=DRAIN + GRACE, ready_within=30.0),)


async def _serve(context: AppContext, child: Child) -> None:
    stopping = child.stopping
    listeners = await _listeners(context)
    connections = ServerConnections(make_admin_app(context, OWNER), bare=True)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connections.cut_when_cancelled)
            nursery.start_soon(connections.api.streams.signs.run)
            nursery.start_soon(_measure, context)
            await nursery.start(connections.api.repeats.run)
            for listener in listeners:
                nursery.start_soon(connections.accept, listener, nursery)
            child.ready()
            await stopping.wait()
            await connections.drain(DRAIN)
            nursery.cancel_scope.cancel()
    finally:
        for listener in listeners:
            await trio.aclose_forcefully(listener)


async def _listeners(context: AppContext) -> Sequence[trio.abc.Listener[Any]]:
    assert context.world.admin_socket is not None
    try:
        return await context.world.admin_socket()
    except OSError as error:
        context.world.log("admin.no_socket", level="error", error=str(error))
        return ()


async def _measure(context: AppContext) -> None:
    """Measure how late timers fire."""
    while True:
        due = trio.current_time() + BEAT
        await trio.sleep_until(due)
        context.world.metrics.loop_lag.value = max(0.0, trio.current_time() - due)
