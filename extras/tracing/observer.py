"""The observer that makes spans of the core's reports: one for each trace in a commit, each match and digest.

The steps of one check, recorded as they happen, and turned into spans at its end. The trace is unknown until then: its
id depends on the time of the check, which is that of the answer. A check is sequential, so a step that starts within
another is its child.

Attempts in traces. An attempt's parent is the match of its event, or the making of its digest, so that all attempts
are siblings. Its id is derived from the delivery and the attempt's number: the receiver gets it in `traceparent`
before the outcome is known, and a repetition after a crash uses the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import trio

from actors.destination_kinds.contract import Answer as DestinationAnswer
from actors.destination_kinds.kind import DeliveryTransport, Poster
from actors.egress.failures import CheckFailed, PostMethod, PostResult
from actors.egress.traffic import Egress
from actors.egress.url import Url
from actors.messages.workers import Record
from actors.observer import NO_ATTEMPT, Attempt, CheckSteps, Observer
from actors.settings import Settings
from actors.world import Jail, World
from extras.tracing.exporter import traced
from extras.tracing.identity import (
    SpanContext,
    TracedEvent,
    root_of,
    span_of,
    told_in,
    trace_of_event,
    trace_of_look,
    traceparent,
)
from extras.tracing.settings import TracingSettings
from extras.tracing.span import (
    CLIENT,
    INTERNAL,
    MOST_IN_LIST,
    Attributes,
    Span,
    SpanEvent,
    Value,
    clean,
    error_type,
    host_alone,
)
from extras.tracing.tracer import Times, Tracer
from storage.append import Answer
from storage.errors import StorageError
from storage.records.checks import Row
from storage.records.destination import EMAIL, Delivery, Destination
from storage.records.event import Draft, Stored
from storage.records.identity import Millis, SourceId
from storage.records.source import Source
from storage.records.tiers import POLLED
from supervision import Child, ChildSpec

MOST: Final = 64  # maximum steps recorded per check: five redirects with a robots.txt each make thirty
NONE: Final[Attributes] = {}
_HTTP_MOMENTS: Final = {
    "connection.connect_tcp.complete": "connected",
    "connection.start_tls.complete": "TLS established",
    "http11.send_request_body.complete": "request sent",
    "http11.receive_response_headers.complete": "first byte",
}
"""httpcore's trace events of a request, in our words. Name resolution precedes `connected`."""


class NotedJail:
    """A Jail that records how long the reading of a body took."""

    def __init__(self, jail: Jail, steps: CheckSteps) -> None:
        self._jail, self._steps = jail, steps

    async def run(self, child: Child) -> None:
        await self._jail.run(child)

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task as a step of the trace; see Jail."""
        with self._steps.step("read", {"sanderling.task": task, "sanderling.request.size": len(request)}):
            return await self._jail.call(task, request, deadline=deadline)

    def lacks(self) -> str:
        return self._jail.lacks()


class TracedStep:
    """One step: its start and end, its parent step, and its attributes."""

    __slots__ = ("attributes", "began", "ended", "error", "kind", "moments", "name", "within")

    def __init__(self, name: str, kind: int, within: int, attributes: dict[str, Value]) -> None:
        self.name, self.kind, self.within, self.attributes = name, kind, within, attributes
        self.began = self.ended = trio.current_time()
        self.moments: list[tuple[float, str]] = []
        self.error = ""


class LookSteps(CheckSteps):
    """The steps of one check, or one hop. `at`: the check's time in its events; None if unknown or if it was none."""

    __slots__ = ("_began", "_open", "_steps", "_tracer", "_wall", "at", "attributes", "error", "name", "source")

    def __init__(self, tracer: Tracer, source: SourceId, name: str = "look") -> None:
        self._tracer, self.source, self.name = tracer, source, name
        self._wall, self._began = tracer.now(), trio.current_time()
        self._steps: list[TracedStep] = []
        self._open: list[int] = []
        self.at: Millis | None = None
        self.attributes: dict[str, Value] = {}
        self.error = ""

    def __repr__(self) -> str:
        return f"<LookSteps of {self.source}: {', '.join(step.name for step in self._steps)}>"

    @contextmanager
    def step(self, name: str, attributes: Attributes = NONE, kind: int = INTERNAL) -> Iterator[TracedStep]:
        """Record the block as a step. An exception in it becomes the step's error."""
        step = TracedStep(name, kind, self._open[-1] if self._open else -1, dict(attributes))
        if len(self._steps) < MOST:
            self._open.append(len(self._steps))
            self._steps.append(step)
            step_is_noted = True
        else:
            step_is_noted = False
        try:
            yield step
        except BaseException as error:
            step.error = error_type(error)
            raise
        finally:
            step.ended = trio.current_time()
            if step_is_noted:
                self._open.pop()

    def waited(self, name: str, began: float, attributes: Attributes) -> None:
        """Record a step from a time on the loop's clock until now."""
        with self.step(name, attributes) as step:
            step.began = began

    def request(self, posts: bool, url: str, host: str, port: int) -> AbstractContextManager[TracedStep]:
        method = "POST" if posts else "GET"
        known: Attributes = {
            "http.request.method": method,
            "url.full": url,
            "server.address": host,
            "server.port": port,
        }
        return self.step(method, known, CLIENT)

    def answered(self, status: int) -> None:
        """Record the status of the answer to the open request step."""
        if self._open:
            self._steps[self._open[-1]].attributes["http.response.status_code"] = status

    async def http_moment(self, name: str, info: dict[str, Any]) -> None:
        """Record an httpcore event of the open request step (its extension `trace`)."""
        if (moment := _HTTP_MOMENTS.get(name)) is not None and self._open:
            self._steps[self._open[-1]].moments.append((trio.current_time(), moment))

    def extensions(self) -> Mapping[str, Any]:
        return {"trace": self.http_moment}

    def jail(self, jail: Jail) -> Jail:
        return NotedJail(jail, self)

    def looked(self, source: Source, row: Row, told: int) -> None:
        self._tell(source, row.last_at)
        self.attributes["sanderling.look.verdict"] = row.verdict.name.lower()
        self.attributes["sanderling.look.told"] = told

    def failed(self, source: Source, failure: CheckFailed, at: Millis) -> None:
        """Record a failed check. The reason is our own sentence, never the origin's."""
        self._tell(source, at)
        self.error = error_type(failure)
        self.attributes["sanderling.look.failure"] = failure.reason

    def hopped(self, source: Source, url: str, at: Millis, failure: CheckFailed | None = None) -> None:
        if failure is not None:
            self.failed(source, failure, at)
        self._tell(source, at)
        self.attributes["url.full"] = url

    def _tell(self, source: Source, at: Millis) -> None:
        self.at = at
        self.attributes |= {"sanderling.source.type": source.type, "url.full": source.watch_url}

    def end(self) -> None:
        """Pass the spans to the tracer, if this was a check and its trace is sampled."""
        if self.at is None or not self._tracer.samples(trace := trace_of_look(self.source, self.at)):
            return
        root = root_of(trace)
        ids = [span_of(trace, "step", str(number)) for number in range(len(self._steps))]
        spans = [
            Span(
                trace,
                ids[number],
                ids[step.within] if step.within >= 0 else root,
                step.name,
                step.kind,
                self._nanos(step.began),
                self._nanos(step.ended),
                _cleaned(step.attributes),
                step.error,
                [SpanEvent(self._nanos(at), name) for at, name in step.moments],
            )
            for number, step in enumerate(self._steps)
        ]
        attributes = _cleaned({"sanderling.source.id": self.source, **self.attributes})
        end = self._nanos(trio.current_time())
        self._tracer.put(Span(trace, root, b"", self.name, INTERNAL, self._wall, end, attributes, self.error), *spans)

    def _nanos(self, at: float) -> int:
        return self._wall + round((at - self._began) * 1e9)


def _cleaned(attributes: dict[str, Value]) -> dict[str, Value]:
    return {name: clean(value) if isinstance(value, str) else value for name, value in attributes.items()}


HEADER = "traceparent"


class _TracedPoster:
    def __init__(self, poster: Poster, traceparent: str) -> None:
        self._poster, self._traceparent = poster, traceparent

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body; see Poster. A header set by the receiver's owner stays."""
        if not any(name.lower() == HEADER for name in headers):
            headers = {**headers, HEADER: self._traceparent}
        return await self._poster.post(url, headers, body, method)


@dataclass(frozen=True, slots=True)
class TracedAttempt(Attempt):
    """context: the own span. parent: its parent. began: by the loop's clock. known: attributes so far."""

    tracer: Tracer
    context: SpanContext
    parent: bytes
    sampled: bool
    began: float
    number: int
    known: Attributes

    def transport(self, transport: DeliveryTransport) -> DeliveryTransport:
        parent = traceparent(self.context, sampled=self.sampled)
        deliver, deliver_plain = (_TracedPoster(it, parent) for it in (transport.deliver, transport.deliver_plain))
        return transport._replace(deliver=deliver, deliver_plain=deliver_plain)

    def ended(self, destination: Destination, answer: DestinationAnswer) -> None:
        """Record the end of an attempt, without the receiver's response, and with only the host of its address."""
        if not self.sampled:
            return
        attributes: dict[str, Value] = {
            **self.known,
            "sanderling.destination.id": destination.id,
            "sanderling.destination.kind": destination.kind,
            "sanderling.delivery.outcome": answer.outcome,
        }
        name = "mail"
        if destination.kind != EMAIL:
            name = "POST"
            attributes |= {"http.request.method": name, "url.full": host_alone(destination.url)}
            attributes["server.address"] = urlsplit(destination.url).hostname or ""
            if self.number > 1:
                attributes["http.request.resend_count"] = self.number - 1
            if answer.status is not None:
                attributes["http.response.status_code"] = answer.status
        error = "" if answer.delivered else str(answer.status or answer.outcome)
        times = self.tracer.since(self.began)
        self.tracer.put(Span(*self.context, self.parent, name, CLIENT, *times, attributes, error))


def begun(tracer: Tracer, delivery: Delivery) -> TracedAttempt | None:
    """Return the attempt that begins now; None if its body can't be read."""
    told = told_in(delivery.body)
    if told is None:
        return None
    span = span_of(told.trace, "attempt", delivery.destination, delivery.event_id, str(delivery.attempt))
    known: Attributes = {
        "sanderling.digest.id" if told.is_digest else "sanderling.event.id": delivery.event_id,
        "sanderling.delivery.attempt": delivery.attempt,
    }
    sampled, now = tracer.samples(told.trace), trio.current_time()
    return TracedAttempt(
        tracer, SpanContext(told.trace, span), told.matched.span, sampled, now, delivery.attempt, known
    )


def begun_test(tracer: Tracer, id: str) -> TracedAttempt:
    """Return the attempt of a sample that begins now, with a new trace: a test looks like a delivery."""
    trace = trace_of_event(id)
    context = SpanContext(trace, root_of(trace))
    known: Attributes = {"sanderling.event.id": id, "sanderling.delivery.test": True}
    return TracedAttempt(tracer, context, b"", tracer.samples(trace), trio.current_time(), 1, known)


class MatchedEvent(NamedTuple):
    """An event, its alerts, and the time of its matching by the loop's clock."""

    told: TracedEvent
    source: SourceId
    alerts: Sequence[str]
    began: float


class TracingObserver(Observer):
    """Puts spans into the tracer."""

    __slots__ = ("_settings", "_world", "tracer")

    def __init__(self, world: World, settings: Settings) -> None:
        self._world, self._settings = world, settings
        self.tracer = Tracer(world.wall, settings.of(TracingSettings).otlp_sampling, world.metrics.spans)

    def children(self, egress: Egress, *, version: str, node: str) -> Sequence[ChildSpec]:
        return traced(self._world, self._settings, self.tracer, egress, version=version, node=node)

    def steps(self, source: SourceId, name: str = "look") -> CheckSteps:
        return LookSteps(self.tracer, source, name)

    def committed(self, records: Sequence[Record], answers: Sequence[Answer], began: float) -> None:
        times = self.tracer.since(began)
        for record, answer in zip(records, answers, strict=True):
            if not isinstance(answer, StorageError) and answer:
                self.tracer.put(*self._committed(record, answer, times, len(records)))

    def _committed(self, record: Record, events: Sequence[Stored], times: Times, group: int) -> Iterator[Span]:
        pairs = [
            (told, draft)
            for event, draft in zip(events, record.harvest.drafts, strict=False)
            if (told := told_in(event.body)) is not None
        ]
        for trace, same in groupby(pairs, lambda pair: pair[0].trace):
            if not self.tracer.samples(trace):
                continue
            members = list(same)
            if not record.from_check:
                yield _root(record, members[0][1], trace, times)
            yield commit_of(record, [each for each, _ in members], times, group)

    def matched(self, event: Stored, alerts: Sequence[str]) -> Sequence[MatchedEvent]:
        told = told_in(event.body)
        if told is None or not self.tracer.samples(told.trace):
            return ()
        return (MatchedEvent(told, event.source, alerts, trio.current_time()),)

    def stored(self, matches: Sequence[MatchedEvent]) -> None:
        for told, source, alerts, began in matches:
            attributes: Attributes = {
                "sanderling.source.id": source,
                "sanderling.event.id": told.id,
                "sanderling.alerts": len(alerts),
                "sanderling.alert.ids": list(alerts[:MOST_IN_LIST]),
            }
            times = self.tracer.since(began)
            above = root_of(told.trace)
            self.tracer.put(Span(told.trace, told.matched.span, above, "match", INTERNAL, *times, attributes))

    def attempt(self, delivery: Delivery) -> Attempt:
        return begun(self.tracer, delivery) or NO_ATTEMPT

    def attempt_test(self, id: str) -> Attempt:
        return begun_test(self.tracer, id)

    def linked(self, events: Sequence[bytes]) -> Sequence[SpanContext]:
        told = [found for event in events if (found := told_in(event)) is not None]
        return [each.matched for each in told if self.tracer.samples(each.trace)]

    def digested(
        self, id: str, destination: Destination, links: Sequence[SpanContext], *, events: int, began: float
    ) -> None:
        trace = trace_of_event(id)
        if not self.tracer.samples(trace):
            return
        attributes: Attributes = {
            "sanderling.destination.id": destination.id,
            "sanderling.digest.id": id,
            "sanderling.events": events,
        }
        times = self.tracer.since(began)
        self.tracer.put(Span(trace, root_of(trace), b"", "digest", INTERNAL, *times, attributes, links=links))


def commit_of(record: Record, events: Sequence[TracedEvent], times: Times, group: int) -> Span:
    attributes: Attributes = {
        "sanderling.source.id": record.harvest.source,
        "sanderling.events": len(events),
        "sanderling.event.ids": [event.id for event in events[:MOST_IN_LIST]],
        "sanderling.commit.harvests": group,
    }
    trace = events[0].trace
    return Span(trace, span_of(trace, "commit", events[0].id), root_of(trace), "commit", INTERNAL, *times, attributes)


def _root(record: Record, draft: Draft, trace: bytes, times: Times) -> Span:
    name = "notice" if draft.alert_type is not None else "first look" if draft.source_type in POLLED else "frame"
    attributes = {"sanderling.source.id": record.harvest.source, "sanderling.source.type": draft.source_type}
    start = min(draft.fetched_at * 1_000_000, times.end)
    return Span(trace, root_of(trace), b"", name, INTERNAL, start, times.end, attributes)
