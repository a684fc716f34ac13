from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.source.seen import KEPT, compare

FP = "00000000000000aa"
OTHER = "00000000000000bb"
entries = st.lists(st.tuples(st.text(max_size=8), st.sampled_from([FP, OTHER])), max_size=30)


def memory_of(*names: str) -> bytes:
    memory = compare(b"", [(name, FP) for name in names]).memory
    assert memory is not None
    return memory


def test_the_first_document_is_all_new_and_leaves_a_memory() -> None:
    found = compare(b"", [("a", FP), ("b", FP)])
    assert (found.new, found.updated) == ((0, 1), ())
    assert found.memory


def test_an_empty_first_document_leaves_a_memory_that_is_not_empty() -> None:
    assert compare(b"", []).memory


def test_the_same_document_changes_nothing_in_any_order() -> None:
    assert compare(memory_of("a", "b"), [("b", FP), ("a", FP)]) == ((), (), None)


def test_a_new_entry_and_an_edited_one_are_told_apart() -> None:
    found = compare(memory_of("a", "b"), [("c", FP), ("a", OTHER), ("b", FP)])
    assert (found.new, found.updated) == ((0,), (1,))


def test_an_entry_that_was_dropped_and_comes_back_is_known() -> None:
    shrunk = compare(memory_of("a", "b"), [("c", FP)]).memory
    assert shrunk is not None
    assert compare(shrunk, [("a", FP), ("b", FP), ("c", FP)]) == ((), (), None)


def test_an_identity_that_occurs_twice_counts_once() -> None:
    assert compare(b"", [("a", FP), ("a", OTHER)]).new == (0,)


def test_the_memory_is_bounded_and_forgets_the_longest_absent_first() -> None:
    memory = memory_of("first")
    for number in range(KEPT + 50):
        memory = compare(memory, [(str(number), FP)]).memory or memory
    assert len(memory) == 1 + 16 * KEPT
    assert compare(memory, [("first", FP)]).new == (0,)
    assert compare(memory, [(str(KEPT), FP)]).new == ()


def test_a_large_document_is_remembered_whole() -> None:
    names = [(str(number), FP) for number in range(5_000)]
    memory = compare(b"", names).memory
    assert memory is not None
    assert compare(memory, names) == ((), (), None)


def test_a_memory_in_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown form"):
        compare(b"\x07abc", [])


@given(entries, entries)
def test_what_was_compared_once_is_never_new_again(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    first = compare(b"", before).memory or b""
    second = compare(first, after)
    kept = second.memory if second.memory is not None else first
    again = compare(kept, after)
    assert (again.new, again.updated) == ((), ())
    assert {after[i][0] for i in second.new}.isdisjoint(name for name, _ in before)
