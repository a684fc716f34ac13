"""Attempts in traces.

An attempt's parent is the match of its event, or the making of its digest, so that all attempts are siblings. Its id
is derived from the delivery and the attempt's number: the receiver gets it in `traceparent` before the outcome is
known, and a repetition after a crash uses the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import trio

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.kind import DeliveryTransport, Poster
from actors.egress.failures import PostMethod, PostResult
from actors.egress.url import Url
from actors.observer import Attempt
from extras.tracing.identity import SpanContext, root_of, span_of, told_in, trace_of_event, traceparent
from extras.tracing.span import CLIENT, Attributes, Span, Value, host_alone
from extras.tracing.tracer import Tracer
from storage.records.destination import EMAIL, Delivery, Destination

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

    def ended(self, destination: Destination, answer: Answer) -> None:
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
