from __future__ import annotations

import sys
from types import FrameType

import pytest

from actors.content.changes.diff import DiffContexts, compare
from actors.content.values.kinds import kinds_of, values_of_entry
from actors.content.values.reading import Writing
from storage.records.event import MOST_CHANGES, Context, TypedChange, Value


def kinds(before: str, after: str, language: str = "en") -> list[TypedChange]:
    diff, _ = compare([before], [after])
    return list(kinds_of(diff, Writing(language)))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("Team: $12 per month", "Team: $15 per month", ["price"]),
        ("Team 10 seats $12 per month", "Team 12 seats $15 per month", ["number", "price"]),
        ("In stock", "Sold out", ["availability"]),
        ("Deadline: 1 March 2027", "Deadline: 15 March 2027", ["date"]),
        ("Open 09:00-17:00", "Open 10:00-17:00", ["date"]),
        ("Latest release v1.2.3", "Latest release v1.3.0", ["version"]),
        ("CEO: Jane Doe", "CEO: John A. Smith", ["name"]),
        ("You may not share it", "You may share it", ["negation"]),
        ("One thing here is told", "One thing here is said", ["text"]),
        ("Growth of 3 %", "Growth of 4 %", ["number"]),
        ("You save $40 on this", "You save $50 on this", ["number"]),
        ("Team $12, cancel monthly", "Team $15, cancel yearly", ["price", "text"]),
        ("The price is 12.00 €", "The price is 12 €", ["text"]),
        ("F-35 over the sea", "F-36 over the sea", ["text"]),
        ("Hund im Park", "Katze im Park", ["text"]),
        ("It can not be had again", "It cannot be had again", ["text"]),
        ("You can't have it again", "You cannot have it again", ["text"]),
        ("You can have it again", "You can't have it again", ["negation"]),
        ("It is never shared", "It is not shared", ["text"]),
        ("Dublin 2, D02 R593", "Dublin 4, D04 X285", ["number"]),
        ("See 2.4 and CHANGES_2.4.54 for all", "See 2.4 and CHANGES_2.4.55 for all", ["version"]),
        ("Referral Program. As a participant you agree", "As a participant you agree", ["text"]),
        ("It rained. Two people came", "It rained. Six people came", ["text"]),
        ("By Ann Lee and Ivan Sokol", "By Ann Lee and Ivan Sokol and Kate Heflik", ["name"]),
        ("By Ann Lee, Mila Zwer and Tom Ott", "By Mila Zwer, Tom Ott and Carl Strand", ["name"]),
        (
            "Match Group, LLC",
            "Match Group, LLC 8750 North Central Expressway, Suite 1400 Dallas, TX 75231",
            ["number", "number", "number", "name"],
        ),
        ("12 Comments", "15 Views", ["number", "text"]),
    ],
)
def test_a_change_has_its_kinds(before: str, after: str, told: list[str]) -> None:
    assert [one.kind for one in kinds(before, after)] == told


def test_values_are_paired_with_their_old_values_and_name_their_item() -> None:
    (one,) = kinds("Team for $12 per month", "Team for $15 per month")
    assert one == TypedChange(
        "price",
        "Team for … per month",
        before=Value("$12", "money", 12, 0, "USD"),
        after=Value("$15", "money", 15, 0, "USD"),
    )


def test_with_changed_words_only_the_difference_is_reported() -> None:
    found = kinds("Basic $5, Team $12, Max $40 a month", "Basic $5 and Team $14 and Max for teams $40 a month")
    prices = [one for one in found if one.kind == "price"]
    assert [(one.before and one.before.text, one.after and one.after.text) for one in prices] == [("$12", "$14")]


def test_a_cell_is_labelled_by_its_row_and_column() -> None:
    where = DiffContexts((Context("Plans", "Team", "Price (EUR)"),), (Context("Plans", "Team", "Price (EUR)"),))
    diff, _ = compare(["12.50"], ["13.50"], where)
    (one,) = kinds_of(diff, Writing("en"))
    assert (one.kind, one.label) == ("price", "Team · Price (EUR)")
    assert isinstance(one.after, Value) and (one.after.number, one.after.unit) == (1350, "EUR")


def test_a_value_at_a_path_keeps_the_path() -> None:
    context = Context(row="$.plans[1].price")
    diff, _ = compare(["300"], ["250"], DiffContexts((context,), (context,)))
    (one,) = kinds_of(diff, Writing(exact=True))
    assert one.path == "$.plans[1].price"


def test_added_and_removed_texts_are_listed_once_for_each_price() -> None:
    diff, _ = compare(["One", "Three of them", "Five"], ["One", "Five", "Bike, used: 250 € or 240 €", "Plain row"])
    told = [(one.kind, one.label, (one.after or one.before or Value("")).text) for one in kinds_of(diff, Writing("en"))]
    assert told == [
        ("added", "Bike, used … or", "250 €"),
        ("added", "or", "240 €"),
        ("added", "", "Plain row"),
        ("removed", "", "Three of them"),
    ]


def test_a_state_that_comes_by_itself_is_a_change_of_the_state() -> None:
    diff, _ = compare(["One", "Two"], ["One", "Sold out", "Two"])
    assert [(one.kind, one.after and one.after.value) for one in kinds_of(diff, Writing("en"))] == [
        ("availability", "out_of_stock")
    ]


def test_a_huge_change_reports_the_first_ones() -> None:
    diff, _ = compare([f"Row {i}: ${i}" for i in range(90)], [f"Row {i}: ${i + 1}" for i in range(90)])
    assert len(kinds_of(diff, Writing("en"))) == MOST_CHANGES


def test_an_entry_names_the_values_of_its_title_else_of_its_first_lines() -> None:
    assert [one.after and one.after.text for one in values_of_entry("Bike for 250 €", "Was 300 €")] == ["250 €"]
    assert [one.after and one.after.text for one in values_of_entry("Bike", "Now 300 €")] == ["300 €"]
    assert values_of_entry("Bike", "No price in 3 lines") == ()
    (frame,) = values_of_entry("", '{"price": 1234.5, "currency": "USD"}')
    assert isinstance(frame.after, Value) and (frame.after.number, frame.after.unit) == (12345, "USD")


def test_an_entry_that_names_no_price_costs_few_calls() -> None:
    """A push source emits thousands of frames a second, most of them without a price."""
    calls = 0

    def note(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    title, content = "Reading 7 of the tide gauge", "The water stands at 7 cm since 14 November under a light wind"
    sys.setprofile(note)
    try:
        found = values_of_entry(title, content)
    finally:
        sys.setprofile(None)
    assert (found, calls < 60) == ((), True)


def test_a_value_in_json_has_the_path_of_its_block_and_its_key() -> None:
    context = Context(row="plans[0]")
    before, after = (
        '{"name": "Team", "price": 12.5, "in_stock": true}',
        '{"name": "Team", "price": 14, "in_stock": false}',
    )
    diff, _ = compare([before], [after], DiffContexts((context,), (context,)))
    assert [(one.kind, one.path) for one in kinds_of(diff, Writing(exact=True))] == [
        ("price", "$.plans[0].price"),
        ("availability", "$.plans[0].in_stock"),
    ]


def test_a_label_that_replaces_another_is_one_change_of_state() -> None:
    diff, _ = compare(["One", "In stock", "Two"], ["One", "Two", "Three", "Sold out"])
    (state,) = [one for one in kinds_of(diff, Writing("en")) if one.kind == "availability"]
    assert isinstance(state.before, Value) and isinstance(state.after, Value)
    assert (state.before.value, state.after.value) == ("in_stock", "out_of_stock")
