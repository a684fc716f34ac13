"""The observer that makes spans of the core's reports."""

from __future__ import annotations

from collections.abc import Sequence

from actors.egress.traffic import Egress
from actors.messages.workers import Record
from actors.observer import NO_ATTEMPT, Attempt, CheckSteps, FinishedCall, Observer
from actors.settings import Settings
from actors.world import World
from extras.tracing import commits
from extras.tracing.attempts import begun, begun_test, linked, put_digest
from extras.tracing.calls import put_call
from extras.tracing.exporter import traced
from extras.tracing.identity import SpanContext
from extras.tracing.matches import MatchedEvent, matched_events, span_of_match
from extras.tracing.steps import LookSteps
from extras.tracing.tracer import Tracer
from storage.append import Answer
from storage.records.destination import Delivery, Destination
from storage.records.event import Stored
from storage.records.identity import SourceId
from supervision import ChildSpec


class TracingObserver(Observer):
    """Puts spans into the tracer."""

    __slots__ = ("_settings", "_world", "tracer")

    def __init__(self, world: World, settings: Settings) -> None:
        self._world, self._settings = world, settings
        self.tracer = Tracer(world.wall, settings.otlp_sampling, world.metrics.spans)

    def children(self, egress: Egress, *, version: str, node: str) -> Sequence[ChildSpec]:
        return traced(self._world, self._settings, self.tracer, egress, version=version, node=node)

    def steps(self, source: SourceId, name: str = "look") -> CheckSteps:
        return LookSteps(self.tracer, source, name)

    def committed(self, records: Sequence[Record], answers: Sequence[Answer], began: float) -> None:
        commits.tell(self.tracer, records, answers, began)

    def matched(self, event: Stored, alerts: Sequence[str]) -> Sequence[MatchedEvent]:
        return matched_events(self.tracer, event, alerts)

    def stored(self, matches: Sequence[MatchedEvent]) -> None:
        self.tracer.put(*(span_of_match(self.tracer, each) for each in matches))

    def attempt(self, delivery: Delivery) -> Attempt:
        return begun(self.tracer, delivery) or NO_ATTEMPT

    def attempt_test(self, id: str) -> Attempt:
        return begun_test(self.tracer, id)

    def linked(self, events: Sequence[bytes]) -> Sequence[SpanContext]:
        return linked(self.tracer, events)

    def digested(
        self, id: str, destination: Destination, links: Sequence[SpanContext], *, events: int, began: float
    ) -> None:
        put_digest(self.tracer, id, destination, links=links, events=events, began=began)

    def called(self, call: FinishedCall) -> None:
        put_call(self.tracer, call)
