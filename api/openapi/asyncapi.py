"""AsyncAPI 3.0: everything that the service sends, derived from the OpenAPI document.

Streams, publications and deliveries are channels. The texts, types, headers and examples come from the OpenAPI
document, so the two cannot differ. Operations here are from the service's side: readers receive where it says `send`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from actors.feed_documents.formats import FORMATS
from api.openapi.schemas import COMPONENTS

STREAMS: Final = (("stream", "/v1/stream"), ("streamChannel", "/v1/streams/{channel}"))
"""Name of a channel, and the path of its operation."""
_KEYS = [{"$ref": "#/components/securitySchemes/bearer"}, {"$ref": "#/components/securitySchemes/header"}]
_FORMS = {"Sse": "text/event-stream", "Ndjson": "application/x-ndjson"}
_BINDING = "0.3.0"
_EXTRA = "x-frames"
"""The field for an example of a message's bytes on the wire. A message's own examples show its payload."""
_FEEDS = (
    "A reader asks for it again and again, or subscribes at the hub that it names (WebSub) and is posted what is new."
)


def asyncapi(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document. described: the OpenAPI document of the same service."""
    messages = {**_stream_messages(described), **_feed_messages(), **_delivery_messages(described)}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": described["info"]["title"],
            "version": described["info"]["version"],
            "description": "What the service sends by itself: streams of events, publications, deliveries. Operations "
            "that are called and answered are in `/openapi.json`.",
            "license": {"name": described["info"]["license"]["name"]},
        },
        "defaultContentType": "application/json",
        "servers": {"service": _server(described["servers"][0]["url"])},
        "channels": {**_streams(described), **_publications(), **_deliveries()},
        "operations": _operations(described),
        "components": {
            "messages": messages,
            "schemas": _schemas(described, messages),
            "securitySchemes": _schemes(described),
        },
    }


def _server(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    server = {"host": parts.netloc, "protocol": parts.scheme, "description": "This service."}
    return server | ({"pathname": parts.path} if parts.path.strip("/") else {})


def _schemes(described: Mapping[str, Any]) -> dict[str, Any]:
    both = described["components"]["securitySchemes"]
    return {"bearer": both["bearer"], "header": {**both["header"], "type": "httpApiKey"}}


# --- streams ---------------------------------------------------------------------------------------------------------


def _streams(described: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, path in STREAMS:
        operation = described["paths"][path]["get"]
        found[name] = {
            "address": path,
            "title": operation["summary"],
            "description": operation["description"],
            "servers": [{"$ref": "#/servers/service"}],
            "parameters": {
                one["name"]: {"description": one["description"], "examples": [one["example"]]}
                for one in operation["parameters"]
                if one["in"] == "path"
            },
            "messages": _named("eventSse", "eventNdjson"),
        }
    return found


def _stream_messages(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event's frame on a stream, in both forms."""
    content = described["paths"]["/v1/stream"]["get"]["responses"]["200"]["content"]
    example = described["components"]["schemas"]["Event"]["examples"][0]
    return {
        f"event{form}": {
            "name": f"event{form}",
            "title": f"An event on a stream, as {media}",
            "contentType": media,
            "description": "The payload is the `data` of a frame; its `event` is the `source_type`, its `id` the `id`."
            if form == "Sse"
            else "One event a line; an empty line is a sign of life.",
            "payload": {"$ref": COMPONENTS.format(name="Event")},
            "examples": [{"name": "event", "payload": example}],
            _EXTRA: content[media]["examples"]["example"]["value"],
        }
        for form, media in _FORMS.items()
    }


# --- publications ----------------------------------------------------------------------------------------------------


def _publications() -> dict[str, Any]:
    return {
        "publication": {
            "address": "/published/{token}.{ending}",
            "title": "Events of a publication as a feed.",
            "description": _FEEDS,
            "servers": [{"$ref": "#/servers/service"}],
            "parameters": {
                "token": {"description": "The publication's own address, which is as good as a key."},
                "ending": {"description": "The format of the feed.", "enum": list(FORMATS)},
            },
            "messages": _named(*(f"feed{ending.title()}" for ending in FORMATS)),
        }
    }


def _feed_messages() -> dict[str, Any]:
    return {
        f"feed{ending.title()}": {
            "name": f"feed{ending.title()}",
            "title": f"The newest events of a publication, as {form.media}",
            "contentType": form.media,
            "payload": {"type": "object" if ending == "json" else "string"},
        }
        for ending, form in FORMATS.items()
    }


# --- deliveries ------------------------------------------------------------------------------------------------------


def _deliveries() -> dict[str, Any]:
    return {
        "delivery": {
            "address": None,
            "title": "The URL of a destination.",
            "description": "The receiver's own address, as the destination has it: signed, at least once, tried again "
            "for days. The answers that count: `/openapi.json`, `webhooks`.",
            "messages": _named("event", "digest", "cloudEvent", "cloudDigest"),
        }
    }


def _delivery_messages(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return a webhook's messages, bare and as CloudEvents."""
    found = {}
    for name, hook in described["webhooks"].items():
        post = hook["post"]
        headers = {
            "type": "object",
            "required": [one["name"] for one in post["parameters"]],
            "properties": {
                one["name"]: {**one["schema"], "description": one["description"], "examples": [one["example"]]}
                for one in post["parameters"]
            },
        }
        for media, body in post["requestBody"]["content"].items():
            called = name if media == "application/json" else f"cloud{name.title()}"
            found[called] = {
                "name": called,
                "title": post["summary"],
                "description": post["description"],
                "contentType": media,
                "headers": headers,
                "payload": body["schema"],
                "bindings": {"http": {"headers": headers, "bindingVersion": _BINDING}},
                "examples": [{"name": "example", "payload": body["examples"]["example"]["value"]}],
            }
    return found


# --- operations and parts --------------------------------------------------------------------------------------------


def _operations(described: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, path in STREAMS:
        operation = described["paths"][path]["get"]
        query = [one for one in operation["parameters"] if one["in"] == "query"]
        asked = {one["name"]: {**one["schema"], "description": one["description"]} for one in query}
        found[f"send{name[0].upper()}{name[1:]}"] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "summary": operation["summary"],
            "security": _KEYS,
            "bindings": _asked_by("GET", {"type": "object", "properties": asked}),
        }
    found["sendPublication"] = {
        "action": "send",
        "channel": {"$ref": "#/channels/publication"},
        "summary": "Show the newest events of a publication to whoever knows its address.",
        "bindings": _asked_by("GET"),
    }
    found["sendDelivery"] = {
        "action": "send",
        "channel": {"$ref": "#/channels/delivery"},
        "summary": "Post an event or a digest to a destination.",
        "bindings": _asked_by("POST"),
    }
    return found


def _asked_by(method: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"http": {"method": method, **({"query": query} if query else {}), "bindingVersion": _BINDING}}


def _named(*messages: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/messages/{name}"} for name in messages}


def _schemas(described: Mapping[str, Any], messages: Mapping[str, Any]) -> dict[str, Any]:
    """Return every schema that the messages need."""
    parts, found, waiting = described["components"]["schemas"], {}, list(messages.values())
    while waiting:
        one = waiting.pop()
        name = str(one.get("$ref", "")).removeprefix(COMPONENTS.format(name="")) if isinstance(one, dict) else ""
        if name in parts and name not in found:
            found[name] = parts[name]
            waiting.append(parts[name])
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return dict(sorted(found.items()))
