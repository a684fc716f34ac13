"""Pages of other origins: which may read what the API answers (the CORS protocol of the Fetch standard). Pure.

The operator names origins, exactly; the default is none. Keys travel in headers that a page must set itself, so there
are no credentials in the protocol's sense: cookies open nothing here, and `Access-Control-Allow-Credentials` is never
sent. An origin that is not named gets the same answers without a word about it, and its browser keeps them from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from werkzeug.datastructures import Headers

MAX_AGE = 7_200
"""Seconds for which a browser need not ask again; none keeps it longer."""
SENT = (
    *("Authorization", "X-API-Key", "Content-Type", "Last-Event-ID", "If-Match", "If-None-Match"),
    *("Idempotency-Key", "X-Request-Id", "MCP-Protocol-Version", "Mcp-Session-Id"),
)
"""Headers of a request that a page may set."""
SEEN = (
    *("Sanderling-Replay-From", "X-Request-Id", "Link", "ETag", "Location", "Retry-After", "Allow"),
    *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"),
    *("Idempotency-Replayed", "WWW-Authenticate", "Mcp-Session-Id"),
)
"""Headers of an answer that a page may read."""


def named_origin(headers: Headers, origins: Collection[str]) -> str | None:
    """Return whose page asks, when that is one of those that the operator named."""
    said = headers.getlist("Origin")
    return said[0] if len(said) == 1 and said[0] in origins else None


def preflight(headers: Headers, origins: Collection[str], methods: Iterable[str]) -> Mapping[str, str] | None:
    """Return the headers of the answer to a browser that asks before it sends; None when this is no such question.

    methods: what the path has.
    """
    if named_origin(headers, origins) is None or "Access-Control-Request-Method" not in headers:
        return None
    return {
        "Access-Control-Allow-Methods": ", ".join(sorted(methods)),
        "Access-Control-Allow-Headers": ", ".join(SENT),
        "Access-Control-Max-Age": str(MAX_AGE),
    }


def readable(headers: Headers, origins: Collection[str]) -> Mapping[str, str]:
    """Return what every answer says of who may read it: nothing at all while no origin is named."""
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
