from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.jail.framing import (
    FRAME_LIMIT,
    BadFrame,
    Frames,
    Kind,
    Task,
    answer_frame,
    decode,
    encode,
    frame,
    read_answer,
)


@given(st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=200)), max_size=6), st.data())
def test_frames_survive_any_cutting(frames: list[tuple[Kind, bytes]], data: st.DataObject) -> None:
    wire = b"".join(frame(kind, payload) for kind, payload in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=8)))
    reader, found = Frames(), []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        found += list(reader.feed(wire[start:end]))
    assert found == frames


@given(st.text(st.characters(codec="ascii"), max_size=60), st.integers(0, 2**32 - 1), st.binary(max_size=100))
def test_a_task_comes_back_as_it_was(name: str, deadline: int, request: bytes) -> None:
    [(kind, payload)] = Frames().feed(frame(Kind.TASK, encode(Task(name, deadline, request))))
    assert kind is Kind.TASK
    assert decode(payload, type=Task) == Task(name, deadline, request)


def test_an_answer_carries_the_memory_in_use() -> None:
    [(kind, payload)] = Frames().feed(answer_frame(Kind.DONE, 4096, b"result"))
    assert (kind, read_answer(payload)) == (Kind.DONE, (4096, b"result"))


@pytest.mark.parametrize("wire", [b"\xff\xff\xff\xff\x04", b"\x00\x00\x00\x01\x63", b"\x00\x00\x00\x00\x04"])
def test_an_invalid_frame_is_refused(wire: bytes) -> None:
    with pytest.raises(BadFrame):
        list(Frames().feed(wire))


def test_a_frame_beyond_the_limit_is_never_made() -> None:
    with pytest.raises(BadFrame):
        frame(Kind.TASK, bytes(FRAME_LIMIT))


def test_an_answer_without_its_head_is_refused() -> None:
    with pytest.raises(BadFrame):
        read_answer(b"abc")
