"""A commit in traces: one span for each trace with events in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from actors.messages.workers import Record
from extras.tracing.identity import Told, root_of, span_of, told_in
from extras.tracing.span import INTERNAL, MOST_IN_LIST, Attributes, Span
from extras.tracing.tracer import Times, Tracer
from storage.append import Answer
from storage.errors import StorageError
from storage.records.event import Draft, Stored


def tell(tracer: Tracer, records: Sequence[Record], answers: Sequence[Answer], began: float) -> None:
    """Trace a group commit that has just ended. began: by the loop's clock."""
    times = tracer.since(began)
    for record, answer in zip(records, answers, strict=True):
        if not isinstance(answer, StorageError) and answer:
            tracer.put(*_spans(tracer, record, answer, times, len(records)))


def _spans(tracer: Tracer, record: Record, events: Sequence[Stored], times: Times, group: int) -> Iterator[Span]:
    pairs = [
        (told, draft)
        for event, draft in zip(events, record.harvest.drafts, strict=False)
        if (told := told_in(event.body)) is not None
    ]
    for trace, same in groupby(pairs, lambda pair: pair[0].trace):
        if not tracer.samples(trace):
            continue
        members = list(same)
        if not record.looked:
            yield _root(record, members[0][1], trace, times)
        yield _commit(record, [each for each, _ in members], trace, times, group)


def _commit(record: Record, events: Sequence[Told], trace: bytes, times: Times, group: int) -> Span:
    attributes: Attributes = {
        "sanderling.source.id": record.harvest.source,
        "sanderling.events": len(events),
        "sanderling.event.ids": [event.id for event in events[:MOST_IN_LIST]],
        "sanderling.commit.harvests": group,
    }
    return Span(trace, span_of(trace, "commit", events[0].id), root_of(trace), "commit", INTERNAL, *times, attributes)


def _root(record: Record, draft: Draft, trace: bytes, times: Times) -> Span:
    """Return the first span of an event without a check, from its arrival."""
    name = "notice" if draft.alert_type is not None else "frame" if draft.source_type == "push" else "first look"
    attributes = {"sanderling.source.id": record.harvest.source, "sanderling.source.type": draft.source_type}
    start = min(draft.fetched_at * 1_000_000, times.end)
    return Span(trace, root_of(trace), b"", name, INTERNAL, start, times.end, attributes)
