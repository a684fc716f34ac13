"""Earlier versions of a page from its deltas, and comparisons of two."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.content.changes.diff import DiffContexts, compare
from actors.versions import Arrivals, DiffParagraph, Paragraph, aligned, compared, undo
from storage.records.event import Context, Delta

texts = st.lists(st.sampled_from(["a", "b", "c d e", "c d f", "c x y", "g", "g h"]), max_size=12)
SEATS = Context("Plans", "Team", "Seats")


def delta_of(before: list[str], after: list[str], where: DiffContexts | None = None) -> Delta:
    return compare(before, after, where)[1]


def says(paragraphs: list[Paragraph] | None) -> list[str] | None:
    return None if paragraphs is None else [one.text for one in paragraphs]


@given(st.lists(texts, min_size=2, max_size=5))
def test_every_version_of_a_history_is_had_whole_by_taking_back_its_deltas(history: list[list[str]]) -> None:
    held: list[Paragraph] | None = [Paragraph(text) for text in history[-1]]
    found = [held]
    for before, after in list(pairwise(history))[::-1]:
        assert held is not None
        held = undo(held, delta_of(before, after))
        found.append(held)
    assert [says(one) for one in found] == history[::-1]
    oldest, newest = found[-1], found[0]
    assert oldest is not None and newest is not None
    steps = compared(oldest, newest)
    assert [step.after for step in steps if step.after is not None] == history[-1]
    gone = [step.before for step in steps if step.before is not None]
    assert sorted(gone) == sorted(history[0]), "each text of the older version stands there once"


def test_two_edits_of_a_place_are_one_change_with_its_reported_place() -> None:
    first, second, third = (["Plans", f"{count} seats", "end"] for count in (5, 7, 9))
    where = DiffContexts([Context(), SEATS, Context()], [Context(), SEATS, Context()])
    newest = [Paragraph(text) for text in third]
    middle = undo(newest, delta_of(second, third, where))
    assert middle is not None
    oldest = undo(middle, delta_of(first, second, where))
    assert oldest is not None
    steps = compared(oldest, newest)
    assert [step for step in steps if not step.same] == [DiffParagraph("5 seats", "9 seats", SEATS)]
    assert compared(oldest, oldest) == [
        DiffParagraph(text, text, step.context) for text, step in zip(first, steps, strict=True)
    ]


def test_reverted_and_moved_text_is_no_difference() -> None:
    a, b, c = ["one", "two words", "end"], ["one", "end"], ["one", "end", "two words"]
    newest = [Paragraph(text) for text in c]
    middle = undo(newest, delta_of(b, c))
    assert middle is not None
    oldest = undo(middle, delta_of(a, b))
    assert oldest is not None
    assert all(step.same for step in compared(oldest, newest))
    assert [step.before for step in compared(oldest, middle) if not step.same] == ["two words"]


def test_two_texts_without_events_between_them_are_compared_by_themselves() -> None:
    steps = compared(*aligned(["one", "it costs 19 now", "end"], ["one", "it costs 29 now", "more", "end"]))
    assert [step for step in steps if not step.same] == [
        DiffParagraph("it costs 19 now", "it costs 29 now"),
        DiffParagraph(None, "more"),
    ]


def told_by(arrivals: Arrivals, *history: list[str]) -> list[int | None]:
    for at, (before, after) in list(enumerate(pairwise(history), 1))[::-1]:
        arrivals.undo(at, delta_of(before, after))
    return arrivals.at


def test_each_text_says_which_change_brought_it_or_altered_it_last() -> None:
    first = ["Plans", "5 seats", "Menu"]
    history = first, ["Plans", "7 seats", "Menu"], ["Plans", "7 seats", "Menu", "A new offer"]
    arrivals = Arrivals(history[-1])
    assert told_by(arrivals, *history) == [None, 1, None, 2]
    assert not arrivals.broken and not arrivals.is_done, "what has been there all the time has no change"


def test_a_text_that_only_moved_has_stood_there() -> None:
    before, after = ["one", "two", "three x y z", "four"], ["three x y z", "one", "two", "four", "five"]
    arrivals = Arrivals([*after, "six"])
    assert told_by(arrivals, before, after, [*after, "six"]) == [None, None, None, None, 1, 2]


def test_versions_before_a_truncated_change_are_unknown() -> None:
    arrivals = Arrivals(["one", "two", "three"])
    arrivals.undo(9, delta_of(["one", "two"], ["one", "two", "three"]))
    arrivals.undo(5, replace(delta_of(["one"], ["one", "two"]), truncated=True))
    assert arrivals.at == [5, 5, 9] and arrivals.broken and arrivals.is_done


@given(st.lists(texts, min_size=2, max_size=5))
def test_a_text_that_no_change_brought_was_there_at_first(history: list[list[str]]) -> None:
    arrivals = Arrivals(history[-1])
    told_by(arrivals, *history)
    assert not arrivals.broken
    there = [text for text, at in zip(history[-1], arrivals.at, strict=True) if at is None]
    left = list(history[0])
    for text in there:
        left.remove(text)


def test_a_delta_that_was_cut_or_does_not_fit_ends_the_chain() -> None:
    delta = compare(["one", "two"], ["one", "three words here", "two"])[1]
    now = [Paragraph(text) for text in ("one", "three words here", "two")]
    assert [one.text for one in undo(now, delta) or ()] == ["one", "two"]
    assert undo(now, replace(delta, truncated=True)) is None
    assert undo(now[:2], delta) is None, "another number of texts"
    assert undo([Paragraph("one"), Paragraph("another"), Paragraph("two")], delta) is None, "another text there"
    assert undo([Paragraph("x")], Delta((compare(["y"], ["z"])[1].ops[0],), delta.stats)) is None
