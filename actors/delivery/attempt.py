"""One signed POST and what came of it. A test delivery goes this very way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import trio

from actors.delivery.schedule import Answer
from actors.egress.failures import Blame, LookFailed
from actors.egress.http import EXCERPT, PostResult
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.signatures import webhook
from actors.world import World
from storage.records.destination import Destination

_SHOWN = 200
_CONNECT_TIMEOUT = 5.0
"""Seconds without an answer from which on a failure counts as a timeout."""


class Poster(Protocol):
    """What deliveries need of egress."""

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes) -> PostResult:
        """POST a body within 15 s, addresses checked. Raises LookFailed, UrlRefused."""


class Outlet(Protocol):
    """The part of egress that deliveries leave through."""

    @property
    def deliver(self) -> Poster:
        """The client that may reach the networks that are allowed for deliveries."""

    @property
    def deliver_plain(self) -> Poster:
        """The same without TLS, which reaches nothing but those networks."""

    def whereabouts(self, host: str) -> str:
        """Return the address that a host was last delivered to, or the host itself."""


def signed_headers(destination: Destination, webhook_id: str, body: bytes, world: World) -> dict[str, str]:
    """Return the headers of an attempt. Timestamp and signature are of this moment, id and body are not."""
    now = world.now()
    timestamp = now // 1000
    return {
        "Content-Type": "application/json",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": webhook.sign(webhook.live(destination.secrets, now), webhook_id, timestamp, body),
    }


async def attempt(poster: Poster, destination: Destination, webhook_id: str, body: bytes, world: World) -> Answer:
    """Post a body once, signed now. Every way to fail is an answer; cancelled, it may or may not have arrived."""
    start = trio.current_time()

    def failed(reason: str, *, ours: bool = False) -> Answer:
        waited = trio.current_time() - start
        return Answer(None, round(1000 * waited), reason, timeout=waited >= _CONNECT_TIMEOUT, ours=ours)

    try:
        url = parse_url(destination.url, schemes=("http", "https"))
        posted = await poster.post(url, signed_headers(destination, webhook_id, body, world), body)
    except LookFailed as error:
        return failed(error.reason, ours=error.blame is Blame.LOCAL)
    except UrlRefused as error:
        return failed(error.words)
    said = escaped(posted.body_excerpt)
    if 200 <= posted.status < 300:
        return Answer(posted.status, posted.latency_ms, said=said)
    reason = f"HTTP {posted.status} {said[:_SHOWN]}".rstrip()
    return Answer(posted.status, posted.latency_ms, reason, posted.retry_after, said=said)


def escaped(body: bytes) -> str:
    """Return what a receiver said so that it can be shown anywhere: nothing in it moves a cursor or hides a letter.

    >>> escaped("fel: å\x1b[31m".encode())
    'fel: å\\x1b[31m'
    """
    text = body[:EXCERPT].decode("utf-8", "replace")
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return shown[:EXCERPT]
