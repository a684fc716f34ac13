"""Facts that the description cannot give the generator: the format of some values, and that streams never end.

Schemathesis loads this in another process. Every generated URL is on the test's origin or in a network that the guard
refuses, so no request leaves the machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from time import sleep
from typing import Any
from urllib.parse import urljoin

import httpx
import schemathesis
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis.transport import requests

from sanderling.environment import environ
from tests.support.waiting import HANG

KEY = environ()["KEY"]
ORIGIN = environ()["ORIGIN"]
"""Scheme, host and port of the origin."""
OUTSIDE = ("gtm-competitor-watch", "swedish-public-sector")
"""Templates with sources on the public web; those of the third are on the origin."""
_WORDS = st.sampled_from(["price", "tide", "beach", "ebb*", '"low water"', "hamn", "ö", "2026"])
_TERMS = st.lists(_WORDS, min_size=1, max_size=3)
_UUIDS = st.uuids().map(str)
_IDS = st.builds(
    "019db0a4-{:04x}-7{:03x}-8{:03x}-{:012x}".format,
    *(st.integers(0, 2**bits - 1) for bits in (16, 12, 12, 48)),
)
_TIMES = st.sampled_from(["2026-04-21T00:00:00Z", "2030-01-01T00:00:00+02:00", "1970-01-01T00:00:00.000Z"])


def _listed(one: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(one, min_size=1, max_size=3).map(",".join)


FORMATS: dict[str, st.SearchStrategy[str]] = {
    "uri": st.one_of(
        st.integers(0, 5).map(lambda number: f"{ORIGIN}/feed?{number}"),
        st.integers(0, 5).map(lambda number: f"{ORIGIN}/page?{number}"),
        st.sampled_from(["http://10.0.0.1/", "https://169.254.169.254/latest", "ws://[::1]/socket"]),
    ),
    "alert-query": st.one_of(
        _TERMS.map(" ".join), _TERMS.map(" OR ".join), _TERMS.map(lambda terms: f"({' '.join(terms)}) -x")
    ),
    "alert-term": _WORDS,
    "term-list": _listed(_WORDS),
    "tag-list": _listed(st.text(st.characters(codec="utf-8", exclude_characters=","), min_size=1, max_size=30)),
    "tier-list": _listed(st.sampled_from(["push", "feed", "html"])),
    "source-or-prefix": st.one_of(_UUIDS, _UUIDS.map(lambda id: f"{id[:8]}.*")),
    "source-list": _listed(_UUIDS),
    "uuid7": _IDS,
    "place": st.one_of(_IDS, st.just("earliest")),
    "position": st.one_of(_TIMES, _IDS),
    "entity-tags": st.sampled_from(["*", '"5b0e6a3c9f214d775b0e6a3c"', 'W/"a"', '"a", "b"', '""']),
}
for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Point the hosts of the examples to the origin, and the template to one with sources there."""
    text = json.dumps(raw_schema).replace('"gtm-competitor-watch"', '"over-the-origin"')
    for host in ("https://shore.example", "https://hooks.example"):
        text = text.replace(host, ORIGIN)
    raw_schema.update(json.loads(text))


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Drop values that break a rule no schema can state, in requests that must succeed.

    A cursor is valid only with its own request, so drop invented ones. A history filter has 50 values in all, counting
    those between commas, and its window must not end before it begins: keep one end. In every request, restart only
    sources: a restart of the log restarts the front end too, and the generator would report a crash.
    """
    if case.operation.path.endswith("/instantiate") and case.path_parameters.get("template_id") in OUTSIDE:
        case.path_parameters["template_id"] = "clinical-trials-watch"
    part = case.path_parameters.get("path") if case.operation.path.startswith("/v1/admin/tree/{path}/") else None
    if isinstance(part, str) and part.isidentifier():
        case.path_parameters["path"] = "sources/019db0a4-5c00-7000-8000-000000000001"
    if not case.query or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    case.query.pop("cursor", None)
    if case.operation.path.startswith("/v1/events"):
        if "from" in case.query:
            case.query.pop("to", None)
        for name, values in case.query.items():
            if isinstance(values, list):
                case.query[name] = [",".join(value.strip(",").split(",")[:3]) for value in values[:10]]


@schemathesis.check
def whatever_names_its_schema_is_as_that_says(ctx: Any, response: Any, case: Any) -> None:
    """Validate events and problems against the schema that their `$schema` serves."""
    if not (response.content and response.headers.get("content-type", [""])[0].endswith("json")):
        return
    here = urljoin(response.request.url, "/")
    for document in _named(response.json()):
        if document["$schema"].startswith(here):  # the others are examples
            _validator(document["$schema"]).validate(document)


def _named(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects with a `$schema` of this service, at any depth; a schema's own `$schema` is its dialect."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _named(part)
    if isinstance(value, dict) and str(value.get("$schema", "")).endswith("/1.json"):
        yield value


@cache
def _validator(url: str) -> Draft202012Validator:
    schema = httpx.get(url, timeout=HANG).json()
    assert schema["$id"] == url
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def _beginning(chunks: Iterator[bytes], timeout: object, most: int) -> tuple[bytes, bool]:
    """Return only the first chunk of a stream: it never ends, so reading on would run into the timeout."""
    return next(chunks, b""), True


assert callable(requests.read_event_stream)  # type: ignore[attr-defined]  # the only place to hook in
requests.read_event_stream = _beginning  # type: ignore[attr-defined]

_send = requests.RequestsTransport.send


def _patiently(transport: Any, case: Any, **kwargs: Any) -> Any:
    """Send a request, and retry while the limit for requests without a key refuses it."""
    while True:
        response = _send(transport, case, **kwargs)
        if response.status_code != 429 or _has_key(response.request):
            return response
        sleep(int(response.headers["retry-after"][0]))


def _has_key(request: Any) -> bool:
    given = request.headers.get("Authorization", "").removeprefix("Bearer "), request.headers.get("X-API-Key")
    return KEY in given


requests.RequestsTransport.send = _patiently
