"""CORS (Fetch standard): which origins may read the API's answers. Pure.

The operator lists exact origins; the default is none. Keys travel in headers that a page sets itself, and cookies open
nothing here, so `Access-Control-Allow-Credentials` is never sent. Other origins get the same answers without CORS
headers, and the browser blocks them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from werkzeug.datastructures import Headers

MAX_AGE = 7_200
"""Seconds that a browser may cache the preflight; no browser caches it longer."""
SENT = (
    *("Authorization", "X-API-Key", "Content-Type", "Last-Event-ID", "If-Match", "If-None-Match"),
    *("Idempotency-Key", "X-Request-Id", "MCP-Protocol-Version", "Mcp-Session-Id"),
)
"""Request headers that a page may set."""
SEEN = (
    *("Sanderling-Replay-From", "X-Request-Id", "Link", "ETag", "Location", "Retry-After", "Allow"),
    *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"),
    *("Idempotency-Replayed", "WWW-Authenticate", "Mcp-Session-Id"),
)
"""Answer headers that a page may read."""


def named_origin(headers: Headers, origins: Collection[str]) -> str | None:
    """Return the request's origin if the operator allows it."""
    said = headers.getlist("Origin")
    return said[0] if len(said) == 1 and said[0] in origins else None


def preflight(headers: Headers, origins: Collection[str], methods: Iterable[str]) -> Mapping[str, str] | None:
    """Return the headers that answer a preflight, or None if it is none. methods: those of the path."""
    if named_origin(headers, origins) is None or "Access-Control-Request-Method" not in headers:
        return None
    return {
        "Access-Control-Allow-Methods": ", ".join(sorted(methods)),
        "Access-Control-Allow-Headers": ", ".join(SENT),
        "Access-Control-Max-Age": str(MAX_AGE),
    }


def readable(headers: Headers, origins: Collection[str]) -> Mapping[str, str]:
    """Return the CORS headers of every answer; none without allowed origins."""
    if not origins:
        return {}
    origin = named_origin(headers, origins)
    if origin is None:
        return {"Vary": "Origin"}
    return {
        "Vary": "Origin",
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": ", ".join(SEEN),
    }
