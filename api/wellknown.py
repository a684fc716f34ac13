"""What needs no key: published signing keys, health, schemas, and the pages that problem types resolve to."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec
import trio

from actors.errors import NotFound
from api.problems import KINDS, FieldError, Problem, Refusal
from api.route import PUBLIC, Answer, Call, Route
from api.v1 import schemas as wire
from api.v1.events import EventsPage
from storage.records.event import Event

WRITER_SILENCE = 30.0
"""Seconds without a sign of life of the writer after which the process is called unhealthy."""
HOUR = "public, max-age=3600"
SCHEMAS: dict[str, Any] = {
    "stream-event": Event,
    "problem": Problem,
    "source": wire.SourceRecord,
    "source-health": wire.SourceHealth,
    "source-status": wire.SourceStatus,
    "events-page": EventsPage,
}
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><h1>{title}</h1><p>HTTP status {status}, problem <code>{slug}</code>.</p><p>{says}</p>{others}</body></html>
"""


async def jwks(call: Call) -> Answer:
    """Return the public keys that events are signed with (RFC 7517)."""
    headers = {"Cache-Control": "public, max-age=300"}
    return Answer(await call.doors.jwks(), media="application/jwk-set+json", headers=headers)


async def healthz(call: Call) -> Answer:
    """Tell whether the process is alive: it answers, and its writer has moved lately."""
    silence = trio.current_time() - call.doors.storage.writer_moved_at()
    if silence > WRITER_SILENCE:
        detail = f"The writer has not moved for {silence:.0f} s."
        raise Refusal("unavailable", detail, [FieldError("writer", detail)], {"Retry-After": "10"})
    return Answer({"status": "ok"})


async def readyz(call: Call) -> Answer:
    """Tell whether the service can do its work, and which part cannot; and how many due looks have not happened."""
    parts = dict(call.doors.readiness())
    if call.doors.draining():
        parts["service"] = "The service is stopping."
    failing = [FieldError(name, says) for name, says in parts.items() if says]
    if failing:
        names = ", ".join(error.location for error in failing)
        raise Refusal("unavailable", f"Not ready: {names}.", failing, {"Retry-After": "5"})
    return Answer({"status": "ready", "parts": sorted(parts), "overdue": call.doors.overdue()})


async def schema(call: Call) -> Answer:
    """Return a JSON Schema (2020-12)."""
    kind = SCHEMAS.get(call.path["name"])
    if kind is None or call.path["version"] != "1.json":
        raise NotFound(f"There is no such schema; there are {', '.join(SCHEMAS)}.")
    base_url = call.doors.settings.public_url()
    (top,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    body = {"$schema": DIALECT, "$id": f"{base_url}/schemas/{call.path['name']}/1.json", **top, "$defs": parts}
    return Answer(body, media="application/schema+json", headers={"Cache-Control": HOUR})


async def problem(call: Call) -> Answer:
    """Return the page that explains a problem type."""
    slug = call.path["slug"]
    kind = KINDS.get(slug)
    if kind is None:
        raise NotFound(f"There is no such problem type; there are {', '.join(KINDS)}.")
    items = "".join(f'<li><a href="{other}">{other}</a></li>' for other in KINDS if other != slug)
    others = f"<h2>Other problems</h2><ul>{items}</ul>"
    page = _PAGE.format(title=escape(kind.title), status=kind.status, slug=slug, says=escape(kind.says), others=others)
    headers = {"Cache-Control": HOUR, "Content-Security-Policy": "default-src 'none'"}
    return Answer(page.encode(), media="text/html; charset=utf-8", headers=headers)


def _route(path: str, run: Any, says: str, media: str = "application/json") -> Route:
    answer = dict[str, Any] if media.endswith("json") else str
    return Route(method="GET", path=path, scope=PUBLIC, run=run, says=says, answers={200: answer}, media=media)


ROUTES = (
    _route("/.well-known/jwks.json", jwks, "Read the keys that events are signed with.", "application/jwk-set+json"),
    _route("/healthz", healthz, "Ask whether the process is alive."),
    _route("/readyz", readyz, "Ask whether the service can do its work."),
    _route("/schemas/{name}/{version}", schema, "Read a JSON Schema.", "application/schema+json"),
    _route("/problems/{slug}", problem, "Read what a problem type means.", "text/html"),
)
