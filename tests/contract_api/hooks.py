"""What the generator can't know from a description: how values of our own formats look, and that streams have no end.

Loaded by schemathesis in its own process. Every URL that it makes lies on the test's origin or in a network that the
guard refuses, so nothing ever leaves the machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis.transport import requests

from sanderling.environment import environ

ORIGIN = environ()["ORIGIN"]
"""Scheme, host and port of the origin."""
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
    "tier-list": _listed(st.sampled_from(["push", "feed", "html"])),
    "source-or-prefix": st.one_of(_UUIDS, _UUIDS.map(lambda id: f"{id[:8]}.*")),
    "source-list": _listed(_UUIDS),
    "uuid7": _IDS,
    "position": st.one_of(_TIMES, _IDS),
    "entity-tags": st.sampled_from(["*", '"5b0e6a3c9f214d775b0e6a3c"', 'W/"a"', '"a", "b"', '""']),
}
for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Move the hosts of the examples to the origin."""
    text = json.dumps(raw_schema)
    for host in ("https://shore.example", "https://hooks.example"):
        text = text.replace(host, ORIGIN)
    raw_schema.update(json.loads(text))


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Leave out an invented cursor where nothing is to be refused: a cursor goes on with the request it came from."""
    if case.query and "cursor" in case.query and case.meta is not None and case.meta.generation.mode.is_positive:
        del case.query["cursor"]


def _beginning(chunks: Iterator[bytes], timeout: object, most: int) -> tuple[bytes, bool]:
    """Return how a stream begins, instead of reading on until a timeout: it has no end."""
    return next(chunks, b""), True


assert callable(requests.read_event_stream)
requests.read_event_stream = _beginning
