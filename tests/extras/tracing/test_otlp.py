"""OTLP requests in JSON, against the specification and the protocol's own classes; and the answers."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extras.tracing.exporter import ExportOutcome, encoded, verdict
from extras.tracing.identity import SpanContext
from extras.tracing.settings import headers_in
from extras.tracing.span import CLIENT, INTERNAL, LONGEST, Span, SpanEvent, clean, host_alone
from tests.support.collector import as_protobuf, seen, values

AT = 1_795_674_600_123_456_789
RESOURCE = {"service.name": "sanderling"}
SCOPE = {"name": "sanderling", "version": "1"}
TEXT = st.text(max_size=20)
VALUES = st.one_of(
    TEXT,
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(TEXT, max_size=4),
)
IDS, SPANS = (st.binary(min_size=size, max_size=size).filter(any) for size in (16, 8))
SPAN = st.builds(
    Span,
    IDS,
    SPANS,
    st.one_of(st.just(b""), SPANS),
    st.text(min_size=1, max_size=20),
    st.sampled_from([INTERNAL, CLIENT]),
    st.integers(1, AT),
    st.just(AT),
    st.dictionaries(st.text(min_size=1, max_size=20).filter(lambda key: key != "error.type"), VALUES, max_size=5),
    st.sampled_from(["", "timeout"]),
    st.lists(st.builds(SpanEvent, st.just(AT), TEXT), max_size=3),
    st.lists(st.builds(SpanContext, IDS, SPANS), max_size=3),
)


def unpacked(request: bytes) -> Any:
    return json.loads(zlib.decompress(request, 31))


@settings(max_examples=30)
@given(st.lists(SPAN, min_size=1, max_size=2))
def test_each_request_is_one_of_the_protocol(spans: list[Span]) -> None:
    request = unpacked(encoded(spans, RESOURCE, SCOPE))
    found = [seen(span) for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]]
    theirs = as_protobuf(request).resource_spans[0].scope_spans[0].spans
    for span, ours, read in zip(spans, found, theirs, strict=True):
        assert (ours.trace, ours.id, ours.parent) == (span.trace.hex(), span.id.hex(), span.parent.hex())
        assert (read.trace_id, read.span_id, read.parent_span_id) == (span.trace, span.id, span.parent)
        assert (read.start_time_unix_nano, read.end_time_unix_nano) == (span.start, span.end)
        assert (read.name, read.kind) == (span.name, span.kind)
        assert [link.span_id for link in read.links] == [link.span for link in span.links]
        assert {**ours.attributes} == {**span.attributes, **({"error.type": span.error} if span.error else {})}


def test_the_same_spans_are_the_same_bytes() -> None:
    span = Span(b"1" * 16, b"2" * 8, b"", "look", INTERNAL, AT, AT, {})
    assert encoded([span], RESOURCE, SCOPE) == encoded([span], RESOURCE, SCOPE)
    assert values(unpacked(encoded([span], RESOURCE, SCOPE))["resourceSpans"][0]["resource"]["attributes"]) == RESOURCE


def test_a_span_with_a_negative_duration_gets_zero() -> None:
    span = Span(b"1" * 16, b"2" * 8, b"", "look", INTERNAL, AT, AT - 5, {})
    (found,) = unpacked(encoded([span], RESOURCE, SCOPE))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert found["endTimeUnixNano"] == str(AT)


def test_surplus_links_are_counted() -> None:
    links = [SpanContext(b"1" * 16, bytes([number + 1]) * 8) for number in range(130)]
    span = Span(b"1" * 16, b"2" * 8, b"", "digest", INTERNAL, AT, AT, {}, links=links)
    (found,) = unpacked(encoded([span], RESOURCE, SCOPE))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert len(found["links"]) == 128 and found["droppedLinksCount"] == 2


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_these_answers_ask_for_another_try(status: int) -> None:
    assert verdict(status, b"", 3).again


@pytest.mark.parametrize("status", [301, 400, 401, 404, 413, 500, 501])
def test_after_these_the_spans_are_not_sent_again(status: int) -> None:
    assert verdict(status, b"", 3) == ExportOutcome(refused=3, says=f"it answered {status}")


@pytest.mark.parametrize("body", [b"", b"{}", b'{"partialSuccess":{}}', b"<html>", b"\xff\x00", b"[1]", b"null"])
def test_200_means_that_they_were_taken(body: bytes) -> None:
    assert verdict(200, body, 3) == ExportOutcome()


@pytest.mark.parametrize(("rejected", "refused"), [('"2"', 2), ("2", 2), ('"9"', 3), ('"-4"', 0)])
def test_a_partial_success_says_how_many_were_not(rejected: str, refused: int) -> None:
    body = f'{{"partialSuccess":{{"rejectedSpans":{rejected},"errorMessage":"too\\u001b[31m old"}}}}'.encode()
    found = verdict(200, body, 3)
    assert (found.again, found.refused) == (False, refused)
    assert found.says.isprintable() and "old" in found.says


@pytest.mark.parametrize(
    "text", ["k3y0f", "a=b,k3y0f", "na me=k3y0f", "=k3y0f", "Host=k3y0f", "a=k3y0f%0d%0ax", "a=k3y0få"]
)
def test_headers_that_can_not_be_sent_are_refused_without_their_values(text: str) -> None:
    with pytest.raises(ValueError, match=r"header|character") as refused:
        headers_in(text)
    assert "k3y0f" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://a.test/x?API_KEY=abc", "https://a.test/x?API_KEY=REDACTED"),
        ("see https://u:p@a.test/?a=1", "see https://REDACTED@a.test/?a=1"),
        ("https://a.test/?X-Amz-Signature=abc&b=1", "https://a.test/?X-Amz-Signature=REDACTED&b=1"),
        ("https://a.test/?monkey=abc&page=2", "https://a.test/?monkey=abc&page=2"),
        ("svc_" + "x" * 43, "svc_xxxxxxxx..."),
    ],
)
def test_credentials_are_not_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_texts_have_a_bound_and_destinations_are_named_by_host() -> None:
    assert len(clean("x" * 5_000)) == LONGEST
    assert host_alone("http://u:p@h.test:8080/secret?x=1") == "http://h.test:8080/..."
