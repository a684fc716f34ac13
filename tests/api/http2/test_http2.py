"""HTTP/2 without I/O: what ends a stream, what ends the connection, windows, turns, and any order of frames."""

from __future__ import annotations

import struct

import h2.connection
import h2.events
import pytest
from h2.settings import SettingCodes
from hypothesis import given, settings
from hypothesis import strategies as st

from api.frames import ALLOWED, FRAME_LIMIT, PREFACE, Code, Frame, Kind
from api.http2 import DECODED, STREAMS, UNSENT, Arrived, Broken, Ended, Gone, Happening, Http2, Opened
from api.http2_head import Head
from tests.api.http2.pair import HEAD, KIB, POST, Pair, everything, frames_in


def test_a_request_and_its_answer() -> None:
    pair = Pair()
    number, (opened,) = pair.ask()
    assert isinstance(opened, Opened) and isinstance(opened.head, Head) and opened.ended
    pair.ours.respond(number, 200, [(b"X-Capital", b"y"), (b"connection", b"close")])
    pair.ours.put(number, b"hello", ended=True)
    answer, data, end = pair.hear()
    assert dict(answer.headers) == {":status": "200", "x-capital": "y"}, "headers of a connection are left out"
    assert data.data == b"hello" and isinstance(end, h2.events.StreamEnded)
    pair.ours.close(number)
    assert len(pair.ours) == 0 and pair.resets() == []


def test_crumbs_of_a_cookie_are_put_together() -> None:
    """Browsers send a cookie in parts, which compress better (RFC 9113, section 8.2.3)."""
    pair = Pair()
    _, (opened,) = pair.ask([*HEAD, ("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")])
    assert isinstance(opened, Opened) and isinstance(opened.head, Head)
    assert [value for name, value in opened.head.headers if name == b"cookie"] == [b"a=1; b=2"]


def test_what_we_ask_of_clients() -> None:
    (frame,) = [frame for frame in Pair().sent(Kind.SETTINGS) if not frame.flags]
    said = dict(struct.iter_unpack(">HL", frame.payload))
    assert said[3] == STREAMS and said[6] == 16 * KIB and said[9] == 1 and said[2] == 0


def test_a_malformed_head_is_of_its_stream_alone() -> None:
    pair = Pair()
    first, _ = pair.ask()
    number, (opened,) = pair.ask([*HEAD, ("Bad", "x")])
    assert isinstance(opened, Opened) and not isinstance(opened.head, Head)
    pair.ours.respond(number, 400, [], ended=True)
    pair.ours.close(number)
    pair.ours.respond(first, 200, [], ended=True)
    assert len([e for e in pair.hear() if isinstance(e, h2.events.ResponseReceived)]) == 2
    assert pair.ours.over is None


@pytest.mark.parametrize(
    ("length", "pieces"),
    [("3", [b"four"]), ("3", [b"tw"]), ("3", [b""]), ("0", [b"x"]), ("5", [b"abc", b"def"])],
)
def test_a_body_of_another_length_than_announced_breaks_its_stream_alone(length: str, pieces: list[bytes]) -> None:
    pair = Pair()
    number, _ = pair.ask([*POST, ("content-length", length)], ended=False)
    for piece in pieces[:-1]:
        pair.client.send_data(number, piece)
    pair.client.send_data(number, pieces[-1], end_stream=True)
    found = pair.say()
    (broken,) = [happening for happening in found if isinstance(happening, Broken)]
    assert broken.fault.where == "body" and not any(isinstance(h, Ended) for h in found)
    pair.ours.reset(number, Code.PROTOCOL_ERROR)
    pair.ours.close(number)
    assert pair.ours.over is None and isinstance(pair.ask()[1][0], Opened)


def test_trailers_break_their_stream_alone() -> None:
    pair = Pair()
    number, _ = pair.ask(POST, ended=False)
    pair.client.send_data(number, b"x")
    pair.client.send_headers(number, [("x", "y")], end_stream=True)
    assert [type(happening) for happening in pair.say()] == [Arrived, Broken]
    assert pair.ours.over is None


def test_an_answer_that_comes_early_asks_the_client_to_stop_and_hears_no_more() -> None:
    """RFC 9113, section 8.1: RST_STREAM with NO_ERROR; what was on its way is dropped and paid back."""
    pair = Pair()
    number, _ = pair.ask(POST, ended=False)
    pair.client.send_data(number, b"x" * KIB)
    pair.say()
    pair.ours.respond(number, 413, [])
    pair.ours.put(number, b"too large", ended=True)
    sent = pair.ours.pump(1 << 20)
    pair.ours.close(number)
    assert frames_in(sent)[-1].flags & 1, "the answer is whole before it"
    for _ in range(10):
        pair.client.send_data(number, b"x" * 4 * KIB)
        assert pair.say() == []
    before = pair.client.outbound_flow_control_window
    for _ in range(200):
        pair.say(Frame(Kind.DATA, 0, number, b"x" * 4 * KIB))
        pair.hear()
    assert (number, Code.NO_ERROR) in pair.resets() and pair.ours.over is None
    assert pair.client.outbound_flow_control_window >= before


def test_an_answer_that_stops_half_way_is_reset() -> None:
    pair = Pair()
    number, _ = pair.ask()
    pair.ours.respond(number, 200, [])
    pair.ours.put(number, b"half")
    pair.ours.close(number)
    pair.hear()
    assert pair.resets() == [(number, Code.INTERNAL_ERROR)]


def test_a_reset_by_the_client_frees_the_outbox_and_what_comes_later_is_ignored() -> None:
    pair = Pair(INITIAL_WINDOW_SIZE=0)
    number, _ = pair.ask()
    pair.ours.respond(number, 200, [])
    pair.ours.put(number, b"x" * KIB)
    pair.client.reset_stream(number, 8)
    assert pair.say() == [Gone(number)]
    assert pair.ours.pending(number) == 0
    pair.ours.put(number, b"late", ended=True)
    pair.ours.respond(number, 200, [])
    pair.ours.close(number)
    pair.hear()
    assert pair.resets() == [] and len(pair.ours) == 0 and pair.ours.over is None


def test_one_stream_too_many_is_refused_and_the_others_stay() -> None:
    pair = Pair()
    pair.client.remote_settings.update({SettingCodes.MAX_CONCURRENT_STREAMS: 10 * STREAMS})
    pair.client.remote_settings.acknowledge()
    for _ in range(STREAMS):
        assert pair.ask()[1]
    number, found = pair.ask()
    assert found == []
    pair.hear()
    assert pair.resets() == [(number, Code.REFUSED_STREAM)] and pair.ours.over is None
    pair.ours.close(1)
    assert isinstance(pair.ask()[1][0], Opened)


def test_rapid_resets_end_the_connection() -> None:
    """CVE-2023-44487: streams that are opened and reset at once cost us more than the client."""
    pair, opened = Pair(), 0
    while pair.ours.over is None:
        number, _ = pair.ask()
        opened += 1
        pair.client.reset_stream(number)
        pair.say()
        pair.ours.close(number)
    assert opened == ALLOWED["reset"].burst + 1
    assert pair.goaway() == (2 * opened - 1, Code.ENHANCE_YOUR_CALM)


def test_resets_that_the_client_makes_us_send_are_counted_too() -> None:
    """CVE-2025-8671: a window that overflows makes h2 reset the stream."""
    pair, opened = Pair(), 0
    while pair.ours.over is None and opened < 1_000:
        number, _ = pair.ask()
        opened += 1
        found = pair.say(Frame(Kind.WINDOW_UPDATE, 0, number, struct.pack(">L", 2**31 - 1)))
        assert found == [Gone(number)] or pair.ours.over
        pair.ours.close(number)
        pair.hear()
    assert opened == ALLOWED["reset"].burst + 1


def test_malformed_requests_are_counted_too() -> None:
    pair, opened = Pair(), 0
    while pair.ours.over is None and opened < 1_000:
        number, _ = pair.ask([*HEAD, ("Bad", "x")])
        opened += 1
        pair.ours.close(number)
        pair.hear()
    assert opened == ALLOWED["reset"].burst + 1


UPDATE = struct.pack(">L", 2**31 - 1)
FATAL = {
    "a window of the connection that overflows": (Frame(Kind.WINDOW_UPDATE, 0, 0, UPDATE), 3),
    "a frame of a stream that is none": (Frame(Kind.DATA, 0, 0, b"x" * 99), 1),
    "DATA before its head": (Frame(Kind.DATA, 1, 99, b"x" * 99), 1),
    "an even stream": (Frame(Kind.HEADERS, 5, 2, b"\x82"), 1),
    "a push": (Frame(Kind.PUSH_PROMISE, 4, 1, b"\0\0\0\2"), 1),
    "CONTINUATION without a head": (Frame(Kind.CONTINUATION, 4, 1, b""), 1),
    "a head that is no HPACK": (Frame(Kind.HEADERS, 5, 1, b"\xff\xff\xff\xff\xff"), 1),
    "an initial window that is too large": (Frame(Kind.SETTINGS, 0, 0, struct.pack(">HL", 4, 2**31)), 3),
    "SETTINGS cut off": (Frame(Kind.SETTINGS, 0, 0, b"abc"), 6),
    "GOAWAY cut off": (Frame(Kind.GOAWAY, 0, 0, b"abc"), 1),
    "padding longer than its frame": (Frame(Kind.DATA, 8, 1, b"\xff" + b"x" * 80), 1),
}


@pytest.mark.parametrize("name", FATAL)
def test_what_is_wrong_with_the_connection_ends_it_with_a_code(name: str) -> None:
    frame, code = FATAL[name]
    pair = Pair()
    pair.say(frame)
    assert pair.ours.over is not None
    found = pair.goaway()
    assert found is not None and found[1] in (code, 9 if "HPACK" in name else code)


def test_a_bomb_of_hpack_ends_the_connection_before_it_is_large() -> None:
    """CVE-2016-6581: one entry of the table, named a thousand times by one byte each."""
    entry = b"\x40\x01a\x7f\x81\x1e" + b"v" * 4000
    bomb = b"\x82\x87\x84\x41\x01x" + entry + b"\xbe" * 10_000
    pair = Pair()
    assert pair.say(Frame(Kind.HEADERS, 5, 1, bomb)) == []
    assert pair.ours.over is not None and str(DECODED) in pair.ours.over
    assert pair.goaway() == (0, Code.ENHANCE_YOUR_CALM)


def test_a_peer_that_makes_us_talk_and_does_not_listen_is_left() -> None:
    pair, pings = Pair(), 0
    ping = Frame(Kind.PING, 0, 0, b"12345678")
    while pair.ours.over is None:
        pair.say(ping)
        pair.now += 0.2  # slowly, so that it is no flood
        pings += 1
    assert pings * len(ping.encode()) == pytest.approx(UNSENT, abs=100)


def test_a_ping_is_answered_with_what_it_said() -> None:
    pair = Pair()
    pair.client.ping(b"abcdefgh")
    pair.say()
    (event,) = pair.hear()
    assert isinstance(event, h2.events.PingAckReceived) and event.ping_data == b"abcdefgh"


def test_a_stream_whose_window_is_shut_holds_up_no_other() -> None:
    pair = Pair(INITIAL_WINDOW_SIZE=KIB)
    shut, _ = pair.ask()
    open_, _ = pair.ask()
    for number in (shut, open_):
        pair.ours.respond(number, 200, [])
        pair.ours.put(number, b"x" * 10 * KIB, ended=True)
    pair.client.increment_flow_control_window(20 * KIB, open_)
    pair.say()
    pair.hear()
    assert pair.ours.pending(open_) == 0 and pair.ours.pending(shut) == 9 * KIB
    pair.client.increment_flow_control_window(20 * KIB, shut)
    pair.say()
    pair.hear()
    assert pair.ours.pending(shut) == 0


def test_streams_take_turns_of_one_frame() -> None:
    pair = Pair(INITIAL_WINDOW_SIZE=10**6)
    pair.client.increment_flow_control_window(10**6)
    large, _ = pair.ask()
    small, _ = pair.ask()
    for number in (large, small):
        pair.ours.respond(number, 200, [])
    pair.ours.put(large, b"x" * 40 * FRAME_LIMIT, ended=True)
    pair.hear(FRAME_LIMIT)
    pair.ours.put(small, b"y", ended=True)
    sent = [frame.stream for frame in frames_in(pair.ours.pump(3 * FRAME_LIMIT)) if frame.kind == Kind.DATA]
    assert small in sent[:2] and sent.count(large) == 3


def test_the_connections_window_is_shared_and_not_overdrawn() -> None:
    pair = Pair(INITIAL_WINDOW_SIZE=10**6)
    numbers = [pair.ask()[0] for _ in range(3)]
    for number in numbers:
        pair.ours.respond(number, 200, [])
        pair.ours.put(number, b"x" * 65_535, ended=True)
        assert pair.ours.room(number) == 0
    pair.hear()
    assert sum(len(frame.payload) for frame in pair.sent(Kind.DATA)) == 65_535
    left = [pair.ours.pending(number) for number in numbers]
    assert max(left) - min(left) <= 2 * FRAME_LIMIT and sum(left) == 2 * 65_535
    pair.client.increment_flow_control_window(10**6)
    pair.say()
    pair.hear()
    assert all(pair.ours.pending(number) == 0 for number in numbers)


def test_a_body_is_paid_back_when_it_is_taken_and_when_nobody_takes_it() -> None:
    """Whatever becomes of a body, the connection's window is whole again after it."""
    pair = Pair()
    whole = pair.client.outbound_flow_control_window
    assert whole == 1 << 20
    for taken in (True, False) * 40:
        number, _ = pair.ask(POST, ended=False)
        pair.client.send_data(number, b"x" * 15 * KIB, pad_length=100)
        pair.client.send_data(number, b"x" * 8 * KIB, end_stream=True)
        for happening in pair.say():
            if taken and isinstance(happening, Arrived):
                pair.ours.consumed(number, len(happening.data))
        pair.ours.respond(number, 200, [], ended=True)
        pair.ours.close(number)
        pair.hear()
        assert pair.client.outbound_flow_control_window > 400 * KIB


def test_leaving_serves_what_is_open_and_refuses_what_is_new() -> None:
    pair = Pair()
    first, _ = pair.ask()
    pair.ours.leave()
    pair.ours.leave()
    second, found = pair.ask()
    assert found == []
    pair.ours.respond(first, 200, [])
    pair.ours.put(first, b"farewell", ended=True)
    events = pair.hear()
    assert any(isinstance(e, h2.events.StreamEnded) and e.stream_id == first for e in events)
    assert [struct.unpack(">LL", f.payload) for f in pair.sent(Kind.GOAWAY)] == [(first, 0)]
    assert pair.resets() == [(second, Code.REFUSED_STREAM)]


def test_a_client_that_leaves_in_order_still_gets_its_answers() -> None:
    pair = Pair()
    number, _ = pair.ask()
    pair.say(Frame(Kind.GOAWAY, 0, 0, struct.pack(">LL", 0, 0)))
    assert pair.ours.leaving and pair.ours.over is None
    pair.ours.respond(number, 200, [], ended=True)
    assert isinstance(pair.hear()[0], h2.events.ResponseReceived)
    pair.say(Frame(Kind.GOAWAY, 0, 0, struct.pack(">LL", 0, 2)))
    assert pair.ours.over is not None


RAW = st.builds(
    Frame,
    st.integers(0, 11),
    st.sampled_from([0, 1, 4, 5, 8, 0x20, 0x25, 0x2D]),
    st.sampled_from([0, 1, 3, 5, 7, 2]),
    st.one_of(st.binary(max_size=40), st.sampled_from([b"\0\0\0\1", b"\x82\x87\x84\x41\x01x", b"\0" * 8, UPDATE])),
)
MOVES = st.lists(
    st.one_of(RAW, st.sampled_from(["ask", "post", "reset", "answer", "close", "pump", "leave"])), max_size=40
)


@settings(max_examples=300, deadline=None)
@given(MOVES)
def test_any_order_of_frames_is_read_or_ends_the_connection(moves: list[Frame | str]) -> None:
    """Whatever comes: no exception but ours, a body never beyond the windows, nothing left once all is closed."""
    pair = Pair()
    known, answered = list[int](), set[int]()
    raw_sent = False
    for move in moves:
        if isinstance(move, Frame):
            found = pair.say(move)
            raw_sent = True
        elif move in ("ask", "post") and not raw_sent:
            found = pair.ask(POST if move == "post" else HEAD, ended=move == "ask")[1]
        else:
            found = []
            _move(pair, move, known, answered)
        known += [happening.stream for happening in found if isinstance(happening, Opened)]
        assert pair.ours.over is None or pair.ours.step(0) is None
    for number in known:
        pair.ours.close(number)
    assert len(pair.ours) == 0 and "0 bytes queued" in repr(pair.ours)
    assert pair.ours.pump(1 << 20) is not None and pair.ours.pump(1) == b""


def _move(pair: Pair, move: str, known: list[int], answered: set[int]) -> None:
    for number in known[-2:]:
        match move:
            case "answer":
                if number not in answered:
                    answered.add(number)
                    pair.ours.respond(number, 200, [])
                pair.ours.put(number, b"x" * 20 * KIB)
            case "reset":
                pair.ours.reset(number, Code.CANCEL)
            case "close":
                pair.ours.close(number)
            case _:
                pass
    if move == "leave":
        pair.ours.leave()
    elif move == "pump":
        assert len(pair.ours.pump(64 * KIB)) <= 64 * KIB + FRAME_LIMIT + UNSENT


@given(st.binary(max_size=400))
def test_any_bytes_behind_the_preface_raise_nothing(raw: bytes) -> None:
    ours = Http2()
    ours.feed(PREFACE + Frame(Kind.SETTINGS, 0, 0, b"").encode() + raw)
    assert all(isinstance(found, Happening) for found in everything(ours))
