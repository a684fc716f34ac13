"""Entity tags (RFC 9110, 8.8.3 and 13.1) and compression (RFC 1952) of answers.

A tag covers settings only (docs/decisions/etags.md). The transaction that changes a record compares it.

Only documents that are equal for everyone are compressed: a body that holds a secret next to a stranger's text would
show the secret by its length (BREACH), and lists and pages of the dashboard hold both. See docs/security-limits.md.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from werkzeug.datastructures import Accept, Headers
from werkzeug.http import parse_accept_header

from api.problems import invalid
from api.route import JSON, PUBLIC, Answer, Call, Route
from storage.records.revision import ANY, NOTHING, Expected, Record, revision_of

MINUTES = {"Cache-Control": "public, max-age=300"}
HOUR = {"Cache-Control": "public, max-age=3600"}
_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_LIST = re.compile(r'\s*(W/)?"[^"]*"(\s*,\s*(W/)?"[^"]*")*\s*')


def etag_of(record: Record) -> dict[str, str]:
    return {"ETag": f'"{revision_of(record)}"'}


def shown(call: Call, record: Record, body: Any) -> Answer:
    """Return the answer that shows a record, or 304 if the client has this revision."""
    known = _named(call, "If-None-Match", weak=True)
    if known is not None and not known.isdisjoint((ANY, revision_of(record))):
        return Answer(None, 304, headers=etag_of(record))
    return Answer(body, headers=etag_of(record))


def created(call: Call, place: str, record: Record, body: Any) -> Answer:
    """Return the answer to a call that made a record at `place`, a path below /v1."""
    headers = {"Location": f"{call.context.settings.public_url()}/v1/{place}"}
    return Answer(body, 201, headers=headers | etag_of(record))


def expected(call: Call) -> Expected:
    """Return the revisions that a change may start from, or None without If-Match. Raises Refusal (400)."""
    return _named(call, "If-Match", weak=False)


def expected_by_put(call: Call) -> Expected:
    """Return the revisions that a PUT may start from, or `NOTHING` for `If-None-Match: *`. Raises Refusal (400)."""
    known = _named(call, "If-None-Match", weak=True)
    if known is None:
        return expected(call)
    if ANY not in known:
        raise invalid("header.If-None-Match", "can only be * here, because nothing exists yet", ", ".join(known))
    return NOTHING


def deleting(act: Callable[[Call, str, Expected], Awaitable[None]]) -> Callable[[Call], Awaitable[Answer]]:
    async def run(call: Call) -> Answer:
        (id,) = call.path.values()
        await act(call, id, expected(call))
        return Answer(status=204)

    return run


def _named(call: Call, header: str, *, weak: bool) -> frozenset[str] | None:
    """Return the tags in a header. Where weak tags do not count, they are left out."""
    if header not in call.headers:
        return None
    text = ",".join(call.headers.getlist(header)).strip()
    if text == ANY:
        return frozenset((ANY,))
    if not _LIST.fullmatch(text):
        raise invalid(f"header.{header}", 'must be * or a list of entity tags such as "5b0e6a"', text)
    return frozenset(tag for is_weak, tag in _TAG.findall(text) if weak or not is_weak)


LEAST = 1_000  # bytes; shorter bodies stay uncompressed
BODIES = 64  # compressed bodies to cache


def fitting(body: bytes, headers: Headers) -> tuple[bytes, dict[str, str]]:
    """Return a body in an encoding that the client accepts, with headers. Its bytes must be the same for everyone."""
    if len(body) < LEAST:
        return body, {}
    varies = {"Vary": "Accept-Encoding"}
    accepted = parse_accept_header(headers.get("Accept-Encoding", ""), Accept)
    if accepted.quality("gzip") <= 0:
        return body, varies
    return _packed(body), varies | {"Content-Encoding": "gzip"}


_packed = lru_cache(BODIES)(partial(gzip.compress, mtime=0))


def cached_document(
    path: str, body: Callable[[Call], bytes], says: str, media: str = JSON, headers: Mapping[str, str] = MINUTES
) -> Route:
    """Return the route of a document, which `body` makes once."""

    async def serve(call: Call) -> Answer:
        found, more = fitting(body(call), call.headers)
        return Answer(found, media=media, headers={**headers, **more})

    return describing(path, serve, says, media.partition(";")[0])


def describing(path: str, run: Any, says: str, media: str) -> Route:
    answers = {200: dict[str, Any] if media.endswith("json") else str}
    more: dict[str, Any] = {"answers": answers, "media": media, "headers": ("Cache-Control",)}
    return Route(method="GET", path=path, scope=PUBLIC, run=run, says=says, **more)
