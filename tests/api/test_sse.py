from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from api.sse import event_frame, frame_of, frames, head_of, keepalive, one_line, opening
from storage.records.event import Stored
from storage.records.identity import Seq, SourceId
from storage.tail import Recent

BODY = b'{"content":"a","id":"019e7044-8800-7000-8800-00000000002a","source_type":"html"}'
FRAME = b"event: html\ndata: " + BODY + b"\nid: 019e7044-8800-7000-8800-00000000002a\n\n"


def test_a_frame_is_event_then_data_then_id() -> None:
    """A client that is cut off in the middle must not hold the id of an event it has not got."""
    assert event_frame(BODY) == FRAME


@given(st.lists(st.text(st.sampled_from('",:id\\source_type\u0085\u2028{}')), min_size=5, max_size=5), st.booleans())
def test_no_text_of_an_event_is_taken_for_its_id_or_its_tier(texts: list[str], first: bool) -> None:
    fields = {"content": texts[0], "title": texts[1], "tags": texts[2:4], "url": texts[4]}
    event = (
        ({"$schema": "s"} if first else {}) | fields | {"id": "019e", "source_type": "html", "diff": {"added": texts}}
    )
    body = msgspec.json.encode(event, order="sorted")
    assert frames([body, body], "sse") == event_frame(body) * 2
    head = head_of(body)
    assert event_frame(body) == b"event: %b\ndata: %b\nid: %b\n\n" % (
        head.source_type.encode(),
        one_line(body),
        head.id.encode(),
    )


def test_a_body_of_other_making_is_decoded() -> None:
    body = b'{"id":"019e","source_type":"html"}'
    assert event_frame(body) == b"event: html\ndata: " + body + b"\nid: 019e\n\n"


def test_the_opening_hints_at_the_retry_and_says_where_replay_began() -> None:
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
    """Python's splitlines is the worst of readers: it splits at every line boundary of Unicode."""
    body = msgspec.json.encode({"content": text})
    line = one_line(body)
    assert msgspec.json.decode(line) == {"content": text}
    assert len(line.decode().splitlines()) == 1


def test_the_three_line_separators_are_escaped() -> None:
    assert one_line('"\u0085\u2028\u2029"'.encode()) == b'"\\u0085\\u2028\\u2029"'
