"""The current values of a page, with the names that events use for their changes."""

from __future__ import annotations

import pytest

from actors.content.changes.diff import DiffContexts, compare
from actors.content.values.kinds import kinds_of, standing_in
from actors.content.values.reading import Writing
from storage.records.event import MOST_STANDING, Context, StandingValue, Value

TEAM = Context("Plans", "Team", "Price")


@pytest.mark.parametrize(
    ("before", "after", "context", "writing"),
    [
        ("€399", "€299", TEAM, Writing("en")),
        ("Team for $12 per month", "Team for $15 per month", Context("Plans"), Writing("en")),
        ("$12", "$15", Context("Plans"), Writing("en")),
        ("$12", "$15", Context(), Writing("en")),
        ('{"price": 9.5}', '{"price": 8}', Context(row="plans[Team]"), Writing(exact=True)),
        ("Growth of 3 % in 2025", "Growth of 4 % in 2025", Context("Report"), Writing("en")),
    ],
)  # fmt: skip
def test_a_value_has_the_label_and_the_path_that_an_event_gives_it(
    before: str, after: str, context: Context, writing: Writing
) -> None:
    diff, _ = compare([before], [after], DiffContexts([context], [context]))
    (told,) = kinds_of(diff, writing)
    standing, more = standing_in([after], [context], writing)
    assert more == 0
    assert StandingValue(told.after, 0, told.label, told.path) in standing  # type: ignore[arg-type]


def test_a_time_of_day_is_no_value_that_one_follows() -> None:
    assert standing_in(["Open 09:00-17:00"], [Context()], Writing("en")) == ((), 0)


def test_a_page_full_of_numbers_keeps_its_prices_and_says_how_many_values_are_left_out() -> None:
    texts = [*(f"{number} seats" for number in range(MOST_STANDING + 20)), "$5", "Sold out"]
    values, more = standing_in(texts, [Context()] * len(texts), Writing("en"))
    assert len(values) == MOST_STANDING and more == 22
    assert [one.value for one in values[:2]] == [
        Value("$5", "money", 5, 0, "USD"),
        Value("Sold out", "availability", value="out_of_stock"),
    ]
    assert values[2].block == 0, "then in the order of the page"


def test_a_label_does_not_begin_with_the_end_of_the_sentence_before() -> None:
    values, _ = standing_in(["It costs $5. Save 10 % today"], [Context()], Writing("en"))
    assert [one.label for one in values] == ["It costs … Save", "Save … today"]
