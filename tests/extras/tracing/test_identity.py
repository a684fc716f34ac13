"""Trace ids: the same for everyone with the records; and the headers that carry them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.tracing.identity import (
    SpanContext,
    is_sampled,
    root_of,
    span_of,
    told_in,
    trace_of_event,
    trace_of_look,
    traceparent,
)
from storage.records.identity import SERVICE, Millis, SourceId
from tests.extras.tracing.parents import parent_in

EVENT = {
    "id": "0192f000-0000-7000-8000-000000000001",
    "source_id": "0192f000-0000-7000-8000-0000000000aa",
    "source_type": "feed",
    "fetched_at": "2026-11-26T06:30:00.123Z",
    "content": "text",
}
AT = Millis(1_795_674_600_123)


def told(**fields: object) -> bytes:
    return msgspec.json.encode({**EVENT, **fields})


def test_an_event_belongs_to_its_checks_trace() -> None:
    found = told_in(told())
    assert found is not None
    assert found.trace == trace_of_look(SourceId(EVENT["source_id"]), AT)
    other = told_in(told(id="0192f000-0000-7000-8000-000000000002"))
    assert other is not None and other.trace == found.trace and other.matched != found.matched


@pytest.mark.parametrize("fields", [{"source_type": "push"}, {"source_id": SERVICE}])
def test_an_event_without_a_check_has_its_own_trace(fields: dict[str, str]) -> None:
    found = told_in(told(**fields))
    assert found is not None and found.trace == trace_of_event(EVENT["id"])


def test_a_digest_has_a_trace_of_its_own_and_names_those_of_its_events() -> None:
    event = told_in(told())
    digest = told_in(msgspec.json.encode({"id": "d1", "destination_id": "x", "events": [EVENT]}))
    assert event is not None and digest is not None
    assert digest.trace == trace_of_event("d1") and digest.matched.span == root_of(digest.trace)
    assert list(digest.events) == [event]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"id":""}', b"\xff", told(fetched_at="soon"), told(id=5)])
def test_an_id_that_is_no_event_has_no_trace(body: bytes) -> None:
    assert told_in(body) is None


def test_spans_differ_by_each_of_their_names() -> None:
    trace = trace_of_event("1")
    made = {span_of(trace, *names) for names in (("a",), ("a", "1"), ("a", "2"), ("b", "1"))}
    assert len(made | {span_of(trace_of_event("2"), "a")}) == 5


@given(st.binary(min_size=16, max_size=16).filter(any), st.binary(min_size=8, max_size=8).filter(any), st.booleans())
def test_a_header_is_read_as_it_was_written(trace: bytes, span: bytes, sampled: bool) -> None:
    header = traceparent(SpanContext(trace, span), sampled=sampled)
    assert parent_in(header) == ((trace, span), sampled)


def test_as_many_traces_are_sampled_as_the_ratio_says_and_of_a_smaller_one_no_others() -> None:
    traces = [trace_of_event(str(number)) for number in range(4_000)]
    kept = {trace for trace in traces if is_sampled(trace, 0.1)}
    assert 320 < len(kept) < 480
    assert {trace for trace in traces if is_sampled(trace, 0.02)} < kept
    assert all(is_sampled(trace, 1.0) for trace in traces) and not any(is_sampled(trace, 0.0) for trace in traces)
