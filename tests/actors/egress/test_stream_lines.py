from __future__ import annotations

import random

import pytest

from actors.egress.stream_lines import MOST_SIZE, StreamLines, name_of


def fed(lines: StreamLines, data: bytes, chance: random.Random | None = None) -> list[tuple[str | None, str | None]]:
    """Return the events of bytes fed whole, or in random pieces."""
    found: list[tuple[str | None, str | None]] = []
    while data:
        size = len(data) if chance is None else chance.choice((1, 1, 2, 3, 7, 50))
        found += lines.feed(data[:size])
        data = data[size:]
    return found


def texts(data: bytes) -> list[str]:
    return [text for text, _ in fed(StreamLines("sse"), data) if text is not None]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"data: one\n\n", ["one"]),
        (b"data:one\r\rdata: two\r\n\r\ndata:  three\n\n", ["one", "two", " three"]),
        (b"\xef\xbb\xbfdata: a\ndata\ndata: b\n\n", ["a\n\nb"]),
        (b": comment\n\n:\n\ndata: x\n", []),
        (b"event: ping\ndata: 17\n\ndata: x\n\n", ["x"]),
        (b"data: {\ndata: }\n\n", ["{\n}"]),
        (b"foo: bar\ndataa: x\nDATA: y\n\n", []),
        (b"data: \xff\n\n", ["\ufffd"]),
    ],
)
def test_server_sent_events_are_read_as_the_standard_has_it(data: bytes, told: list[str]) -> None:
    assert texts(data) == told


def test_the_id_stays_until_the_next_and_the_name_does_not() -> None:
    lines = StreamLines("sse", "0")
    data = b"data: a\n\nid: 1\nevent: update\ndata: b\n\ndata: c\n\nid\ndata: d\n\nid: 4\n\nid: x\0y\ndata: e\n\n"
    found = fed(lines, data)
    assert found == [("a", "0"), ("b", "1"), ("c", "1"), ("d", ""), (None, "4"), ("e", "4")]
    assert [name_of(text) for text, _ in found if text is not None] == ["", "update", "", "", ""]


def test_an_event_moves_the_place_only_when_it_is_whole() -> None:
    lines = StreamLines("sse", "0")
    assert fed(lines, b"id: 1\ndata: cut off\n") == []
    assert list(lines.end()) == []


@pytest.mark.parametrize("value", ["3000", "0", "12x", "-1", "1.5", "1" * 30])
def test_retry_is_milliseconds_in_digits(value: str) -> None:
    lines = StreamLines("sse")
    fed(lines, f"retry: {value}\n\n".encode())
    assert lines.retry == {"3000": 3.0, "0": 0.0}.get(value)


def test_an_oversized_event_is_skipped_and_the_next_one_read() -> None:
    for kind, large in (("sse", b"id: 1\ndata: "), ("lines", b"")):
        lines = StreamLines(kind)  # type: ignore[arg-type]
        found = fed(lines, large)
        for _ in range(3 * MOST_SIZE >> 16):
            found += fed(lines, b"x" * (1 << 16))
            assert sum(map(len, lines._partial)) <= MOST_SIZE
        end, more = (b"\n\n", b"data: y\n\n") if kind == "sse" else (b"\n", b"y\n")
        found += fed(lines, end + more)
        assert [text for text, _ in found if text] == ["y"]
        assert lines.skipped == 1


def test_many_lines_of_one_event_have_a_bound_together() -> None:
    lines = StreamLines("sse")
    assert fed(lines, (b"data: " + b"x" * 1000 + b"\n") * 1100 + b"\ndata: y\n\n") == [(None, ""), ("y", "")]
    assert lines.skipped == 1


def test_json_lines_end_with_lf_or_the_stream() -> None:
    lines = StreamLines("lines")
    found = fed(lines, b'\xef\xbb\xbf{"a":1}\r\n\n\x1e{"b":"\xe2\x80\xa8"}\n{"c":')
    found += [*fed(lines, b"3}"), *lines.end()]
    assert [text for text, _ in found] == ['{"a":1}', '{"b":"\u2028"}', '{"c":3}']


@pytest.mark.parametrize("half", [b'{"a": 1, "b', b'{"a": "}', b"[1, 2", b"17", b'"word', b"\xe2\x80"])
def test_half_a_json_line_at_the_end_is_no_event(half: bytes) -> None:
    lines = StreamLines("lines")
    found = [*fed(lines, b'{"a": 1}\n' + half), *lines.end()]
    assert [text for text, _ in found] == ['{"a": 1}']


def test_pieces_say_the_same_as_the_whole() -> None:
    chance = random.Random(7)
    words = [b"data: x", b"data:", b"id: 7", b"event: e", b":", b"retry: 5", b"\xc3\xa9", b"", b"", b"data: \xc3\xa9"]
    ends = [b"\n", b"\r", b"\r\n"]
    for number in range(300):
        data = b"".join(chance.choice(words) + chance.choice(ends) for _ in range(20))
        kind = chance.choice(["sse", "lines"])
        whole, parts = StreamLines(kind), StreamLines(kind)  # type: ignore[arg-type]
        assert fed(whole, data) == fed(parts, data, chance), number
