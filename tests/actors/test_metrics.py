from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.destination_kinds.contract import Answer
from actors.observer import Counter, Histogram, Metrics


def test_a_counter_counts_apart_for_each_set_of_labels() -> None:
    counter = Counter("x", "", "tier", "outcome")
    counter.add("feed", "changed")
    counter.add("feed", "changed", by=2)
    counter.add("html", "changed")
    assert counter.values == {("feed", "changed"): 3, ("html", "changed"): 1}
    assert counter.total() == 4
    assert Counter("y", "").values == {(): 0}  # a counter without labels starts at 0


@given(st.lists(st.floats(0, 100)))
def test_a_histogram_counts_each_observation_in_the_first_bucket_that_holds_it(values: list[float]) -> None:
    histogram = Histogram("x", "", (1.0, 5.0, 20.0))
    for value in values:
        histogram.observe(value)
    ends = (1.0, 5.0, 20.0, float("inf"))
    seen = [sum(value <= end for value in values) for end in ends]
    assert [sum(histogram.counts[: n + 1]) for n in range(4)] == seen
    assert histogram.total == pytest.approx(sum(values))


def test_names_are_there_once() -> None:
    names = [each.name for each in Metrics()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer(204, 1), "delivered"),
        (Answer(302, 1), "redirect"),
        (Answer(410, 1), "client_error"),
        (Answer(503, 1), "server_error"),
        (Answer(100, 1), "server_error"),
        (Answer(None, 1, timeout=True), "timeout"),
        (Answer(None, 1), "unreachable"),
        (Answer(None, 1, ours=True), "ours"),
    ],
)
def test_an_answer_is_counted_by_one_word(answer: Answer, outcome: str) -> None:
    assert answer.outcome == outcome
