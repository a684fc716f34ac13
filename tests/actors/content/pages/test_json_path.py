"""JSONPath: the RFC's examples, refusals with their character, and bounds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.messages import not_chosen_by
from actors.content.pages import json_path, selectors
from actors.content.pages.json_path import BadPath, JsonPath, TooMany
from actors.content.values.kinds import members_of, root_of
from actors.content.wording import json_text
from actors.query import parse
from actors.query.conditions import Condition
from storage.records.event import MOST_CONTEXT

# The RFC's example, section 1.5, with other content.
SHOP: Any = {
    "store": {
        "book": [
            {"category": "tides", "author": "Anna", "title": "Low water", "price": 8.95},
            {"category": "boats", "author": "Bo", "title": "Sails", "price": 12.99},
            {"category": "boats", "author": "Cleo", "title": "Masts", "isbn": "0-553", "price": 8.99},
            {"category": "boats", "author": "Dan", "title": "Keels", "isbn": "0-395", "price": 22.99},
        ],
        "bicycle": {"color": "red", "price": 399},
    },
    "key.with.dots": {"'": 1, "ä": [None, False]},
}


def chosen(path: str, value: Any = SHOP) -> list[Any]:
    found = []
    for location in JsonPath(path).find(value):
        here = value
        for key in location:
            here = here[key]
        found.append(here)
    return found


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("$.store.book[*].author", ["Anna", "Bo", "Cleo", "Dan"]),
        ("$..author", ["Anna", "Bo", "Cleo", "Dan"]),
        ("$.store..price", [8.95, 12.99, 8.99, 22.99, 399]),
        ("$..book[2].title", ["Masts"]),
        ("$..book[-1].title", ["Keels"]),
        ("$..book[0,1].title", ["Low water", "Sails"]),
        ("$..book[:2].title", ["Low water", "Sails"]),
        ("$..book[::-2].title", ["Keels", "Sails"]),
        ("$..book[?@.isbn].title", ["Masts", "Keels"]),
        ("$..book[?!@.isbn].title", ["Low water", "Sails"]),
        ("$..book[?@.price<10].title", ["Low water", "Masts"]),
        ("$..book[?@.price >= 12.99 && @.category == 'boats'].title", ["Sails", "Keels"]),
        ("$..book[?(@.author == 'Bo' || @.author == 'Dan') && @.isbn].title", ["Keels"]),
        ("$.store.book[?@.price == $.store.book[0].price].author", ["Anna"]),
        ("$.store.book[?length(@.title) == 5].title", ["Sails", "Masts", "Keels"]),
        ("$.store[?count(@.*) == 2].color", ["red"]),
        ("$.store.book[?value(@..isbn) == '0-553'].title", ["Masts"]),
        ("$['key.with.dots'].ä[1]", [False]),
        ("$['key.with.dots']['\\'']", [1]),
        ('$["key.with.dots"].ä[?@ == null]', [None]),
        ("$.store.bicycle[?@ > 'p']", ["red"]),
        ("$.store.book[0]['title','price','title']", ["Low water", 8.95]),
        ("$ .store [ 'bicycle' ] .color ", ["red"]),
        ("$.nothing.here[3]", []),
    ],
)
def test_json_path_selects_as_the_rfc_says(path: str, wanted: list[Any]) -> None:
    assert chosen(path) == wanted


def test_the_root_is_a_place_too() -> None:
    assert JsonPath("$").find([1]) == [()]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "expected '$' at character 1"),
        ("store", "expected '$' at character 1"),
        ("$.", "expected a name or '*' at character 3"),
        ("$[", "expected a name in quotes, a number, '*' or '?' at character 3"),
        ("$[0", "expected ',' at character 4"),
        ("$['a]", "has no end"),
        ("$['\\q']", "an invalid JSON escape"),
        ('$["\\ud800"]', "an invalid JSON escape"),
        ("$[9007199254740992]", "this number is too large"),
        ("$[01]", "expected ',' at character 4"),
        ("$.a b", "expected '.', '[' or the end at character 5"),
        ("$[?@.a == ]", "expected a value at character 11"),
        ("$[?'a']", "expected a comparison, or a path"),
        ("$[?@.* == 1]", "must choose one value here"),
        ("$[?length(@.*) == 1]", "must choose one value here"),
        ("$[?count(1) == 1]", "count needs a path"),
        ("$[?match(@.a, 'x')]", "match is not known here"),
        ("$[?" + "(" * 60 + "@" + ")" * 60 + "]", "nested too deeply"),
    ],
)
def test_an_invalid_path_is_refused_with_its_position(path: str, says: str) -> None:
    with pytest.raises(BadPath) as caught:
        JsonPath(path)
    assert says in str(caught.value)


def test_a_query_that_visits_too_much_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_path, "MOST_NODES", 1_000)
    deep = json.loads("[" * 300 + "]" * 300)
    assert len(JsonPath("$..*").find(deep[0][0])) == 297
    with pytest.raises(TooMany):
        JsonPath("$..*..*..*").find(deep)
    with pytest.raises(TooMany):
        JsonPath("$[?count($[?count($..*) > 0]) > 0]").find(list(range(100)))


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    for path in (text, "$" + text, f"$[{text}]", f"$[?{text}]"):
        try:
            found = JsonPath(path).find(SHOP)
        except (BadPath, TooMany):
            continue
        assert len(found) == len(set(found))


KEYS = st.one_of(
    st.sampled_from(
        ["name", "id", "price", "max-seats", "per month", "a.b", "it's", 'a "b"', "7", "", "ä", "→", "*", "x]", "\\"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
LEAVES = st.one_of(st.integers(), KEYS, st.none())
DOCUMENTS = st.recursive(
    LEAVES,
    lambda below: st.one_of(
        st.dictionaries(KEYS, below, max_size=4),
        st.lists(below, max_size=4),
        st.lists(st.fixed_dictionaries({"id": LEAVES, "price": below}), min_size=1, max_size=4),
    ),
    max_leaves=12,
)


def locations(value: Any, at: json_text.Location = ()) -> list[json_text.Location]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([at] if at else []), *(one for key, item in below for one in locations(item, (*at, key)))]


def test_a_printed_name_with_an_apostrophe_is_a_selector() -> None:
    value = json_text.read('[{"id": "it\'s", "price": 1}, {"id": "b", "price": 2}]')
    assert json_text.written(value, (0, "price")) == "[it's].price"
    selectors.check("[it's].price")
    assert selectors.find_in_json(value, "[it's].price") == [(0, "price")]


def test_a_place_that_is_too_long_stays_a_selector_for_it() -> None:
    value = json_text.read(json.dumps({"a" * 90: {"b" * 60: [{"c d" * 30: {"e": 1}}]}, "f": 2}))
    for location in locations(value):
        place = json_text.written(value, location)
        assert len(root_of(place)) <= MOST_CONTEXT and location in selectors.find_in_json(value, root_of(place))
        if {".", "["}.intersection(place):
            assert location in selectors.find_in_json(value, place) and not not_chosen_by("json", [place])


@given(DOCUMENTS.filter(lambda value: isinstance(value, (dict, list))))
def test_every_printed_place_is_a_selector_and_a_condition_for_it(document: Any) -> None:
    """As a difference, a value and an event write it: with `$` and without. A bare name is an element of a page."""
    value = json_text.read(json.dumps(document))
    for location in locations(value):
        place = json_text.written(value, location)
        for written in (root_of(place), *([place] if {".", "["}.intersection(place) else [])):
            selectors.check(written)
            assert not not_chosen_by("json", [written])
            assert location in selectors.find_in_json(value, written)
        if '"' not in place:
            condition = parse(f'path:"{root_of(place)}"', "en").root
            assert isinstance(condition, Condition) and condition.covers(root_of(place))


@given(DOCUMENTS.filter(lambda value: isinstance(value, (dict, list))))
def test_every_path_of_a_value_in_a_difference_chooses_that_value(document: Any) -> None:
    value = json_text.read(json.dumps(document))
    for unit in json_text.lines(value):
        for one in members_of(unit.text, unit.place):
            for path in (one.path, one.group):
                selectors.check(path)
            found = [json_text.at(value, place) for place in selectors.find_in_json(value, one.path)]
            assert unit.text[one.start : one.end] in map(json_text.on_one_line, found)
            groups = selectors.find_in_json(value, one.group)
            assert any(
                place[: len(group)] == group for place in selectors.find_in_json(value, one.path) for group in groups
            )
