from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.sources.feed.seen import KEPT, EntryFingerprint, Manner, compare, manner_of, was_empty
from tests.support.build import NOW

FP = "00000000000000aa"
OTHER = "00000000000000bb"
entries = st.lists(
    st.tuples(st.text(max_size=8), st.sampled_from([FP, OTHER])).map(lambda pair: EntryFingerprint(*pair)), max_size=30
)


def memory_of(*names: str) -> bytes:
    memory = compare(b"", [EntryFingerprint(name, FP) for name in names]).memory
    assert memory is not None
    return memory


def test_the_first_document_is_all_new_and_leaves_a_memory() -> None:
    found = compare(b"", [EntryFingerprint("a", FP), EntryFingerprint("b", FP)])
    assert (found.new, found.updated) == ((0, 1), ())
    assert found.memory


def test_an_empty_first_document_leaves_a_memory_that_is_not_empty() -> None:
    assert compare(b"", []).memory


def test_the_same_document_changes_nothing_in_any_order() -> None:
    assert compare(memory_of("a", "b"), [EntryFingerprint("b", FP), EntryFingerprint("a", FP)])[:3] == ((), (), None)


def test_a_new_entry_and_an_edited_one_are_distinguished() -> None:
    found = compare(
        memory_of("a", "b"), [EntryFingerprint("c", FP), EntryFingerprint("a", OTHER), EntryFingerprint("b", FP)]
    )
    assert (found.new, found.updated) == ((0,), (1,))


def test_an_entry_that_was_dropped_and_comes_back_is_known() -> None:
    shrunk = compare(memory_of("a", "b"), [EntryFingerprint("c", FP)]).memory
    assert shrunk is not None
    assert compare(shrunk, [EntryFingerprint("a", FP), EntryFingerprint("b", FP), EntryFingerprint("c", FP)])[:3] == (
        (),
        (),
        None,
    )


def test_an_identity_that_occurs_twice_counts_once() -> None:
    assert compare(b"", [EntryFingerprint("a", FP), EntryFingerprint("a", OTHER)]).new == (0,)


def test_the_memory_is_bounded_and_forgets_the_longest_absent_first() -> None:
    memory = memory_of("first")
    for number in range(KEPT + 50):
        memory = compare(memory, [EntryFingerprint(str(number), FP)]).memory or memory
    assert len(memory) < 36 * KEPT
    assert compare(memory, [EntryFingerprint("first", FP)]).new == (0,)
    assert compare(memory, [EntryFingerprint(str(KEPT), FP)]).new == ()


def test_a_large_document_is_remembered_whole() -> None:
    names = [EntryFingerprint(str(number), FP) for number in range(5_000)]
    memory = compare(b"", names).memory
    assert memory is not None
    assert compare(memory, names)[:3] == ((), (), None)


def test_a_memory_in_an_unknown_form_is_refused() -> None:
    for unknown in (b"\x07abc", b"\x0cabc"):
        with pytest.raises(ValueError, match="unknown form"):
            compare(unknown, [])


@given(entries, entries)
def test_an_entry_compared_once_is_never_new_again(
    before: list[EntryFingerprint], after: list[EntryFingerprint]
) -> None:
    first = compare(b"", before).memory or b""
    second = compare(first, after)
    kept = second.memory if second.memory is not None else first
    again = compare(kept, after)
    assert (again.new, again.updated) == ((), ())
    assert {after[i].key for i in second.new}.isdisjoint(entry.key for entry in before)


def linked(name: str, link: str, print_: str = FP, **more: object) -> EntryFingerprint:
    return EntryFingerprint(name, print_, link, **more)  # type: ignore[arg-type]


THREE = [linked("x", "/x"), linked("y", "/y"), linked("z", "/z")]


def after(before: list[EntryFingerprint], now: list[EntryFingerprint]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the new and the updated entries of a document that follows another."""
    found = compare(compare(b"", before).memory or b"", now)
    return found.new, found.updated


def test_a_guid_that_changes_on_the_same_link_is_the_same_entry() -> None:
    assert after(THREE, [linked("x#1", "/x"), *THREE[1:]]) == ((), ())
    assert after(THREE, [linked("x#1", "/x", OTHER), *THREE[1:]]) == ((), (0,))


def test_after_a_guid_has_changed_its_old_form_and_its_new_one_are_known() -> None:
    first = compare(b"", THREE).memory or b""
    second = compare(first, [linked("x#1", "/x"), *THREE[1:]]).memory
    assert second is not None
    assert compare(second, [linked("x#1", "/x"), *THREE[1:]])[:3] == ((), (), None)
    assert compare(second, THREE)[:2] == ((), ())


def test_a_second_entry_with_the_link_of_one_that_is_still_there_is_new() -> None:
    assert after(THREE, [linked("w", "/x"), *THREE])[0] == (0,)


def test_a_feed_that_links_one_page_for_all_entries_has_no_names_in_its_links() -> None:
    before = [linked(name, "/log") for name in "abc"]
    assert after(before, [linked("d", "/log", OTHER), *before[:2]])[0] == (0,)


def test_a_single_entry_with_a_new_guid_and_the_same_text_is_new_if_its_date_is() -> None:
    old = [linked("a", "/live", date=NOW)]
    assert after(old, [linked("b", "/live", date=NOW)]) == ((), ())
    assert after(old, [linked("b", "/live", date=NOW + 3_600_000)]) == ((0,), ())
    assert after(old, [linked("b", "/live", date=NOW - 3_600_000)]) == ((), ())
    assert after(old, [linked("b", "/live", OTHER, date=NOW)]) == ((0,), ())


def test_an_alias_names_an_entry_with_a_new_key() -> None:
    before = [linked("g /1", "/1", aliases=("g",)), linked("g /2", "/2", OTHER, aliases=("g",))]
    alone = linked("g", "/2", OTHER, aliases=("g /2",))
    assert after(before, [alone]) == ((), ())
    assert after([alone], [linked("g /3", "/3", aliases=("g",)), *before]) == ((0, 1), ())


def old_memory(*marks: EntryFingerprint, manner: int = 4) -> bytes:
    """Return a memory in the format before prints of titles and dates."""

    def hashed(text: str, size: int) -> bytes:
        return blake2b(text.encode(), digest_size=size).digest() if text else bytes(size)

    rows = (hashed(mark.key, 8) + hashed(mark.link, 4) + bytes.fromhex(mark.fingerprint) for mark in reversed(marks))
    return bytes([manner]) + b"".join(rows)


def entry(
    key: str, words: bytes, date: int | None = NOW, link: str = "", lines: bytes = b"", **more: object
) -> EntryFingerprint:
    """Return an entry with four letters each for title and text."""
    return EntryFingerprint(key, words.hex(), link or f"/{key}", prints=words + lines, date=date, **more)  # type: ignore[arg-type]


def test_a_memory_of_the_form_before_knows_all_that_it_held_and_is_converted() -> None:
    now = [entry("a", b"aaaaAAAA"), entry("b", b"bbbbBBBB")]
    found = compare(old_memory(*now), [*now, entry("c", b"ccccCCCC")])
    assert (found.new, found.updated) == ((2,), ())
    same = compare(old_memory(*now), now)
    assert (same.new, same.updated, same.memory is None) == ((), (), False)
    again = compare(same.memory or b"", [entry("x", b"aaaaAAAA"), entry("y", b"bbbbBBBB")])
    assert (again.new, again.moved) == ((), (0, 1)), "the converted memory knows titles, texts and dates"
    assert compare(old_memory(*now), [entry("a", b"aaaaOOOO"), now[1]]).updated == (0,)


@pytest.mark.parametrize(("manner", "then"), [(4, Manner.PLAIN), (5, Manner.HELD), (6, Manner.TURNS_OVER)])
def test_a_memory_of_the_form_before_keeps_its_manner(manner: int, then: Manner) -> None:
    assert manner_of(old_memory(manner=manner)) is then
    assert was_empty(old_memory(manner=manner | 0x80))


def test_entries_that_shared_a_name_before_are_not_reported_at_the_first_check_after() -> None:
    before = entry("/log title", b"sameAAAA", link="/log")
    now = [
        entry(f"/log title {n}", text, link="/log", aliases=("/log title",))
        for n, text in enumerate((b"sameBBBB", b"sameAAAA"))
    ]
    found = compare(old_memory(before), now)
    assert (found.new, found.updated) == ((), ())
    later = compare(found.memory or b"", [entry("/log title 9", b"sameCCCC", NOW + 120_000, "/log"), *now])
    assert later.new == (0,)


@pytest.mark.parametrize("date", [NOW, None])
def test_an_entry_with_another_id_and_link_is_known_by_its_title_text_and_date(date: int | None) -> None:
    before = [entry(name, words, date) for name, words in (("a", b"aaaaAAAA"), ("b", b"bbbbBBBB"))]
    found = compare(compare(b"", before).memory or b"", [entry("c", b"aaaaAAAA", date, has_id=True), before[1]])
    assert (found.new, found.updated, found.moved) == ((), (), (0,))


@pytest.mark.parametrize(
    ("words", "date", "result"),
    [
        (b"aaaaOOOO", NOW, ((), (0,))),
        (b"ooooAAAA", NOW, ((), (0,))),
        (b"ooooOOOO", NOW, ((0,), ())),
        (b"aaaaAAAA", NOW + 3_600_000, ((0,), ())),
        (b"aaaaOOOO", NOW + 3_600_000, ((0,), ())),
        (b"aaaaAAAA", NOW + 30_000, ((), ())),
    ],
)
def test_two_of_title_text_and_date_make_it_known_if_the_date_is_one(
    words: bytes, date: int, result: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    assert (
        after([entry("a", b"aaaaAAAA"), entry("b", b"bbbbBBBB", NOW - 86_400_000)], [entry("c", words, date)]) == result
    )


def test_a_cut_entry_counts_for_nothing_until_the_same_document_comes_again() -> None:
    whole = [entry("a", b"aaaaAAAA"), entry("b", b"bbbbBBBB"), entry("c", b"ccccCCCC")]
    memory = compare(b"", whole).memory or b""
    half = [entry("n", b"nnnnNNNN"), entry("a", b"aaaaHALF")]
    cut = compare(memory, half, cut=True, cut_entry=True)
    assert (cut.new, cut.updated, cut.left_out) == ((0,), (), 1)
    mended = compare(cut.memory or b"", [half[0], *whole])
    assert (mended.new, mended.updated) == ((), ())
    assert compare(cut.memory or b"", half, cut=True, cut_entry=True).updated == (1,)
    assert compare(mended.memory or b"", half, cut=True, cut_entry=True).updated == ()


def test_entries_behind_a_cut_first_document_are_not_new() -> None:
    marks = [entry(name, name.encode() * 8) for name in "abcd"]
    first = compare(b"", marks[:2], cut=True, cut_entry=True).memory or b""
    found = compare(first, [entry("n", b"nnnnNNNN"), *marks])
    assert found.new == (0,)
