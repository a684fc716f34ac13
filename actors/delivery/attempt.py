"""One try to deliver and what came of it. A test delivery goes this very way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import trio

from actors.delivery.traced_outlet import TracedOutlet
from actors.destination_kinds.answer import Answer
from actors.destination_kinds.kind import Consent, Outlet
from actors.destination_kinds.table import Kinds
from actors.destination_kinds.values import masked
from actors.egress.failures import Blame, LookFailed
from actors.errors import UrlRefused
from actors.world import World
from storage.records.destination import WEBHOOK, Destination

_CONNECT_TIMEOUT = 5.0
"""Seconds without an answer from which on a failure counts as a timeout."""


class Sender:
    """Sends to destinations of any kind, by way of an outlet."""

    def __init__(self, kinds: Kinds, outlet: Outlet, world: World) -> None:
        self._kinds, self._outlet, self._world = kinds, outlet, world

    async def attempt(self, destination: Destination, id: str, body: bytes, traceparent: str = "") -> Answer:
        """Send a body once. Every way to fail is an answer; cancelled, it may or may not have arrived.

        traceparent: the header by which a program learns of which trace the attempt is.
        Nothing in an answer lets anybody in: what a receiver says is shown and kept.
        """
        return masked(await self._sent(destination, id, body, traceparent), destination)

    async def invite(self, consent: Consent, destination: Destination, about: str) -> Answer:
        """Ask once whether somebody wants to be told."""
        sent = partial(consent.invite, self._outlet, destination, about, self._world)
        return masked(await self._answered(sent), destination)

    async def _sent(self, destination: Destination, id: str, body: bytes, traceparent: str) -> Answer:
        kind = self._kinds.get(destination.kind)
        if kind is None:
            says = f"there is no kind {destination.kind} here: its file is missing or has a flaw"
            return Answer(None, 0, says, ours=True)
        outlet = TracedOutlet(self._outlet, traceparent) if traceparent and kind.id == WEBHOOK else self._outlet
        return await self._answered(partial(kind.send, outlet, destination, id, body, self._world))

    async def _answered(self, sent: Callable[[], Awaitable[Answer]]) -> Answer:
        start = trio.current_time()

        def failed(reason: str, *, ours: bool = False) -> Answer:
            waited = trio.current_time() - start
            return Answer(None, round(1000 * waited), reason, timeout=waited >= _CONNECT_TIMEOUT, ours=ours)

        try:
            return await sent()
        except LookFailed as error:
            return failed(error.reason, ours=error.blame is Blame.LOCAL)
        except UrlRefused as error:
            return failed(error.words)
