"""JSONPaths made from a document's lines."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from actors.content.pages import selectors
from actors.content.pages.plain import read_plain
from actors.content.wording import json_text
from extras.picking.in_documents import JsonReaches

ABOUT = (
    "for teams that want every change within minutes, by day and by night and a person whom they may call at noon, "
    "as is said in the terms that hold since the first of May"
)
PLANS = {
    "plans": [
        {"name": "Solo", "price": 9, "about": f"{ABOUT} 1"},
        {"name": "Team", "price": 29, "about": f"{ABOUT} 2"},
    ],
    "odd key.x": ABOUT,
}


def reaches(value: object) -> JsonReaches:
    text = json.dumps(value)
    plain = read_plain(text)
    assert plain is not None
    return JsonReaches(json_text.read(text), plain.blocks)


def at(found: JsonReaches, text: str) -> int:
    return found.blocks.texts.index(text)


def test_an_item_is_selected_by_its_name_and_survives_another_order() -> None:
    found = reaches(PLANS)
    path = found.this(at(found, '"price": 29'))
    assert path == '$.plans[?@.name=="Team"].price'
    turned = reaches({**PLANS, "plans": PLANS["plans"][::-1]})
    assert turned.chosen(path) == {at(turned, '"price": 29')}


def test_like_is_the_same_member_of_each_item_and_part_is_the_item() -> None:
    found = reaches(PLANS)
    price = at(found, '"price": 29')
    assert found.like(price) == "$.plans[*].price"
    assert found.chosen(found.like(price)) == {at(found, '"price": 9'), price}
    assert found.part(price) == '$.plans[?@.name=="Team"]'
    odd = next(i for i, text in enumerate(found.blocks.texts) if text.startswith('"odd'))
    assert (found.this(odd), found.like(odd), found.part(odd)) == ('$["odd key.x"]', "", "")


def drawn(chance: random.Random, depth: int = 4) -> Any:
    if depth == 0 or chance.random() < 0.3:
        return chance.choice([1, 2.5, None, True, "x", "é'\"\\ 言", ABOUT, ABOUT * 30])
    if chance.random() < 0.5:
        keys = ["name", "a.b", "", "q'\"", "price", "言葉", "$x"]
        return {key: drawn(chance, depth - 1) for key in chance.sample(keys, chance.randint(0, 4))}
    return [drawn(chance, depth - 1) for _ in range(chance.randint(0, 4))]


@pytest.mark.parametrize("seed", range(60))
def test_each_line_has_a_path_to_itself(seed: int) -> None:
    value = [drawn(random.Random(seed)), "x"]
    found = reaches(value)
    read = json_text.read(json.dumps(value))
    for number, line in enumerate(json_text.lines(read)):
        if number >= len(found.blocks.texts) or len(line.text) > json_text.LONGEST:
            break  # a long line becomes several blocks
        path = found.this(number)
        assert selectors.find_in_json(read, path) == [line.at]
        assert number in found.chosen(path)
