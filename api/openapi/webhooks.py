"""The requests that the service sends to destinations, described like its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from actors.destination_kinds.webhook import MEDIA, enveloped
from api.openapi.examples import example_of
from api.schemas.alerts import Digest
from storage.records.event import Event

KINDS_SENT: tuple[type[Struct], ...] = (Event, Digest)
_STRING = {"type": "string"}
_HEADERS: dict[str, tuple[str, Any, Any]] = {
    "webhook-id": (
        "The event's `id`, or the digest's own: the same at every attempt, so what you know a repetition by.",
        _STRING | {"format": "uuid"},
        "019db0a4-6a10-7000-8000-0000000000a7",
    ),
    "webhook-timestamp": ("When this attempt was signed, in Unix seconds.", {"type": "integer"}, 1777284000),
    "webhook-signature": (
        "Tokens `v1,<base64>`, separated by spaces: HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<raw body>` "
        "(Standard Webhooks). One of them must be yours.",
        _STRING,
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
}
_MORE = "What to check, and receivers in four languages: `docs/receivers.md`."


def webhooks(known: Mapping[int, Any]) -> dict[str, Any]:
    """Return the webhooks object. known: the schema of each type, by the type's identity."""
    return {
        "event": {"post": _post("receiveEvent", "Receive an event.", "With `delivery_mode` instant.", Event, known)},
        "digest": {
            "post": _post("receiveDigest", "Receive a digest.", "With a digest's `delivery_mode`.", Digest, known)
        },
    }


def _post(name: str, says: str, when: str, kind: type[Struct], known: Mapping[int, Any]) -> dict[str, Any]:
    media = {"schema": known[id(kind)], "examples": {"example": {"value": example_of(kind)}}}
    return {
        "operationId": name,
        "tags": ["Deliveries"],
        "summary": says,
        "description": f"{when} At least once: it may come again with the same `webhook-id`. {_MORE}",
        "parameters": [
            {
                "name": header,
                "in": "header",
                "required": True,
                "description": words,
                "schema": schema,
                "example": example,
            }
            for header, (words, schema, example) in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": media, MEDIA: _enveloped(kind, known)}},
        "security": [],
        "responses": {
            "2XX": {"description": "Delivered."},
            "410": {"description": "Given up; the destination is disabled until somebody resumes it."},
            "default": {"description": "Tried again, for three days in all; `Retry-After` is honoured up to an hour."},
        },
    }


def _enveloped(kind: type[Struct], known: Mapping[int, Any]) -> dict[str, Any]:
    """Return the body for a destination whose `format` is `cloudevents`."""
    body = example_of(kind)
    texts = ("specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema")
    properties: dict[str, Any] = dict.fromkeys(texts, _STRING)
    return {
        "schema": {
            "type": "object",
            "description": "An envelope of CloudEvents 1.0.2; `id` is the `webhook-id`.",
            "properties": properties | {"data": known[id(kind)]},
            "required": ["specversion", "id", "source", "type", "time", "datacontenttype", "data"],
        },
        "examples": {"example": {"value": msgspec.json.decode(enveloped(body["id"], msgspec.json.encode(body)))}},
    }
