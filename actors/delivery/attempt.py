"""One delivery attempt and its answer. A test delivery takes the same path, with a sample event.

The sample is signed and shaped like any other event; only its content and tag tell.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

import trio

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.kind import Consent, DeliveryPayload, DeliveryTransport
from actors.destination_kinds.table import Kinds
from actors.destination_kinds.values import masked
from actors.egress.failures import Blame, CheckFailed
from actors.errors import UrlRefused
from actors.observer import NO_ATTEMPT, Attempt
from actors.signatures.event import Signer
from actors.world import World
from storage.errors import StorageError
from storage.records.destination import WEBHOOK, Destination
from storage.records.event import Event
from storage.records.identity import COUNTER_BITS, Millis, Seq, id_of, rfc3339, seq_at
from storage.sql.stores.alerts import Alerts

if TYPE_CHECKING:
    import random


_CONNECT_TIMEOUT = 5.0
"""Seconds without an answer that make a failure a timeout."""


class Sender:
    """Sends to destinations of any kind, through a transport. alerts: for the names of alerts in messages to people."""

    def __init__(self, kinds: Kinds, transport: DeliveryTransport, world: World, alerts: Alerts | None = None) -> None:
        self._kinds, self._transport, self._world, self._alerts = kinds, transport, world, alerts

    async def attempt(self, destination: Destination, id: str, body: bytes, attempt: Attempt = NO_ATTEMPT) -> Answer:
        """Send a body once. Every failure is an answer, with masked secrets: a receiver's response is shown and stored.
        If cancelled, the body may or may not have arrived.
        """
        return masked(await self._send(destination, id, body, attempt), destination)

    async def invite(self, consent: Consent, destination: Destination, about: str) -> Answer:
        send = partial(consent.invite, self._transport, destination, about, self._world)
        return masked(await self._guarded(send), destination)

    async def _send(self, destination: Destination, id: str, body: bytes, attempt: Attempt) -> Answer:
        kind = self._kinds.get(destination.kind)
        if kind is None:
            reason = f"there is no kind {destination.kind} here: its file is missing or invalid"
            return Answer(None, 0, reason, ours=True)
        transport = attempt.transport(self._transport) if kind.id == WEBHOOK else self._transport
        alerts = self._alerts if kind.limits is not None else None
        try:
            alert = await alerts.get(destination.alert_id) if alerts is not None else None
        except StorageError as error:  # not without its name: a repeated message has the same words
            return Answer(None, 0, f"its alert could not be read: {error}", ours=True)
        payload = DeliveryPayload(id, body, alert)
        return await self._guarded(partial(kind.send, transport, destination, payload, self._world))

    async def _guarded(self, send: Callable[[], Awaitable[Answer]]) -> Answer:
        start = trio.current_time()

        def failed(reason: str, *, ours: bool = False) -> Answer:
            waited = trio.current_time() - start
            return Answer(None, round(1000 * waited), reason, timeout=waited >= _CONNECT_TIMEOUT, ours=ours)

        try:
            return await send()
        except CheckFailed as error:
            return failed(error.reason, ours=error.blame is Blame.LOCAL)
        except UrlRefused as error:
            return failed(error.words)


CONTENT = "This is a test delivery. It has the shape and both signatures of a live one; its event is in no stream."


def sample(signer: Signer, base_url: str, now: Millis, chance: random.Random) -> tuple[str, bytes]:
    id = id_of(Seq(seq_at(now) + chance.randrange(1 << COUNTER_BITS)), chance.getrandbits(59))
    event = Event(
        schema=f"{base_url}/schemas/stream-event/1.json",
        id=id,
        source_id=id_of(seq_at(now), chance.getrandbits(59)),
        source_type="html",
        source_url=base_url,
        url=base_url,
        title="Test delivery",
        summary="Test delivery",
        author="",
        content=CONTENT,
        content_hash="sha256:" + sha256(CONTENT.encode()).hexdigest(),
        simhash=0,
        tags=("kind:test",),
        published_at=None,
        fetched_at=rfc3339(now),
        emitted_at=rfc3339(now),
        schema_version=1,
    )
    return id, signer.sign(event, now)
