"""One try to deliver and what came of it. A test delivery goes this very way."""

from __future__ import annotations

import trio

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.kind import Outlet
from actors.destination_kinds.table import KINDS
from actors.egress.failures import Blame, LookFailed
from actors.errors import UrlRefused
from actors.world import World
from storage.records.destination import Destination

_CONNECT_TIMEOUT = 5.0
"""Seconds without an answer from which on a failure counts as a timeout."""


async def attempt(outlet: Outlet, destination: Destination, id: str, body: bytes, world: World) -> Answer:
    """Send a body once. Every way to fail is an answer; cancelled, it may or may not have arrived."""
    start = trio.current_time()

    def failed(reason: str, *, ours: bool = False) -> Answer:
        waited = trio.current_time() - start
        return Answer(None, round(1000 * waited), reason, timeout=waited >= _CONNECT_TIMEOUT, ours=ours)

    try:
        return await KINDS[destination.kind].send(outlet, destination, id, body, world)
    except LookFailed as error:
        return failed(error.reason, ours=error.blame is Blame.LOCAL)
    except UrlRefused as error:
        return failed(error.words)
