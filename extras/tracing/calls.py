"""Traces of API calls: a span in the caller's trace if `traceparent` names one, else a new trace. Calls without a key
are not traced, so strangers cannot fill the queue.
"""

from __future__ import annotations

from actors.observer import FinishedCall
from extras.tracing.identity import parent_in, root_of, span_of, trace_of_event
from extras.tracing.span import SERVER, Span, Value, clean
from extras.tracing.tracer import Tracer


def put_call(tracer: Tracer, call: FinishedCall) -> None:
    """Report a call if its trace is sampled: by the caller's flag, else by its id."""
    parent = parent_in(call.traceparent)
    trace = trace_of_event(f"call {call.request_id}") if parent is None else parent.context.trace
    if not (tracer.samples(trace) if parent is None else parent.sampled):
        return
    span = root_of(trace) if parent is None else span_of(trace, "call", call.request_id)
    attributes: dict[str, Value] = {
        "http.request.method": call.method,
        "http.route": call.route,
        "http.response.status_code": call.status,
        "sanderling.request.id": clean(call.request_id),
    }
    error = str(call.status) if call.status >= 500 else ""
    above = b"" if parent is None else parent.context.span
    name = f"{call.method} {call.route}"
    tracer.put(Span(trace, span, above, name, SERVER, *tracer.since(call.began), attributes, error))
