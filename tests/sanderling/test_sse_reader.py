"""Reading Server-Sent Events, wherever the chunks are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sanderling.sse_reader import EventReader, ServerEvent


def read(*chunks: bytes) -> list[ServerEvent]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


def test_a_frame_is_an_event_at_its_empty_line() -> None:
    assert read(b"event: feed\ndata: {}\nid: 7\n") == []
    assert read(b"event: feed\ndata: {}\nid: 7\n\n") == [ServerEvent("feed", "{}", "7")]


def test_data_of_several_lines_is_joined_and_one_space_is_dropped() -> None:
    assert read(b"data:a\ndata:  b\ndata\n\n") == [ServerEvent("message", "a\n b\n", "")]


def test_comments_and_empty_frames_are_nothing() -> None:
    assert read(b": keepalive 1\n\nevent: feed\n\n: x\n\n") == []


def test_the_id_counts_from_the_end_of_its_frame() -> None:
    reader = EventReader()
    list(reader.feed(b"data: 1\nid: a\n\ndata: 2\nid: b\n"))
    assert reader.last_id == "a"


def test_the_id_stays_until_another_is_said_and_one_with_nul_is_ignored() -> None:
    events = read(b"id: a\ndata: 1\n\ndata: 2\n\nid: x\0y\ndata: 3\n\nid\ndata: 4\n\n")
    assert [event.id for event in events] == ["a", "a", "a", ""]


def test_the_retry_hint_is_digits_only() -> None:
    reader = EventReader()
    list(reader.feed(b"retry: 3000\n"))
    assert reader.retry == 3.0
    list(reader.feed("retry: 1.5\nretry: -1\nretry: ٣\n".encode()))
    assert reader.retry == 3.0


def test_a_byte_order_mark_at_the_start_is_dropped() -> None:
    assert read(b"\xef\xbb\xbfdata: 1\n\n") == [ServerEvent("message", "1", "")]


def test_a_line_separator_inside_data_is_no_line_end() -> None:
    assert read("data: a\u2028b\u0085c\n\n".encode()) == [ServerEvent("message", "a\u2028b\u0085c", "")]


@given(st.lists(st.integers(0, 60), max_size=8), st.sampled_from([b"\n", b"\r", b"\r\n"]))
def test_cuts_and_kinds_of_line_ends_make_no_difference(cuts: list[int], end: bytes) -> None:
    whole = "id: 1|event: feed|data: é 1|data: 2||: c||data: 3|id: 2||".encode().replace(b"|", end)
    marks = [0, *sorted(cuts), len(whole)]
    chunks = [whole[start:stop] for start, stop in pairwise(marks)]
    assert read(*chunks) == [ServerEvent("feed", "é 1\n2", "1"), ServerEvent("message", "3", "2")]
