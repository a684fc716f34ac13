"""The headers of answers, with descriptions."""

from __future__ import annotations

from typing import Any

_INTEGER = {"type": "integer", "minimum": 0}
ALWAYS = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")
"""Headers of every route's answers."""
HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {
        "description": "Names this request in the service's log. One that was sent comes back, if it has at most 64 "
        "letters, digits, - and _.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
        "example": "5b0e6a3c9f214d77",
    },
    "RateLimit-Limit": {
        "description": "Requests that the key may make at once.",
        "schema": _INTEGER,
        "example": 100,
    },
    "RateLimit-Remaining": {"description": "Requests left at this moment.", "schema": _INTEGER, "example": 99},
    "RateLimit-Reset": {"description": "Seconds until all of them are back.", "schema": _INTEGER, "example": 1},
    "RateLimit-Policy": {
        "description": "How fast they come back: so many (`RateLimit-Limit`) in `w` seconds. Who spreads requests "
        "evenly at that pace is never refused.",
        "schema": {"type": "string", "pattern": "^[0-9]+;w=[0-9]+$"},
        "example": "100;w=10",
    },
    "Retry-After": {
        "description": "Whole seconds to wait before the next attempt.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
        "example": 5,
    },
    "WWW-Authenticate": {
        "description": "How to show a key.",
        "required": True,
        "schema": {"type": "string"},
        "example": "Bearer",
    },
    "Location": {
        "description": "The URL of what was made.",
        "schema": {"type": "string", "format": "uri"},
        "example": "http://127.0.0.1:8080/v1/sources/019db0a4-5c00-7000-8000-000000000001",
    },
    "ETag": {
        "description": "The revision of what was set here; figures and states beside it do not move it. `If-Match` and "
        "`If-None-Match` take it.",
        "schema": {"type": "string", "pattern": '^"[0-9a-f]{24}"$'},
        "example": '"5b0e6a3c9f214d775b0e6a3c"',
    },
    "Idempotency-Replayed": {
        "description": "That this is the answer of an earlier call with the same `Idempotency-Key`.",
        "schema": {"type": "string", "const": "true"},
        "example": "true",
    },
    "Link": {
        "description": 'The next page (RFC 8288), as `<URL>; rel="next"`; absent on the last one.',
        "schema": {"type": "string"},
        "example": '<http://127.0.0.1:8080/v1/sources?limit=100&cursor=WzEsMl0>; rel="next"',
    },
    "Sanderling-Replay-From": {
        "description": "The id after which the stream begins.",
        "required": True,
        "schema": {"type": "string", "format": "uuid"},
        "example": "019db0a4-6a10-7000-8000-0000000000a7",
    },
    "Mcp-Session-Id": {
        "description": "The session that began with `initialize`; send it back with what comes after.",
        "schema": {"type": "string", "format": "uuid"},
        "example": "019db0a4-6a10-7000-8000-0000000000c3",
    },
    "Content-Disposition": {
        "description": "The name under which to save the file.",
        "schema": {"type": "string"},
        "example": 'attachment; filename="sanderling-events-20260421T120000Z.csv"',
    },
    "Sanderling-Window-From": {
        "description": "Where the window really begins: later than was asked when retention has cut into it.",
        "schema": {"type": "string", "format": "date-time"},
        "example": "2026-04-21T00:00:00.000Z",
    },
    "Sanderling-Retention-Clamped": {
        "description": "Whether it begins later than was asked.",
        "schema": {"type": "string", "enum": ["true", "false"]},
        "example": "false",
    },
    "Sanderling-Export-End": {
        "description": "The id up to which the file goes: `since` of a stream goes on from it without a gap.",
        "schema": {"type": "string", "format": "uuid"},
        "example": "019db0a4-6a10-7000-8000-0000000000a7",
    },
    "Cache-Control": {
        "description": "How long the answer may be kept.",
        "schema": {"type": "string"},
        "example": "public, max-age=300",
    },
}
