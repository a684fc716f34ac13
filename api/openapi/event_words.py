"""What an event's fields mean and how they are written. Storage, which has the type, knows nothing of the wire."""

from __future__ import annotations

from typing import Any

UUID7 = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"
_TIME = {"format": "date-time"}

EVENT: dict[str, dict[str, Any]] = {
    "$schema": {"format": "uri", "description": "Where this schema is served."},
    "id": {
        "format": "uuid",
        "pattern": UUID7,
        "description": "A UUIDv7, increasing in the order of the log: the key to know repetitions by, the cursor for "
        "`since` and `Last-Event-ID`, and the `webhook-id` of its delivery.",
    },
    "source_id": {"format": "uuid", "description": "The source that it is from."},
    "source_type": {"description": "That source's tier."},
    "source_url": {"description": "The URL that is watched."},
    "url": {"description": "The URL of what is new."},
    "title": {"description": 'Plain text; "" when there is none.'},
    "author": {"description": 'Plain text; "" when there is none.'},
    "content": {"description": "The main text, at most 64 KiB of UTF-8."},
    "content_truncated": {"description": "True when `content` was cut; else absent."},
    "content_hash": {
        "pattern": "^sha256:[0-9a-f]{64}$",
        "description": "SHA-256 of the whole content, NFC-normalised, before it was cut.",
    },
    "simhash": {"description": "A similarity hash of 53 bits: few bits differ between like texts.", "minimum": 0},
    "tags": {"description": "Each `<namespace>:<value>`."},
    "published_at": {"description": "The source's own word for when, or null."},
    "fetched_at": {**_TIME, "description": "When the look was made that found it."},
    "emitted_at": {**_TIME, "description": "When it was put into the log; the time in its `id`."},
    "schema_version": {"description": "1. A field may be added without a new number; ignore what you do not know."},
    "diff": {"description": "Of a page's change only: what was added, removed and changed, to be read."},
    "delta": {"description": "Of a page's change only: the steps from the old text to the new one."},
    "alert_type": {"description": "Of the service's own notices only, such as `source_quiet`."},
    "signed_at": {**_TIME, "description": "When it was signed."},
    "key_id": {"description": "The RFC 7638 thumbprint of its key in `/.well-known/jwks.json`."},
    "signature": {
        "description": "Ed25519 over the RFC 8785 form of the event without this field, in base64url without padding."
    },
}
WORDS: dict[str, dict[str, dict[str, Any]]] = {
    "Event": EVENT,
    "Problem": {
        "$schema": {"format": "uri", "description": "Where this schema is served."},
        "type": {"format": "uri", "description": "The kind of problem, and the page that explains it."},
        "title": {"description": "The kind in a few words, always the same."},
        "status": {"description": "The HTTP status."},
        "detail": {"description": "What went wrong this time."},
        "instance": {"description": "The path of the request."},
        "errors": {"description": "The places that are wrong."},
    },
    "FieldError": {
        "location": {"description": "Where: `body.tags[1]`, `query.limit`, `header.Last-Event-ID`, or a part's name."},
        "message": {"description": "Why."},
        "value": {"description": "What was there, cut to 200 characters."},
    },
}
"""Name of a type to field to what is said of it."""
_NULL = {"type": "null"}
SHAPES: dict[str, dict[str, Any]] = {
    "ReplayRequest": {
        "oneOf": [
            {"required": ["since"], "properties": {"since": {"type": "string"}, "ids": _NULL}},
            {"required": ["ids"], "properties": {"ids": {"type": "array"}, "since": _NULL, "until": _NULL}},
        ]
    }
}
"""Name of a type to what its fields may be together."""
