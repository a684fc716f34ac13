"""The places of values in a block of JSON."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

import pytest

from actors.content.values.kinds import members_of, path_at, path_of_block
from actors.content.wording import json_text


@pytest.mark.parametrize(
    ("text", "row", "path"),
    [
        ('"price": 12', "", "$.price"),
        ('"price": 12', "plans[Team]", "$.plans[Team].price"),
        ('"limits": {"seats": 5}', "plans[Team].limits", "$.plans[Team].limits"),
        ('{"name": "Team"}', "[Team]", "$[Team]"),
        ("300", "$.plans[1].price", "$.plans[1].price"),
    ],
)
def test_a_block_has_the_path_of_its_own_value(text: str, row: str, path: str) -> None:
    assert path_of_block(text, row) == path


def test_each_value_within_a_block_has_its_own_path_and_items_are_called_by_their_names() -> None:
    text = '"plans": [{"name": "Team", "limits": {"seats": 5}}, {"name": "Pro", "limits": {"seats": 9}}]'
    assert [(text[one.start : one.end], one.path) for one in members_of(text, "plans")] == [
        ('"Team"', "$.plans[Team].name"),
        ("5", "$.plans[Team].limits.seats"),
        ('"Pro"', "$.plans[Pro].name"),
        ("9", "$.plans[Pro].limits.seats"),
    ]


def test_a_json_value_without_a_path_has_its_blocks() -> None:
    cut = '"about": "a long text that goes on in the next'
    assert members_of(cut, "plans[Team]") == ()
    assert path_at(cut, "plans[Team]", 12) == "$.plans[Team].about"


def drawn(chance: random.Random, depth: int = 3) -> Any:
    if depth == 0 or chance.random() < 0.3:
        return chance.choice([1, -2.5, 1e30, None, True, "x", "é'\"\\ 言  y", "", "[1]", {}, []])
    if chance.random() < 0.5:
        keys = ["name", "a.b", "", "q'\"", "price", "言葉", "$x"]
        return {key: drawn(chance, depth - 1) for key in chance.sample(keys, chance.randint(0, 4))}
    return [drawn(chance, depth - 1) for _ in range(chance.randint(0, 4))]


@pytest.mark.parametrize("seed", range(40))
def test_values_of_one_line_have_the_position_of_that_line(seed: int) -> None:
    value = json_text.loaded(json.dumps(drawn(random.Random(seed))))
    text = json_text.on_one_line(value)
    found = members_of(text, "x")
    assert "".join(text[one.start : one.end] for one in found) == "".join(_written(value))
    assert all(before.end <= after.start for before, after in pairwise(found))


def _written(value: Any) -> list[str]:
    if not isinstance(value, (dict, list)) or not value:
        return [json_text.on_one_line(value)]
    items = value.values() if isinstance(value, dict) else value
    return [text for item in items for text in _written(item)]
