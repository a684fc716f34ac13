"""A trace collector in memory: takes OTLP/HTTP requests and records violations as faults of the test.

It checks each payload twice, strictly: against the specification, here, and with the protocol's own classes.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, web

HOST = "collector.test"
ENDPOINT = f"https://{HOST}"
_TRACE, _SPAN = (re.compile(rf"[0-9a-f]{{{size}}}") for size in (32, 16))
_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,19})")
_FIELDS = {
    *("traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"),
    *("attributes", "events", "links", "droppedLinksCount", "status"),
}


class Seen(NamedTuple):
    trace: str
    id: str
    parent: str
    name: str
    kind: int
    start: int
    end: int
    attributes: Mapping[str, Any]
    moments: Sequence[str]
    links: Sequence[tuple[str, str]]
    failed: bool


@dataclass
class Collector:
    """answers: for the next requests, the last one for ever. raw: the decompressed bodies."""

    answers: list[Answer] = field(default_factory=lambda: [Answer(body=b"{}")])
    asked: list[ReceivedRequest] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    spans: list[Seen] = field(default_factory=list)
    resources: list[Mapping[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def join(self, network: MemoryNetwork, port: int = 443) -> None:
        network.add(HOST, "93.184.216.99", web(self.take, self.asked), port)

    def take(self, asked: ReceivedRequest) -> Answer:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        try:
            spans, resource = self._read(asked)
        except Exception as error:
            self.faults.append(repr(error))
            raise
        if answer.status == 200:
            self.spans += spans
            self.resources.append(resource)
        return answer

    def named(self, name: str) -> list[Seen]:
        return [span for span in self.spans if span.name == name]

    def of(self, trace: str) -> list[Seen]:
        return [span for span in self.spans if span.trace == trace]

    def orphans(self) -> list[Seen]:
        """Spans whose parent never came."""
        known = {(span.trace, span.id) for span in self.spans}
        return [span for span in self.spans if span.parent and (span.trace, span.parent) not in known]

    def doubles(self) -> list[str]:
        ids = [span.id for span in self.spans]
        return [id for id in set(ids) if ids.count(id) > 1]

    def _read(self, asked: ReceivedRequest) -> tuple[list[Seen], Mapping[str, Any]]:
        assert (asked.method, asked.target) == ("POST", "/v1/traces")
        assert asked.headers["content-type"] == "application/json" and asked.headers["content-encoding"] == "gzip"
        body = zlib.decompress(asked.body, 31)
        self.raw.append(body)
        request = json.loads(body)
        as_protobuf(request)
        assert request.keys() == {"resourceSpans"}
        (resource_spans,) = request["resourceSpans"]
        assert resource_spans.keys() == {"resource", "scopeSpans"}
        (scope_spans,) = resource_spans["scopeSpans"]
        assert scope_spans["scope"].keys() == {"name", "version"}
        assert scope_spans["spans"]
        return [seen(span) for span in scope_spans["spans"]], values(resource_spans["resource"]["attributes"])


def seen(span: Mapping[str, Any]) -> Seen:
    """Return the span if it follows the JSON mapping strictly. Raises AssertionError."""
    assert span.keys() <= _FIELDS, span.keys() - _FIELDS
    assert _TRACE.fullmatch(span["traceId"]) and set(span["traceId"]) != {"0"}
    assert _SPAN.fullmatch(span["spanId"]) and set(span["spanId"]) != {"0"}
    parent = span.get("parentSpanId", "")
    assert parent == "" or _SPAN.fullmatch(parent)
    assert span["name"] and span["kind"] in (1, 2, 3) and type(span["kind"]) is int
    start, end = nanos(span["startTimeUnixNano"]), nanos(span["endTimeUnixNano"])
    assert 0 < start <= end
    for moment in span.get("events", []):
        assert moment.keys() == {"timeUnixNano", "name"} and start <= nanos(moment["timeUnixNano"]) <= end
    for link in span.get("links", []):
        assert _TRACE.fullmatch(link["traceId"]) and _SPAN.fullmatch(link["spanId"])
    status = span.get("status", {"code": 0})
    assert status in ({"code": 0}, {"code": 2})
    known = values(span["attributes"])
    assert (status["code"] == 2) is ("error.type" in known)
    links = [(link["traceId"], link["spanId"]) for link in span.get("links", [])]
    moments = [moment["name"] for moment in span.get("events", [])]
    ids = (span["traceId"], span["spanId"], parent)
    return Seen(*ids, span["name"], span["kind"], start, end, known, moments, links, status["code"] == 2)


def nanos(text: object) -> int:
    assert isinstance(text, str) and _DECIMAL.fullmatch(text), f"a 64-bit integer is a text, not {text!r}"
    return int(text)


def values(attributes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = [attribute["key"] for attribute in attributes]
    assert len(names) == len(set(names)), "keys of attributes are unique"
    assert all(attribute.keys() == {"key", "value"} and attribute["key"] for attribute in attributes)
    return {attribute["key"]: _value(attribute["value"]) for attribute in attributes}


def _value(value: Mapping[str, Any]) -> Any:
    ((kind, found),) = value.items()
    match kind:
        case "stringValue":
            assert isinstance(found, str) and len(found) <= 1024
        case "intValue":
            assert isinstance(found, str) and re.fullmatch(r"-?[0-9]+", found)
            return int(found)
        case "doubleValue":
            assert isinstance(found, float)
        case "boolValue":
            assert isinstance(found, bool)
        case "arrayValue":
            assert len({*map(tuple, found["values"])}) <= 1
            return [_value(each) for each in found["values"]]
        case _:
            raise AssertionError(kind)
    return found


def as_protobuf(request: Any) -> ExportTraceServiceRequest:
    """Parse a request with the protocol's own classes, which take ids only in base64. Raises ParseError."""

    def with_base64(node: Any) -> Any:
        if isinstance(node, dict):
            ids = ("traceId", "spanId", "parentSpanId")
            return {
                key: base64.b64encode(bytes.fromhex(value)).decode() if key in ids else with_base64(value)
                for key, value in node.items()
            }
        return [with_base64(each) for each in node] if isinstance(node, list) else node

    return json_format.ParseDict(with_base64(request), ExportTraceServiceRequest())
