"""The listener of `metrics_bind`: /metrics at a separate address, and nothing else.

It has the same guards as the public one: keys with rate limits, strict parsing, TLS if configured, a connection limit.
It is a separate child, so scrapes work while the front end is down.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import trio

from actors.app_context import AppContext
from api.app import make_metrics_app
from api.server.server import GRACE, ServerConnections, close_all, name_of
from supervision import Child, ChildSpec

DRAIN = 1.0


def metrics_listener(context: AppContext) -> Sequence[ChildSpec]:
    """Return the child that listens at `metrics_bind`; none without it."""
    address = context.settings.metrics_address()
    if address is None:
        return ()
    return (ChildSpec("metrics", run=partial(_serve, context, address), shutdown=DRAIN + GRACE, ready_within=30.0),)


async def _serve(context: AppContext, address: tuple[str, int], child: Child) -> None:
    stopping = child.stopping
    listeners = await context.world.listen(*address)
    connections = ServerConnections(make_metrics_app(context))
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connections.cut_when_cancelled)
            nursery.start_soon(connections.api.used.run)
            nursery.start_soon(connections.api.refused.run)
            await nursery.start(connections.api.repeats.run)
            for listener in listeners:
                nursery.start_soon(connections.accept, listener, nursery)
            context.world.log("metrics.listening", addresses=[name_of(listener) for listener in listeners])
            child.ready()
            await stopping.wait()
            await connections.drain(DRAIN)
            nursery.cancel_scope.cancel()
    finally:
        await close_all(listeners)
        await connections.api.used.save()
