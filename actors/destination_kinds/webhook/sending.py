"""One signed POST, and the meaning of its response (Standard Webhooks)."""

from __future__ import annotations

from actors.destination_kinds.answer import Answer, escaped
from actors.destination_kinds.kind import Outlet
from actors.destination_kinds.webhook.access import access_headers
from actors.destination_kinds.webhook.cloudevents import MEDIA, enveloped
from actors.egress.url import parse_url
from actors.signatures import webhook
from actors.world import World
from storage.records.destination import Destination
from storage.records.secrecy import without_secrets

_SHOWN = 200
_SECRET_SIZE = 32


def new_secret(world: World) -> str:
    return webhook.new_secret(world.entropy(_SECRET_SIZE))


def signed_headers(destination: Destination, webhook_id: str, body: bytes, world: World) -> dict[str, str]:
    """Return the headers of an attempt. Timestamp and signature are new each time, id and body are not."""
    now = world.now()
    timestamp = now // 1000
    return {
        "Content-Type": MEDIA if destination.format == "cloudevents" else "application/json",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": webhook.sign(webhook.live(destination.secrets, now), webhook_id, timestamp, body),
    }


async def send(outlet: Outlet, destination: Destination, webhook_id: str, body: bytes, world: World) -> Answer:
    """Post a body once, signed now. Raises LookFailed, UrlRefused."""
    url = parse_url(destination.url, schemes=("http", "https"))
    if destination.format == "cloudevents":
        body = enveloped(webhook_id, body)
    headers = access_headers(destination.values) | signed_headers(destination, webhook_id, body, world)
    poster = outlet.deliver if url.secure else outlet.deliver_plain
    posted = await poster.post(url, headers, body)
    said = escaped(posted.body)
    if 200 <= posted.status < 300:
        return Answer(posted.status, posted.latency_ms, said=said)
    reason = f"HTTP {posted.status} {said[:_SHOWN]}".rstrip()
    if posted.moved_to:
        reason = f"HTTP {posted.status} to {without_secrets(posted.moved_to)[:_SHOWN]}; set that address"
    return Answer(posted.status, posted.latency_ms, reason, posted.retry_after, said=said)
