"""The observer that makes spans of the core's reports: one for each trace in a commit, each match and digest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import trio

from actors.egress.traffic import Egress
from actors.messages.workers import Record
from actors.observer import NO_ATTEMPT, Attempt, CheckSteps, Observer
from actors.settings import Settings
from actors.world import World
from extras.tracing.attempts import begun, begun_test
from extras.tracing.exporter import traced
from extras.tracing.identity import SpanContext, TracedEvent, root_of, span_of, told_in, trace_of_event
from extras.tracing.settings import TracingSettings
from extras.tracing.span import INTERNAL, MOST_IN_LIST, Attributes, Span
from extras.tracing.steps import LookSteps
from extras.tracing.tracer import Times, Tracer
from storage.append import Answer
from storage.errors import StorageError
from storage.records.destination import Delivery, Destination
from storage.records.event import Draft, Stored
from storage.records.identity import SourceId
from storage.records.tiers import POLLED
from supervision import ChildSpec


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
