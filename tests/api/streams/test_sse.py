from __future__ import annotations

from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.recorder.actor import build
from actors.signatures import Signer, new_signing_key
from api.streams.sse import event_frame, frame_of, frames, keepalive, one_line, opening
from storage.append import Recent
from storage.records.event import Stored
from storage.records.identity import Seq, SourceId
from tests.support.build import BASE_URL, NOW, a_draft, a_source_id

BODY = b'{"content":"a","id":"019e7044-8800-7000-8800-00000000002a","source_type":"html"}'
FRAME = b"event: html\ndata: " + BODY + b"\nid: 019e7044-8800-7000-8800-00000000002a\n\n"


def test_a_frame_is_event_then_data_then_id() -> None:
    """A client that is cut off midway must not have the id of an event that it did not get."""
    assert event_frame(BODY) == FRAME


@given(
    st.lists(st.text(st.sampled_from('",:id\\source_type\u0085\u2028{}')), min_size=5, max_size=5),
    st.sampled_from([None, "sorted"]),
)
def test_nothing_of_an_event_is_taken_for_its_id_or_its_tier(texts: list[str], order: Literal["sorted"] | None) -> None:
    """Neither a text nor a later object: fields are not sorted, and an import may bring any field."""
    head = {"$schema": "http://127.0.0.1/s.json", "id": "019e", "source_id": "s", "source_type": "html"}
    fields = {"url": texts[4], "title": texts[1], "content": texts[0], "tags": texts[2:4], "diff": {"added": texts}}
    other = {"x": {"a": 1, "id": "OTHER", "source_type": "nonsense"}, "ops": [{"id": "OTHER", "source_type": "none"}]}
    body = msgspec.json.encode(head | fields | other, order=order)
    assert frames([body, body], "sse") == event_frame(body) * 2
    assert event_frame(body) == b"event: html\ndata: %b\nid: 019e\n\n" % one_line(body)


def test_an_event_as_the_recorder_makes_it_is_framed_without_being_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    event = build("019e7044-8800-7000-8800-00000000002a", a_source_id(), a_draft(), BASE_URL, NOW)
    body = Signer(new_signing_key(bytes(32), NOW)).sign(event, NOW)
    monkeypatch.setattr("api.streams.sse.head_of", None)
    expected = (event.source_type.encode(), one_line(body), event.id.encode())
    assert event_frame(body) == b"event: %b\ndata: %b\nid: %b\n\n" % expected


def test_a_body_of_other_making_is_decoded() -> None:
    body = b'{"id":"019e","source_type":"html"}'
    assert event_frame(body) == b"event: html\ndata: " + body + b"\nid: 019e\n\n"


def test_the_opening_has_the_retry_and_the_first_replayed_id() -> None:
    assert opening("sse", "abc") == b"retry: 3000\n\n: replay-from abc\n\n"
    assert opening("ndjson", "abc") == b""


def test_a_keepalive_is_a_frame_of_its_own() -> None:
    assert keepalive("sse", "abc") == b": keepalive abc\n\n"
    assert keepalive("ndjson", "abc") == b"\n"


def test_storage_rule_4_the_frame_is_made_once_for_all_readers() -> None:
    recent = Recent(Stored(Seq(1), SourceId("s"), 1, BODY))
    assert frame_of(recent, "sse") is frame_of(recent, "sse")
    assert frame_of(recent, "ndjson") == BODY + b"\n"


@given(st.text())
def test_every_reader_sees_one_line_and_a_parser_the_same_event(text: str) -> None:
    """Python's splitlines is the worst case: it splits at every Unicode line boundary."""
    body = msgspec.json.encode({"content": text})
    line = one_line(body)
    assert msgspec.json.decode(line) == {"content": text}
    assert len(line.decode().splitlines()) == 1


def test_the_three_line_separators_are_escaped() -> None:
    assert one_line('"\u0085\u2028\u2029"'.encode()) == b'"\\u0085\\u2028\\u2029"'
