"""Frames of HTTP/2, before h2 sees them: lengths, floods, and what is dropped."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.frames import (
    ALLOWED,
    BLOCK_FRAMES,
    BLOCK_LIMIT,
    FRAME_LIMIT,
    PREFACE,
    TABLE_SIZE,
    Code,
    ConnectionFault,
    Frame,
    Frames,
    Kind,
    Waste,
)

SETTINGS = Frame(Kind.SETTINGS, 0, 0, b"")
PING = Frame(Kind.PING, 0, 0, b"12345678")


def greeted() -> Frames:
    frames = Frames()
    frames.feed(PREFACE + SETTINGS.encode())
    assert frames.next_frame(0) == SETTINGS
    return frames


def read(frames: Frames, now: float = 0) -> list[Frame]:
    found = []
    while (frame := frames.next_frame(now)) is not None:
        found.append(frame)
    return found


@given(st.lists(st.integers(1, 40), max_size=60), st.binary(max_size=300))
def test_frames_come_out_whole_however_they_arrive(cuts: Sequence[int], payload: bytes) -> None:
    sent = [SETTINGS, Frame(Kind.DATA, 1, 1, payload), PING]
    raw = PREFACE + b"".join(frame.encode() for frame in sent)
    frames, got = Frames(), []
    for cut in (*cuts, len(raw)):
        frames.feed(raw[:cut])
        raw = raw[cut:]
        got += read(frames)
    assert got == sent


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"GET / HTTP/1.1\r\n", Code.PROTOCOL_ERROR),
        (b"PRI * HTTP/2.0\r\n\r\nSN", Code.PROTOCOL_ERROR),
        (PREFACE + PING.encode(), Code.PROTOCOL_ERROR),
        (PREFACE + Frame(Kind.SETTINGS, 1, 0, b"").encode(), Code.PROTOCOL_ERROR),
    ],
)
def test_a_connection_begins_with_the_preface_and_settings(raw: bytes, code: Code) -> None:
    frames = Frames()
    frames.feed(raw)
    with pytest.raises(ConnectionFault) as caught:
        frames.next_frame(0)
    assert caught.value.code == code


def test_a_frame_that_is_too_long_is_refused_at_its_first_nine_bytes() -> None:
    frames = greeted()
    frames.feed(Frame(Kind.DATA, 0, 1, b"x" * (FRAME_LIMIT + 1)).encode()[:9])
    with pytest.raises(ConnectionFault) as caught:
        frames.next_frame(0)
    assert caught.value.code == Code.FRAME_SIZE_ERROR


def test_a_flood_of_continuations_ends_by_their_number_and_by_their_size() -> None:
    """CVE-2024-27316: a head that never ends."""
    frames = greeted()
    small = [Frame(Kind.HEADERS, 0, 1, b""), *[Frame(Kind.CONTINUATION, 0, 1, b"")] * BLOCK_FRAMES]
    frames.feed(b"".join(frame.encode() for frame in small))
    with pytest.raises(ConnectionFault, match=f"more than {BLOCK_FRAMES} frames"):
        read(frames)
    frames = greeted()
    frames.feed(Frame(Kind.HEADERS, 0, 1, b"x" * FRAME_LIMIT).encode())
    frames.feed(Frame(Kind.CONTINUATION, 0, 1, b"x" * FRAME_LIMIT).encode())
    assert len(read(frames)) == 2 and frames.block_open
    frames.feed(Frame(Kind.CONTINUATION, 4, 1, b"x").encode())
    with pytest.raises(ConnectionFault, match=f"more than {BLOCK_LIMIT} bytes"):
        read(frames)


def test_a_block_is_closed_by_its_last_frame() -> None:
    frames = greeted()
    for _ in range(3):
        frames.feed(Frame(Kind.HEADERS, 0, 1, b"x" * FRAME_LIMIT).encode())
        assert frames.next_frame(0) is not None and frames.block_open
        frames.feed(Frame(Kind.CONTINUATION, 4, 1, b"").encode())
        assert frames.next_frame(0) is not None and not frames.block_open


FLOODS: dict[Waste, Frame] = {
    "ping": PING,
    "settings": SETTINGS,
    "reset": Frame(Kind.RST_STREAM, 0, 1, b"\0\0\0\x08"),
    "other": Frame(Kind.PRIORITY, 0, 1, b"\0\0\0\0\0"),
    "thin": Frame(Kind.DATA, 0, 1, b""),
    "window": Frame(Kind.WINDOW_UPDATE, 0, 1, b"\0\0\0\1"),
}


@pytest.mark.parametrize("waste", FLOODS)
def test_a_flood_of_frames_that_carry_nothing_ends_the_connection(waste: Waste) -> None:
    """Of each kind: as many at once as are allowed, some more as time passes, and no more."""
    frames, limit = greeted(), ALLOWED[waste]
    already = 1 if waste == "settings" else 0
    frames.feed(FLOODS[waste].encode() * (limit.burst - already))
    read(frames)
    later = 5.0
    frames.feed(FLOODS[waste].encode() * int(limit.rate * later))
    read(frames, later)
    frames.feed(FLOODS[waste].encode())
    with pytest.raises(ConnectionFault) as caught:
        read(frames, later)
    assert caught.value.code == Code.ENHANCE_YOUR_CALM and waste in str(caught.value)


def test_padding_makes_no_thin_frame_thick() -> None:
    frames = greeted()
    padded = Frame(Kind.DATA, 8, 1, b"\xff" + b"\0" * 255)
    frames.feed(padded.encode() * (ALLOWED["thin"].burst + 1))
    with pytest.raises(ConnectionFault, match="thin"):
        read(frames)


def test_what_we_send_allows_the_peer_more_updates_of_windows() -> None:
    frames = greeted()
    for _ in range(3 * ALLOWED["window"].burst):
        frames.data_sent()
        frames.feed(FLOODS["window"].encode() * 2)
        assert len(read(frames)) == 2


def test_priorities_and_unknown_kinds_are_dropped_except_within_a_head() -> None:
    frames = greeted()
    for kind in (Kind.PRIORITY, 10, 16, 250):
        frames.feed(Frame(kind, 0, 1, b"abcde").encode())
    frames.feed(PING.encode())
    assert read(frames) == [PING]
    frames.feed(Frame(Kind.HEADERS, 0, 1, b"").encode() + Frame(Kind.PRIORITY, 0, 1, b"abcde").encode())
    assert [frame.kind for frame in read(frames)] == [Kind.HEADERS, Kind.PRIORITY], "h2 refuses that"


@given(st.lists(st.tuples(st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)), max_size=50))
def test_unknown_settings_are_dropped_and_the_table_is_bounded(pairs: Sequence[tuple[int, int]]) -> None:
    frames = greeted()
    frames.feed(Frame(Kind.SETTINGS, 0, 0, b"".join(struct.pack(">HL", *pair) for pair in pairs)).encode())
    frame = frames.next_frame(0)
    assert frame is not None
    kept = list(struct.iter_unpack(">HL", frame.payload))
    assert kept == [
        (name, min(value, TABLE_SIZE) if name == 1 else value) for name, value in pairs if name in (1, 2, 3, 4, 5, 6, 8)
    ]
