"""The exporter of traces: sends queued spans to the collector at `otlp_endpoint`.

A batch leaves when it is full, or a few seconds after its first span. While a collector is down the exporter retries
the same batch with growing pauses, and the tracer's queue drops its oldest spans. So a dead, slow or wrong collector
costs some lost spans and one request a minute. Requests leave through the guard, as deliveries do.

OTLP 1.x over HTTP, in JSON: spans as the bytes of a request, and the meaning of its answer.
https://opentelemetry.io/docs/specs/otlp/: protobuf's JSON, except that ids are hexadecimal and enums are numbers;
64-bit integers are strings, as everywhere in protobuf's JSON.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import trio

from actors.destination_kinds.kind import Poster
from actors.egress.failures import CheckFailed
from actors.egress.headers import VERSION
from actors.egress.traffic import Egress
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.settings import Settings
from actors.world import World
from extras.tracing.settings import TracingSettings, headers_in
from extras.tracing.span import MOST_IN_LIST, MOST_LINKS, Attributes, Span, Value
from extras.tracing.tracer import Tracer
from supervision import Child, ChildSpec, DynamicSupervisor

PATH: Final = "/v1/traces"
RETRYABLE: Final = frozenset({429, 502, 503, 504})
"""Statuses that allow sending the same request again; all others forbid it."""
HEADERS: Final = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
_ERROR: Final = 2
_GZIP: Final = 31  # zlib's number for a gzip header; its time is 0, so equal spans give equal bytes


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
        found["links"] = [{"traceId": link.trace.hex(), "spanId": link.span.hex()} for link in span.links[:MOST_LINKS]]
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


EVERY: Final = 5.0  # seconds that a span waits for its batch to fill
FLUSH: Final = 3.0  # seconds for the rest of the queue when the service stops
TRIES: Final = 5  # attempts for one batch
FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 60.0  # seconds between attempts: they double, plus up to half at random
LONGEST_WISH: Final = 300.0  # longest Retry-After that is honoured, in seconds


class SpanExporter:
    """The actor that sends spans. headers: the operator's own, secret. resource, scope: identify the sender."""

    def __init__(
        self,
        world: World,
        tracer: Tracer,
        poster: Poster,
        url: Url,
        headers: Mapping[str, str],
        *,
        resource: Attributes,
        scope: Attributes,
        chance: random.Random,
    ) -> None:
        self._world, self._tracer, self._poster, self._url = world, tracer, poster, url
        self._headers = {**headers, **HEADERS}
        self._resource, self._scope, self._chance = resource, scope, chance
        self._held: Sequence[Span] = ()
        self._said, self._pause = "", 0.0

    def __repr__(self) -> str:
        return f"<SpanExporter to {self._url.host}: {self._tracer!r}>"

    async def run(self, child: Child, shown: Child | None = None) -> None:
        """Send until the end, flush once, lose the rest. shown: the child that shows the state, if another."""
        stopping, child = child.stopping, shown or child
        with trio.CancelScope() as sending:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_at, stopping, sending)
                while True:
                    if not self._held:
                        await self._tracer.wait_batch(EVERY)
                        self._held = self._tracer.take()
                    await self._send(child)
        with trio.move_on_after(FLUSH):
            while self._held or len(self._tracer):
                self._held = self._held or self._tracer.take()
                if await self._try(child):
                    break
        self._count("lost", len(self._held) + len(self._tracer))

    async def _send(self, child: Child) -> None:
        """Send the held batch, at most TRIES times, then give it up. If cancelled, the batch stays held."""
        for _ in range(TRIES):
            wait = await self._try(child)
            if not wait:
                return
            await trio.sleep(wait)
        self._count("lost", len(self._held))
        self._held = ()

    async def _try(self, child: Child) -> float:
        found, wish = await self._post(encoded(self._held, self._resource, self._scope), len(self._held))
        if found.again:
            self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
            self._tell(child, found)
            return max(wish, self._pause * (1 + self._chance.random() / 2))
        self._count("refused", found.refused)
        self._count("sent", len(self._held) - found.refused)
        self._held, self._pause = (), 0.0
        self._tell(child, found)
        return 0.0

    async def _post(self, request: bytes, spans: int) -> tuple[ExportOutcome, float]:
        """Post once; return the verdict, and the collector's Retry-After in seconds."""
        try:
            answer = await self._poster.post(self._url, self._headers, request)
        except (CheckFailed, UrlRefused) as error:
            return ExportOutcome(again=True, says=str(error)), 0.0
        return verdict(answer.status, answer.body, spans), min(answer.retry_after or 0.0, LONGEST_WISH)

    def _count(self, outcome: str, spans: int) -> None:
        if spans:
            self._tracer.counts.add(outcome, by=spans)

    def _tell(self, child: Child, found: ExportOutcome) -> None:
        """Show the state in the tree, and log changes of it."""
        counted = ", ".join(f"{number:g} {word}" for (word,), number in sorted(self._tracer.counts.values.items()))
        child.note(f"{found.says or 'the last batch was taken'}; spans: {counted or 'none yet'}"[:300])
        if found.says != self._said:
            level = "warning" if found.says else "info"
            outcome = "failed" if found.says else "sent"
            self._world.log(f"tracing.{outcome}", level=level, host=self._url.host, says=found.says)
        self._said = found.says


async def _cancel_at(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def traced(
    world: World, settings: Settings, tracer: Tracer, egress: Egress, *, version: str, node: str
) -> Sequence[ChildSpec]:
    """Return the exporter of traces. It starts early, to stop after all actors that add spans, and has a separate
    supervisor, so that its crash restarts no other actor.
    """
    many = DynamicSupervisor("tracing", chance=world.chance("supervision/tracing"))
    ours = settings.of(TracingSettings)
    url = parse_url(traces_url(ours.otlp_endpoint), schemes=("http", "https"))
    exporter = SpanExporter(
        world,
        tracer,
        egress.deliver if url.secure else egress.deliver_plain,
        url,
        headers_in(ours.otlp_headers),
        resource={
            "service.name": "sanderling",
            "service.version": version or VERSION,
            "service.instance.id": settings.node_name or node,
        },
        scope={"name": "sanderling", "version": version or VERSION},
        chance=world.chance("tracing"),
    )

    async def run(child: Child) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(many.run, child)
            await many.wait_running()
            many.start_child(ChildSpec("exporter", partial(exporter.run, shown=child)))

    return (ChildSpec("tracing", run, ready_within=10),)
