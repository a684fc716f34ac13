"""Attempts and digests as traces tell them.

An attempt hangs from the match of its event, or from the making of its digest, so that all tries are beside each other.
Its id is made of the delivery and the number of the try: the receiver is told it in `traceparent` before anybody knows
how it ends, and whoever repeats the try after a crash names it alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import trio

from actors.destination_kinds.answer import Answer
from actors.tracing.identity import SpanContext, root_of, span_of, told_in, trace_of_event, traceparent
from actors.tracing.span import CLIENT, INTERNAL, Attributes, Span, Value, host_alone
from actors.tracing.tracer import Tracer
from storage.records.delivery import Delivery
from storage.records.destination import EMAIL, Destination


class TracedAttempt(NamedTuple):
    """An attempt that is under way. context: its own span. parent: what it hangs from. began: by the loop's clock.
    known: what is known of it before it ends.
    """

    context: SpanContext
    parent: bytes
    sampled: bool
    began: float
    number: int
    known: Attributes

    @property
    def header(self) -> str:
        """What the receiver is told."""
        return traceparent(self.context, sampled=self.sampled)


def begun(tracer: Tracer, delivery: Delivery) -> TracedAttempt | None:
    """Return the attempt that begins now; None where its body can't be read."""
    told = told_in(delivery.body)
    if told is None:
        return None
    span = span_of(told.trace, "attempt", delivery.destination, delivery.event_id, str(delivery.attempt))
    known: Attributes = {
        "sanderling.digest.id" if told.is_digest else "sanderling.event.id": delivery.event_id,
        "sanderling.delivery.attempt": delivery.attempt,
    }
    sampled, now = tracer.samples(told.trace), trio.current_time()
    return TracedAttempt(SpanContext(told.trace, span), told.matched.span, sampled, now, delivery.attempt, known)


def begun_test(tracer: Tracer, id: str) -> TracedAttempt:
    """Return the attempt of a sample that begins now, and with it a trace: a test looks like a delivery."""
    trace = trace_of_event(id)
    context = SpanContext(trace, root_of(trace))
    known: Attributes = {"sanderling.event.id": id, "sanderling.delivery.test": True}
    return TracedAttempt(context, b"", tracer.samples(trace), trio.current_time(), 1, known)


def put_attempt(tracer: Tracer, attempt: TracedAttempt, destination: Destination, answer: Answer) -> None:
    """Tell how an attempt ended. What a receiver says stays out, and of its address all but the host."""
    if not attempt.sampled:
        return
    attributes: dict[str, Value] = {
        **attempt.known,
        "sanderling.destination.id": destination.id,
        "sanderling.destination.kind": destination.kind,
        "sanderling.delivery.outcome": answer.word,
    }
    name = "mail"
    if destination.kind != EMAIL:
        name = "POST"
        attributes |= {"http.request.method": name, "url.full": host_alone(destination.url)}
        attributes["server.address"] = urlsplit(destination.url).hostname or ""
        if attempt.number > 1:
            attributes["http.request.resend_count"] = attempt.number - 1
        if answer.status is not None:
            attributes["http.response.status_code"] = answer.status
    error = "" if answer.delivered else str(answer.status or answer.word)
    times = tracer.since(attempt.began)
    tracer.put(Span(*attempt.context, attempt.parent, name, CLIENT, *times, attributes, error))


def linked(tracer: Tracer, events: Sequence[bytes]) -> list[SpanContext]:
    """Return the matches of events, of those whose traces are sampled."""
    told = [found for event in events if (found := told_in(event)) is not None]
    return [each.matched for each in told if tracer.samples(each.trace)]


def put_digest(
    tracer: Tracer, id: str, destination: Destination, *, links: Sequence[SpanContext], events: int, began: float
) -> None:
    """Tell that a digest was made of events."""
    trace = trace_of_event(id)
    if not tracer.samples(trace):
        return
    attributes: dict[str, Value] = {
        "sanderling.destination.id": destination.id,
        "sanderling.digest.id": id,
        "sanderling.events": events,
    }
    times = tracer.since(began)
    tracer.put(Span(trace, root_of(trace), b"", "digest", INTERNAL, *times, attributes, links=links))
