"""The requests that the service sends to destinations, described like its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from actors.destination_kinds.webhook import MEDIA, enveloped
from api.nouns.deliveries import Digest
from api.openapi.texts import example_of, examples, sections
from storage.records.event import Event

KINDS_SENT: tuple[type[Struct], ...] = (Event, Digest)
_STRING = {"type": "string"}
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def webhooks(known: Mapping[int, Any]) -> dict[str, Any]:
    """Return the webhooks object. known: the schema of each type, by the type's identity."""
    return {
        "event": {"post": _post("receiveEvent", "Receive an event.", Event, known)},
        "digest": {"post": _post("receiveDigest", "Receive a digest.", Digest, known)},
    }


def _post(name: str, says: str, kind: type[Struct], known: Mapping[int, Any]) -> dict[str, Any]:
    media = {"schema": known[id(kind)], "examples": {"example": {"value": example_of(kind)}}}
    return {
        "operationId": name,
        "tags": ["Deliveries"],
        "summary": says,
        "description": sections("deliveries")[2][name],
        "parameters": [
            {"name": header, "in": "header", "required": True, **examples("parameters")[header]} for header in _HEADERS
        ],
        "requestBody": {"required": True, "content": {"application/json": media, MEDIA: _enveloped(kind, known)}},
        "security": [],
        "responses": {
            "2XX": {"description": "Delivered."},
            "410": {"description": "Given up; the destination is disabled until a person resumes it."},
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
