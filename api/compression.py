"""Compression (gzip, RFC 1952) of the few bodies that are the same for everyone, each compressed once.

Nothing else is compressed: a body that holds a secret beside a stranger's text would show the secret by its length
(BREACH), and lists and pages of the dashboard hold both. docs/security-limits.md says so.
"""

from __future__ import annotations

import gzip
from functools import lru_cache

from werkzeug.datastructures import Accept, Headers
from werkzeug.http import parse_accept_header

LEAST = 1_000
"""Bytes; shorter bodies stay uncompressed."""
BODIES = 64
"""Compressed bodies to cache."""


def fitting(body: bytes, headers: Headers) -> tuple[bytes, dict[str, str]]:
    """Return a body in an encoding that the client accepts, with headers. Its bytes must be the same for everyone."""
    if len(body) < LEAST:
        return body, {}
    varies = {"Vary": "Accept-Encoding"}
    accepted = parse_accept_header(headers.get("Accept-Encoding", ""), Accept)
    if accepted.quality("gzip") <= 0:
        return body, varies
    return _packed(body), varies | {"Content-Encoding": "gzip"}


@lru_cache(BODIES)
def _packed(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)
