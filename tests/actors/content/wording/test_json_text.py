"""JSON as lines: the path of each line, and the names of list items."""

from __future__ import annotations

import json
import random

import pytest

from actors.content.changes.churn import judge
from actors.content.pages.page import PageReading
from actors.content.wording import json_text
from storage.records.event import Context
from tests.support.pages import read_page

LONG = (
    "for teams that want every change of their competitors' pages within minutes, day and night, and a person to call"
)
PLANS = [
    {"name": "Solo", "price": 9, "about": f"{LONG} 1", "limits": {"seats": 1}},
    {"name": "Team", "price": 29, "about": f"{LONG} 2", "limits": {"seats": 5}},
    {"name": "Crew", "price": 99, "about": f"{LONG} 3", "limits": {"seats": 25}},
]


def reading(value: object) -> PageReading:
    return read_page(json.dumps(value).encode(), "", "https://shore.example/plans.json", None, ())


def places(value: object) -> dict[str, str]:
    return {line.text: line.place for line in json_text.lines(json_text.read(json.dumps(value)))}


def test_a_line_names_its_parents() -> None:
    found = places({"at": "x", "plans": PLANS, "note": f"{LONG} {LONG}"})
    assert found['"at": "x"'] == ""
    assert found['"plans":'] == ""
    assert found['"price": 29'] == "plans[Team]"
    assert found['"limits": {"seats": 5}'] == "plans[Team].limits"


@pytest.mark.parametrize(
    ("items", "called"),
    [
        ([{"id": "a", "x": 1}, {"id": "b", "x": 1}], ["[a]", "[b]"]),
        ([{"id": 7, "x": 1}, {"id": 8, "x": 1}], ["['7']", "['8']"]),
        ([{"id": "a", "name": "A"}, {"id": "b", "name": "B"}], ["[A]", "[B]"]),
        ([{"id": "a", "name": "A"}, {"id": "b", "name": "A"}], ["[a]", "[b]"]),
        ([{"x": 1, "city": "Kiel"}, {"x": 1, "city": "Bonn"}], ["[Kiel]", "[Bonn]"]),
        ([{"x": 1}, {"x": 2}], ["[0]", "[1]"]),
        ([{"name": "A"}, {"name": "A"}], ["[0]", "[1]"]),
        ([{"name": "A"}, {}], ["[0]", "[1]"]),
        ([{"name": "a]b"}, {"name": "c"}], ["[0]", "[1]"]),
        ([{"name": ["A"]}, {"name": ["B"]}], ["[0]", "[1]"]),
        ([{"name": "x" * 61}, {"name": "y"}], ["[0]", "[1]"]),
        (["a", "b"], ["[0]", "[1]"]),
        ([{"name": "A"}, "b"], ["[0]", "[1]"]),
    ],
)
def test_an_item_is_named_by_its_distinguishing_key(items: list[object], called: list[str]) -> None:
    value = json_text.read(json.dumps(items))
    assert [json_text.written(value, (at,)) for at in range(len(items))] == called


def test_a_value_belongs_to_its_item_at_any_position() -> None:
    chance = random.Random(5)
    memory = judge(None, reading({"plans": PLANS})).memory
    for price in range(100, 120):
        turned = [dict(plan, price=price) if plan["name"] == "Team" else plan for plan in PLANS]
        chance.shuffle(turned)
        verdict = judge(memory, reading({"plans": turned}))
        assert verdict.diff is not None
        (change,) = verdict.diff.changed
        assert change.after == f'"price": {price}'
        assert isinstance(change.context, Context) and change.context.row == "plans[Team]"
        assert not verdict.diff.added and not verdict.diff.removed


def test_another_order_is_no_change() -> None:
    memory = judge(None, reading({"plans": PLANS})).memory
    assert judge(memory, reading({"plans": PLANS[::-1]})).diff is None


def test_a_place_is_bounded_however_deep_the_document_is() -> None:
    value: object = [LONG * 3]
    for _ in range(90):
        value = {"a long name of a member": value}
    assert all(len(line.place) <= 160 for line in json_text.lines(value))


SMALL = {"plans": [{"name": "Team", "price": 10}, {"name": "Pro", "price": 20}], "seats": 5}


def test_the_named_items_of_a_small_document_are_lines_of_their_own_and_another_order_is_no_change() -> None:
    assert places(SMALL)['{"name": "Team", "price": 10}'] == "plans[Team]"
    memory = judge(None, reading(SMALL)).memory
    assert judge(memory, reading({**SMALL, "plans": SMALL["plans"][::-1]})).diff is None  # type: ignore[index]


def test_within_an_item_of_a_list_named_items_stay_on_its_line() -> None:
    found = places([{"name": "A", "of": [{"id": "x"}, {"id": "y"}]}, {"name": "B", "of": []}])
    assert found['{"name": "A", "of": [{"id": "x"}, {"id": "y"}]}'] == "[A]"


def test_a_small_record_may_change_as_a_whole_and_another_one_in_its_place_has_to_stay() -> None:
    status = {"status": {"indicator": "none", "description": "All Systems Operational"}}
    memory = judge(None, reading(status)).memory
    down = {"status": {"indicator": "minor", "description": "Partly down"}}
    assert judge(memory, reading(down)).kind == "changed"
    assert judge(memory, reading({"error": {"code": "rate_limited", "message": "Too many requests"}})).kind == "held"
