"""OTLP 1.x over HTTP, in JSON: spans as the bytes of a request, and the meaning of its answer.

https://opentelemetry.io/docs/specs/otlp/: protobuf's JSON, except that ids are hexadecimal and enums are numbers;
64-bit integers are strings, as everywhere in protobuf's JSON.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from extras.tracing.span import MOST_IN_LIST, MOST_LINKS, Attributes, Span, Value

PATH: Final = "/v1/traces"
RETRYABLE: Final = frozenset({429, 502, 503, 504})
"""Statuses that allow sending the same request again; all others forbid it."""
HEADERS: Final = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
_ERROR: Final = 2
_GZIP: Final = 31
"""zlib's number for a gzip header; its time is 0, so equal spans give equal bytes."""


class ExportOutcome(NamedTuple):
    """again: retry it unchanged. refused: spans that the collector rejected. says: the reason, "" if all is well."""

    again: bool = False
    refused: int = 0
    says: str = ""


class _Partial(msgspec.Struct, frozen=True):
    rejected: int | str = msgspec.field(name="rejectedSpans", default=0)
    message: str = msgspec.field(name="errorMessage", default="")


class _Answer(msgspec.Struct, frozen=True):
    partial: _Partial | None = msgspec.field(name="partialSuccess", default=None)


def traces_url(endpoint: str) -> str:
    """Return the URL for traces at a collector's address.

    >>> traces_url("http://127.0.0.1:4318/"), traces_url("https://otlp.test/x/v1/traces")
    ('http://127.0.0.1:4318/v1/traces', 'https://otlp.test/x/v1/traces')
    """
    base = endpoint.rstrip("/")
    return base if base.endswith(PATH) else base + PATH


def encoded(spans: Sequence[Span], resource: Attributes, scope: Attributes) -> bytes:
    """Return a compressed request with spans. scope: the name and version of their producer."""
    body = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": dict(scope), "spans": [_span(span) for span in spans]}],
            }
        ]
    }
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    return packer.compress(msgspec.json.encode(body)) + packer.flush()


def verdict(status: int, body: bytes, spans: int) -> ExportOutcome:
    """Return the meaning of an answer to a request with that many spans."""
    if status in RETRYABLE:
        return ExportOutcome(again=True, says=f"it answered {status}")
    if status != 200:
        return ExportOutcome(refused=spans, says=f"it answered {status}")
    try:
        partial = msgspec.json.decode(body, type=_Answer).partial
        refused = 0 if partial is None else int(partial.rejected)
    except (msgspec.MsgspecError, ValueError):
        return ExportOutcome()  # accepted, with an unusual body
    if partial is None or not (refused or partial.message):
        return ExportOutcome()
    message = "".join(c if c.isprintable() else " " for c in partial.message)[:200]
    return ExportOutcome(refused=min(max(refused, 0), spans), says=f"it refused {refused} spans: {message}")


def _span(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {
        "traceId": span.trace.hex(),
        "spanId": span.id.hex(),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(max(span.start, span.end)),
        "attributes": _attributes(span.attributes),
    }
    if span.parent:
        found["parentSpanId"] = span.parent.hex()
    if span.error:
        found["attributes"].append({"key": "error.type", "value": {"stringValue": span.error}})
        found["status"] = {"code": _ERROR}
    if span.moments:
        found["events"] = [{"timeUnixNano": str(moment.at), "name": moment.name} for moment in span.moments]
    if span.links:
        links = span.links[:MOST_LINKS]
        found["links"] = [{"traceId": link.trace.hex(), "spanId": link.span.hex()} for link in links]
        if len(span.links) > MOST_LINKS:
            found["droppedLinksCount"] = len(span.links) - MOST_LINKS
    return found


def _attributes(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items()]


def _value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"arrayValue": {"values": [_value(each) for each in value[:MOST_IN_LIST]]}}
