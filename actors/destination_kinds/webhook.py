"""The kind `webhook`: a signed POST to a program, and the meaning of its response (Standard Webhooks).

With the format `cloudevents`, an envelope of CloudEvents 1.0.2 in structured JSON mode surrounds an event or a digest
(https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md and `formats/json-format.md`). `data` is byte for
byte the body of a delivery without the envelope, so the events' own signatures hold.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from actors import signatures
from actors.destination_kinds.addresses import admit
from actors.destination_kinds.contract import WEBHOOK_ADDRESS, WEBHOOK_FIELDS, Answer, escaped
from actors.destination_kinds.kind import DeliveryPayload, DeliveryTransport, DestinationKind
from actors.egress.headers import header_pairs, wrong_headers
from actors.egress.url import parse_url
from actors.world import World
from storage.records.destination import WEBHOOK, Destination
from storage.records.secrecy import without_secrets

_OWN_HEADERS = re.compile(
    r"(?i)host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent|webhook-.*"
)


def access_headers(values: Mapping[str, str]) -> dict[str, str]:
    headers = dict(header_pairs(values.get("headers", "")))
    if token := values.get("token"):
        headers["Authorization"] = f"Bearer {token}"
    elif values.get("username") or values.get("password"):
        pair = f"{values.get('username', '')}:{values.get('password', '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return headers


def check_access(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield errors, by field (RFC 7617: a user name has no colon)."""
    if ":" in values.get("username", ""):
        yield "username", "a user name has no colon"
    if values.get("token") and (values.get("username") or values.get("password")):
        yield "token", "give a token, or a user name and password, not both"
    text = values.get("headers", "")
    for error in wrong_headers(text, _OWN_HEADERS, "the delivery"):
        yield "headers", error
    for name, _value in header_pairs(text):
        if name.lower() == "authorization" and values.keys() & {"token", "username"}:
            yield "headers", f"{name} is given twice"


MEDIA: Final = "application/cloudevents+json"
EVENT, NOTICE, DIGEST = "sanderling.event", "sanderling.notice", "sanderling.digest"


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The context attributes and the data. `id` is the `webhook-id`, equal for duplicates."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str = ""
    time: str
    datacontenttype: str
    dataschema: str = ""
    data: msgspec.Raw


class _DeliveryFields(msgspec.Struct, frozen=True):
    schema: str = msgspec.field(name="$schema", default="")
    source_id: str = ""
    source_url: str = ""
    alert_type: str = ""
    emitted_at: str = ""
    destination_id: str = ""
    alert_id: str = ""
    window_end: str = ""


def to_cloudevent(id: str, body: bytes) -> bytes:
    fields = msgspec.json.decode(body, type=_DeliveryFields)
    is_digest = bool(fields.destination_id)
    envelope = Envelope(
        specversion="1.0",
        id=id,
        source=f"urn:uuid:{fields.alert_id if is_digest else fields.source_id}",
        type=DIGEST if is_digest else NOTICE if fields.alert_type else EVENT,
        subject=fields.source_url,
        time=fields.window_end if is_digest else fields.emitted_at,
        datacontenttype="application/json",
        dataschema=fields.schema,
        data=msgspec.Raw(body),
    )
    return msgspec.json.encode(envelope)


_LONGEST_EXCERPT, _SECRET_SIZE = 200, 32


def new_secret(world: World) -> str:
    return signatures.new_secret(world.entropy(_SECRET_SIZE))


def signed_headers(destination: Destination, webhook_id: str, body: bytes, world: World) -> dict[str, str]:
    """Return the headers of an attempt. Timestamp and signature are new each time, id and body are not."""
    now = world.now()
    timestamp, secrets = now // 1000, signatures.live_secrets(destination.secrets, now)
    return {
        "Content-Type": MEDIA if destination.format == "cloudevents" else "application/json",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signatures.sign_webhook(secrets, webhook_id, timestamp, body),
    }


async def send(transport: DeliveryTransport, target: Destination, payload: DeliveryPayload, world: World) -> Answer:
    """Post a body once, signed now. Raises CheckFailed, UrlRefused."""
    webhook_id, body, _ = payload
    url = parse_url(target.url, schemes=("http", "https"))
    if target.format == "cloudevents":
        body = to_cloudevent(webhook_id, body)
    headers = access_headers(target.values) | signed_headers(target, webhook_id, body, world)
    poster = transport.deliver if url.secure else transport.deliver_plain
    result = await poster.post(url, headers, body)
    excerpt = escaped(result.body)
    if 200 <= result.status < 300:
        return Answer(result.status, result.latency_ms, excerpt=excerpt)
    reason = f"HTTP {result.status} {excerpt[:_LONGEST_EXCERPT]}".rstrip()
    if result.moved_to:
        reason = f"HTTP {result.status} to {without_secrets(result.moved_to)[:_LONGEST_EXCERPT]}; set that address"
    return Answer(result.status, result.latency_ms, reason, result.retry_after, excerpt=excerpt)


KIND: Final = DestinationKind(
    id=WEBHOOK,
    label="Webhook",
    family="program",
    where="Your own program that accepts a POST. docs/receivers.md has complete ones to start from.",
    documentation="https://www.standardwebhooks.com/",
    address=WEBHOOK_ADDRESS,
    fields=WEBHOOK_FIELDS,
    admit=admit,
    new_secret=new_secret,
    send=send,
    check=check_access,
)
