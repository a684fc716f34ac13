"""A match in traces: an event, and its alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import trio

from extras.tracing.identity import Told, root_of, told_in
from extras.tracing.span import INTERNAL, MOST_IN_LIST, Attributes, Span
from extras.tracing.tracer import Tracer
from storage.records.event import Stored
from storage.records.identity import SourceId


class MatchedEvent(NamedTuple):
    """An event, its alerts, and the time of its matching by the loop's clock."""

    told: Told
    source: SourceId
    alerts: Sequence[str]
    began: float


def matched_events(tracer: Tracer, event: Stored, alerts: Sequence[str]) -> list[MatchedEvent]:
    """Return the match to report once its rows are stored; nothing if its trace is not sampled."""
    told = told_in(event.body)
    if told is None or not tracer.samples(told.trace):
        return []
    return [MatchedEvent(told, event.source, alerts, trio.current_time())]


def span_of_match(tracer: Tracer, matched: MatchedEvent) -> Span:
    """Return the span of a match whose rows have just been stored."""
    told, alerts = matched.told, matched.alerts
    attributes: Attributes = {
        "sanderling.source.id": matched.source,
        "sanderling.event.id": told.id,
        "sanderling.alerts": len(alerts),
        "sanderling.alert.ids": list(alerts[:MOST_IN_LIST]),
    }
    times = tracer.since(matched.began)
    return Span(told.trace, told.matched.span, root_of(told.trace), "match", INTERNAL, *times, attributes)
