from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.changes.diff import MOST_OPS, DiffContexts, compare
from storage.records.event import Change, Context, Op, Spans
from tests.support.pages import apply

paragraphs = st.lists(st.sampled_from(["a", "b", "c d e", "c d f", "c x y", "g", "long one with words"]), max_size=30)


@given(paragraphs, paragraphs)
def test_the_delta_applied_to_the_old_text_gives_the_new(before: list[str], after: list[str]) -> None:
    _, delta = compare(before, after)
    assert apply(before, delta) == after
    assert delta.stats.unchanged + delta.stats.removed + delta.stats.changed == len(before)
    assert delta.stats.unchanged + delta.stats.added + delta.stats.changed == len(after)


@given(paragraphs, paragraphs)
def test_unchanged_text_is_not_a_change(before: list[str], after: list[str]) -> None:
    diff, delta = compare(before, after)
    assert all(change.before != change.after for change in diff.changed)
    assert all(op.before != op.after for op in delta.ops if op.op == "replace")


@given(st.lists(st.text(max_size=3), max_size=40), st.randoms())
def test_any_shuffle_can_be_rebuilt(before: list[str], chance: random.Random) -> None:
    after = list(before)
    chance.shuffle(after)
    diff, delta = compare(before, after)
    assert apply(before, delta) == after
    assert not diff.truncated


def test_equal_texts_have_an_empty_delta() -> None:
    diff, delta = compare(["a", "b"], ["a", "b"])
    assert (delta.ops, diff.added, diff.removed, diff.changed) == ((), (), (), ())


def test_an_edited_paragraph_is_shown_as_changed_and_counted() -> None:
    diff, delta = compare(["one", "the price is $9 now", "end"], ["one", "the price is $8 now", "new line", "end"])
    spans = Spans(before=((14, 15),), after=((14, 15),))
    assert diff.changed == (Change("the price is $9 now", "the price is $8 now", spans=spans),)
    assert (diff.added, diff.removed) == (("new line",), ())
    assert delta.ops == (
        Op("replace", 1, before="the price is $9 now", after="the price is $8 now"),
        Op("insert", 2, text="new line"),
    )


def test_a_paragraph_that_only_moved_is_neither_added_nor_removed() -> None:
    diff, delta = compare(["a", "b", "c"], ["b", "c", "a"])
    assert (diff.added, diff.removed, diff.changed) == ((), (), ())
    assert delta.ops


def rows(*names: str) -> list[Context]:
    return [Context("Plans", name, column) for name in names for column in ("Price", "Seats")]


def test_a_cell_that_changed_while_its_row_moved_is_changed() -> None:
    before, after = ["9", "1 seat", "29", "5 seats", "99", "9 seats"], ["99", "9 seats", "31", "5 seats", "9", "1 seat"]
    where = DiffContexts(rows("Solo", "Team", "Crew"), rows("Crew", "Team", "Solo"))
    diff, delta = compare(before, after, where)
    assert [(change.before, change.after) for change in diff.changed] == [("29", "31")]
    assert (diff.added, diff.removed) == ((), ())
    assert apply(before, delta) == after


def test_a_cell_is_never_changed_into_that_of_another_row() -> None:
    diff, _ = compare(["9", "1 seat"], ["31", "5 seats"], DiffContexts(rows("Solo"), rows("Team")))
    assert (diff.added, diff.removed, diff.changed) == (("31", "5 seats"), ("9", "1 seat"), ())


def test_large_changes_are_truncated_and_say_so() -> None:
    diff, delta = compare([], [f"paragraph {n}" for n in range(MOST_OPS + 10)])
    assert delta.truncated
    assert diff.truncated
    assert delta.stats.added == MOST_OPS + 10
    with pytest.raises(ValueError, match="truncated"):
        apply([], delta)


def test_one_enormous_paragraph_still_shows_its_beginning() -> None:
    diff, delta = compare(["x" * 100_000], ["y" * 100_000])
    assert delta.truncated
    assert len(delta.ops) == 1
    assert 0 < len(diff.changed[0].before) < 10_000


def test_hostile_repetition_is_cheap() -> None:
    before = ["a", "b"] * 5_000
    after = ["b", "a"] * 4_000 + [f"{n}" for n in range(2_000)]
    start = time.process_time()
    compare(before, after)
    assert time.process_time() - start < 2.0


def test_a_moved_row_is_not_mistaken_for_the_changed_one() -> None:
    before = {'"plans":': "", "Team 10": "plans[Team]", "Pro 20": "plans[Pro]", "status ok": ""}
    after = {"status ok": "", '"plans":': "", "Pro 20": "plans[Pro]", "Team 12": "plans[Team]"}
    where = DiffContexts(*(tuple(Context(row=row) for row in side.values()) for side in (before, after)))
    diff, delta = compare(list(before), list(after), where)
    assert not diff.added and not diff.removed
    assert [(one.before, one.after) for one in diff.changed] == [("Team 10", "Team 12")]
    assert apply(list(before), delta) == list(after)
