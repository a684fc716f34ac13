from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET

from actors.content.values.kinds import kinds_of
from actors.content.values.reading import Writing
from actors.content.wording import json_text
from storage.records.event import Change, Context, Diff

TEAM = {"name": "Team", "price": 10, "limits": {"seats": 5, "gb": 2}}
PRO = {"name": "Pro", "price": 20, "limits": {"seats": 10, "gb": 5}}


def told(before: Any, after: Any, row: str = "", name: str = "") -> list[tuple[str, str, str, str]]:
    texts = (name + json_text.on_one_line(json_text.loaded(json.dumps(side))) for side in (before, after))
    change = Change(*texts, context=Context(row=row) if row else UNSET)
    found = kinds_of(Diff((), (), (change,)), Writing(exact=True))
    return [(one.kind, one.path, getattr(one.before, "text", ""), getattr(one.after, "text", "")) for one in found]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"price": 10}, {"price": 12}, [("price", "$.price", "10", "12")]),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, [("number", "$.a.b.c", "1", "2")]),
        ({"rates": [1.5, 2.5]}, {"rates": [1.5, 2.75]}, [("number", "$.rates[1]", "2.5", "2.75")]),
        ({"rates": [2, 3]}, {"rates": [1, 2, 3]}, [("number", "$.rates[0]", "", "1")]),
        ({"in_stock": True}, {"in_stock": False}, [("availability", "$.in_stock", "", "")]),
        ({"by": "Eva Ek"}, {"by": "Bo Berg"}, [("name", "$.by", "Eva Ek", "Bo Berg")]),
        ({"a": 1, "b": "x"}, {"a": 1, "b": "x", "c": "new"}, [("added", "$.c", "", "new")]),
        ({"a": "x", "b": "y"}, {"b": "y"}, [("removed", "$.a", "x", "")]),
        ({"note": "x"}, {"note": None}, [("text", "$.note", "x", "null")]),
    ],
)
def test_a_changed_member_is_named_by_its_path(before: Any, after: Any, changes: list[tuple[str, ...]]) -> None:
    found = told(before, after)
    assert [one[:2] for one in found] == [one[:2] for one in changes]
    if changes[0][0] != "availability":
        assert found == changes


def test_items_are_matched_by_name_at_any_position() -> None:
    after = [{"limits": {"gb": 2, "seats": 6}, "price": 12, "name": "Team"}]
    assert sorted(told([TEAM, PRO], [PRO, *after], "plans", '"plans": ')) == [
        ("number", "$.plans[Team].limits.seats", "5", "6"),
        ("price", "$.plans[Team].price", "10", "12"),
    ]


def test_another_currency_is_another_price_though_the_number_is_the_same() -> None:
    found = told({"price": 10, "currency": "EUR"}, {"price": 10, "currency": "USD"})
    assert ("price", "$.price", "10", "10") in found


def test_a_mere_reordering_is_reported_as_text() -> None:
    assert [(kind, path) for kind, path, *_ in told({"a": 1, "b": 2}, {"b": 2, "a": 1}, "x")] == [("text", "$.x")]
