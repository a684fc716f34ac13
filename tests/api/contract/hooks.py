"""What the generator can't know from a description: how values of our own formats look, and that streams have no end.

Loaded by schemathesis in its own process. Every URL that it makes lies on the test's origin or in a network that the
guard refuses, so nothing ever leaves the machine.
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
"""Templates whose sources are real pages of the world; the registry of the third one is the origin."""
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
    """Move the hosts of the examples to the origin, and the template to one that is over it."""
    text = json.dumps(raw_schema).replace('"gtm-competitor-watch"', '"over-the-origin"')
    for host in ("https://shore.example", "https://hooks.example"):
        text = text.replace(host, ORIGIN)
    raw_schema.update(json.loads(text))


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Keep to what no schema can say, where nothing is to be refused; and keep inside, whatever is asked.

    A cursor goes on with the request that it came from, so an invented one is left out. And a filter of the history has
    50 values in all, also those between commas; its window does not end before it begins, so one end of it is left out.
    No act on a part of the tree but a source: another life of the log is one of the front end too, and the generator
    would take it for a crash.
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
    """Hold events and problems against what is served at their `$schema`."""
    if not (response.content and response.headers.get("content-type", [""])[0].endswith("json")):
        return
    here = urljoin(response.request.url, "/")
    for document in _named(response.json()):
        if document["$schema"].startswith(here):  # the others are examples
            _validator(document["$schema"]).validate(document)


def _named(value: Any) -> Iterator[dict[str, Any]]:
    """Yield what has a `$schema` of this service, at any depth; schemas themselves name their dialect there."""
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
    """Return how a stream begins, instead of reading on until a timeout: it has no end."""
    return next(chunks, b""), True


assert callable(requests.read_event_stream)  # type: ignore[attr-defined]  # what has no other way in
requests.read_event_stream = _beginning  # type: ignore[attr-defined]

_send = requests.RequestsTransport.send


def _patiently(transport: Any, case: Any, **kwargs: Any) -> Any:
    """Send a request, and again as long as too many came without a key: whether one is let in says the answer after."""
    while True:
        response = _send(transport, case, **kwargs)
        if response.status_code != 429 or _has_key(response.request):
            return response
        sleep(int(response.headers["retry-after"][0]))


def _has_key(request: Any) -> bool:
    given = request.headers.get("Authorization", "").removeprefix("Bearer "), request.headers.get("X-API-Key")
    return KEY in given


requests.RequestsTransport.send = _patiently
