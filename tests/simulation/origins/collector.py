"""A collector of traces, not watched by any source; it takes spans over OTLP, or has the troubles of its host."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import trio

from tests.simulation.network import Host
from tests.simulation.origins import troubles
from tests.simulation.origins.texts import EPOCH
from tests.simulation.serving import Answer, Request
from tests.simulation.trace import Trace

TAKEN = Answer(200, b"{}", {"content-type": "application/json"})
_GZIP = 31


@dataclass(frozen=True, slots=True)
class SentSpan:
    """A span as sent; a repeated one appears again. trace, id, parent: in hexadecimal digits.

    at: when it came. began, ended: by the service's clock, in seconds since the world began.
    """

    at: float
    trace: str
    id: str
    parent: str
    name: str
    began: float
    ended: float
    attributes: Mapping[str, Any]


@dataclass(slots=True)
class Collector:
    """Keeps all spans, even those of refused batches."""

    host: Host
    trace: Trace
    spans: list[SentSpan] = field(default_factory=list)

    async def respond(self, request: Request) -> Answer:
        """Take a batch of spans, or suffer the host's present fault."""
        await trio.lowlevel.checkpoint()
        answer = troubles.suffered(self.host, request, TAKEN)
        before = len(self.spans)
        self.spans += _spans(json.loads(zlib.decompress(request.body, _GZIP)))
        self.trace.note(self.host.name, f"takes spans, {answer.status}", spans=len(self.spans) - before)
        return answer


def _spans(sent: Mapping[str, Any]) -> Iterator[SentSpan]:
    for resource in sent["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                yield SentSpan(
                    trio.current_time(),
                    span["traceId"],
                    span["spanId"],
                    span.get("parentSpanId", ""),
                    span["name"],
                    int(span["startTimeUnixNano"]) / 1e9 - EPOCH,
                    int(span["endTimeUnixNano"]) / 1e9 - EPOCH,
                    {each["key"]: _value(each["value"]) for each in span["attributes"]},
                )


def _value(value: Mapping[str, Any]) -> Any:
    ((kind, held),) = value.items()
    match kind:
        case "intValue":
            return int(held)
        case "arrayValue":
            return [_value(each) for each in held["values"]]
    return held
