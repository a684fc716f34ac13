"""Bugs of traces: reported too early, under another id, or by halves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import trio

from actors.messages.workers import Record
from actors.recorder.actor import Recorder
from extras.tracing import observer as traced
from extras.tracing.identity import TracedEvent, told_in, trace_of_event
from extras.tracing.observer import TracedAttempt, TracingObserver, commit_of
from extras.tracing.tracer import Tracer


def commits_reported_before_they_are_made() -> AbstractContextManager[Any]:
    """A commit is reported when its events have their ids: some are never committed."""
    right = Recorder._append

    async def wrong(self: Recorder, records: Sequence[Record]) -> None:
        began, log = trio.current_time(), self._storage.log
        append = log.append

        async def told(harvests: Any, lease: Any, mint: Any, stamp: Any, *more: Any) -> Any:
            def stamped(*given: Any) -> Any:
                body = stamp(*given)
                event = told_in(body)
                observer = self._world.observer
                if isinstance(observer, TracingObserver) and event is not None and observer.tracer.samples(event.trace):
                    source = records[0].harvest.source
                    span = commit_of(records[0], [event], observer.tracer.since(began), 1)
                    observer.tracer.put(span._replace(attributes={**span.attributes, "sanderling.source.id": source}))
                return body

            return await append(harvests, lease, mint, stamped, *more)

        with patch.object(log, "append", told):
            await right(self, records)

    return patch.object(Recorder, "_append", wrong)


def deliveries_in_traces_of_their_own() -> AbstractContextManager[Any]:
    """A delivery's trace comes from its event's id, whichever check found it."""

    right = traced.begun

    def reread(body: bytes) -> TracedEvent | None:
        told = told_in(body)
        return None if told is None else told._replace(trace=trace_of_event(told.id))

    def wrong(*given: Any) -> TracedAttempt | None:
        with patch.object(traced, "told_in", reread):
            return right(*given)

    return patch.object(traced, "begun", wrong)


def attempts_called_otherwise_at_their_end() -> AbstractContextManager[Any]:
    """The span of an attempt has another id than in the receiver's headers."""
    right = TracedAttempt.ended

    def wrong(self: TracedAttempt, *given: Any) -> None:
        context = self.context._replace(span=bytes(reversed(self.context.span)))
        right(replace(self, context=context), *given)

    return patch.object(TracedAttempt, "ended", wrong)


def sampled_by_the_moment() -> AbstractContextManager[Any]:
    """Each caller decides again whether a trace is kept."""
    return patch.object(Tracer, "samples", lambda self, trace: trio.current_time() * 1000 % 2 < 2 * self.ratio)
