"""The promises about traces: reported spans are real and belong together. Traces do not change the log; a test compares
it with the same world's log without traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from storage.records.identity import SERVICE
from tests.simulation.delivery_records import Receipt as LetterReceipt
from tests.simulation.facts import Facts
from tests.simulation.origins.collector import SentSpan
from tests.simulation.origins.receiver import Receipt
from tests.simulation.program import machine_of

SLACK = 1.0
"""Seconds that a request may be seen before or after its span: the span starts earlier, and clocks are whole."""
_OF_SOURCES = frozenset(("look", "hop", "frame", "notice", "first look", "commit", "match"))


def made(facts: Facts) -> Iterator[str]:
    """Every span has its event in the log, its request at an origin, or its delivery at a receiver."""
    ids = {logged.event["id"]: logged.event["source_id"] for logged in facts.log}
    known = {SERVICE, *ids.values(), *(added.id for added in facts.added.values())}
    known |= {gone.id for gone in facts.deleted}
    arrived = {_named(receipt)[:2] for receipt in _receipts(facts)}
    ahead = {by for _, by in facts.clock}
    for span in facts.spans:
        about = span.attributes
        if span.name in _OF_SOURCES and about["sanderling.source.id"] not in known:
            yield f"{_told(span)} is of a source that there never was"
        if span.name in ("commit", "match"):
            told = about.get("sanderling.event.ids") or [about["sanderling.event.id"]]
            for id in told:
                if ids.get(id) != about["sanderling.source.id"]:
                    yield f"{_told(span)} names event {id}, and the log has none of this source"
        elif span.name == "GET" and about.get("http.response.status_code") and not _was_asked(facts, span, ahead):
            yield f"{_told(span)} says that {about['server.address']} has answered, and nothing was asked there"
        elif _was_answered(span) and (span.trace, span.id) not in arrived:
            yield f"{_told(span)} says that a receiver has answered, and nothing came to one"


def belongs(facts: Facts) -> Iterator[str]:
    """A match and a delivery are in the trace of their event's commit, and of a check of its source."""
    committed: dict[str, str] = {}
    sources: dict[str, str] = {}
    for span in facts.spans:
        if span.name == "commit":
            committed |= dict.fromkeys(span.attributes["sanderling.event.ids"], span.trace)
        elif span.name == "look":
            sources[span.trace] = span.attributes["sanderling.source.id"]
    for span in facts.spans:
        event = span.attributes.get("sanderling.event.id")
        if event in committed and committed[event] != span.trace:
            yield f"{_told(span)} is not in the trace of the commit of {event}"
    of_event = {logged.event["id"]: logged.event["source_id"] for logged in facts.log}
    for receipt in _receipts(facts):
        event, (trace, _, _) = receipt.headers.get("webhook-id", ""), _named(receipt)
        if trace and event in committed and committed[event] != trace:
            yield f"{event} was delivered in trace {trace}, and committed in {committed[event]}"
        if trace and event in of_event and sources.get(trace, of_event[event]) != of_event[event]:
            yield f"{event} was delivered in the trace of a look at another source"


def whole(facts: Facts) -> Iterator[str]:
    """A trace is kept as a whole or not at all, and receivers get that flag."""
    kept = {span.trace for span in facts.spans}
    said: dict[str, bool] = {}
    for receipt in _receipts(facts):
        trace, _, sampled = _named(receipt)
        if trace and said.setdefault(trace, sampled) is not sampled:
            yield f"trace {trace} is said to be kept, and not to be"
        if trace in kept and not sampled:
            yield f"trace {trace} has spans at the collector, and a receiver is told that it is not kept"
    if not facts.program.traces and (kept or said):
        yield "nobody asked for traces, and there are some"


def _was_asked(facts: Facts, span: SentSpan, ahead: set[float]) -> bool:
    """Return whether a machine got a request within a span, by any setting of the clock."""
    seen = facts.seen.get(machine_of(span.attributes["server.address"]), ())
    status = span.attributes["http.response.status_code"]
    return any(
        each.status == status and span.began - SLACK <= each.at + by <= span.ended + SLACK
        for each in seen
        for by in ahead
    )


def _was_answered(span: SentSpan) -> bool:
    """Return whether a span records a program's answer; messages for people have no span names."""
    about = span.attributes
    return about.get("sanderling.destination.kind") == "webhook" and bool(about.get("http.response.status_code"))


def _receipts(facts: Facts) -> Iterator[Receipt | LetterReceipt]:
    yield from facts.receipts
    if facts.letters is not None:
        for receipts in facts.letters.receipts.values():
            yield from receipts


def _named(receipt: Receipt | LetterReceipt) -> tuple[str, str, bool]:
    """Return the trace and span in a receiver's headers, "" for none, and whether they are kept."""
    headers: Mapping[str, str] = receipt.headers
    parts = headers.get("traceparent", "").split("-")
    return (parts[1], parts[2], parts[3] == "01") if len(parts) == 4 else ("", "", False)


def _told(span: SentSpan) -> str:
    return f"{span.name} {span.id} of trace {span.trace}, {span.began:.0f} s"
