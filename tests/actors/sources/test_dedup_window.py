from __future__ import annotations

import pytest

from actors.sources.dedup_window import LEAST_SAVED, SPAN, DedupWindow, decode
from storage.records.checks import Note, unpack_memory
from storage.records.checks import read_notes as read
from tests.support.build import NOW


def mark(number: int) -> bytes:
    return number.to_bytes(6)


def filled(count: int) -> DedupWindow:
    window = DedupWindow()
    for number in range(count):
        window.add(mark(number), f"id {number}")
    return window


def test_the_oldest_goes_when_there_are_too_many() -> None:
    window = filled(SPAN + 1)
    assert len(window) == SPAN
    assert (mark(0) in window, mark(1) in window) == (False, True)


def test_a_slow_source_saves_its_newest_marks_and_knows_that_there_are_more() -> None:
    window = filled(3_000)
    saved = decode(window.encode(1))
    assert (len(saved), window.is_saved, saved.last_id) == (LEAST_SAVED, False, "id 2999")
    assert (mark(999) in saved, mark(1_000) in saved) == (False, True)
    assert len(window.encode(1)) < 12_100


def test_a_busy_source_saves_the_whole_window() -> None:
    window = filled(SPAN)
    assert len(decode(window.encode(SPAN // 40))) == SPAN
    assert window.is_saved


def test_the_order_survives_so_that_the_oldest_still_goes_first() -> None:
    window = decode(filled(SPAN).encode(SPAN))
    window.add(mark(SPAN), "")
    assert (mark(0) in window, mark(1) in window, window.last_id) == (False, True, f"id {SPAN - 1}")


def test_notes_of_listening_are_stored_with_the_marks() -> None:
    window = filled(3)
    window.encode(3)
    assert window.is_saved
    window.add_note(Note(NOW, "stretch", "", counts={"frames": 9}, until=NOW))
    assert not window.is_saved
    again = decode(window.encode(3))
    assert (len(again), again.last_id, mark(2) in again) == (3, "id 2", True)
    (only,) = read(unpack_memory(again.encode(1)).notes)
    assert only.counts == {"frames": 9}


@pytest.mark.parametrize("memory", [b"", b"\x90", b"\xff\xff", b"\x92\xc4\x07abcdefg\xa1x", b"\x93\xa1a\xa1b\xa1c"])
def test_damaged_bytes_are_an_empty_memory_or_its_readable_part(memory: bytes) -> None:
    assert len(decode(memory)) <= 1
