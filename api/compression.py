"""Compression (gzip, RFC 1952) of the few bodies that are the same for everybody, made once each.

Nothing else is compressed: a body that holds a secret beside a stranger's text would show the secret by its length
(BREACH), and lists and pages of the dashboard hold both. docs/security-limits.md says so.
"""

from __future__ import annotations

import gzip
from functools import lru_cache

from werkzeug.datastructures import Accept, Headers
from werkzeug.http import parse_accept_header

LEAST = 1_000
"""Bytes of a body below which it stays as it is."""
BODIES = 64
"""Bodies whose compressed form is kept."""


def fitting(body: bytes, headers: Headers) -> tuple[bytes, dict[str, str]]:
    """Return a body in the form that the reader takes, with the headers that say so. The same bytes for everybody."""
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
