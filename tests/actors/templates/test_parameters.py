from __future__ import annotations

import pytest

from actors.templates.template import BadParameters, built_in, read_parameters, with_values

COMPETITORS, SECTOR, TRIALS = (
    built_in().get(name) for name in ("gtm-competitor-watch", "swedish-public-sector", "clinical-trials-watch")
)
assert COMPETITORS is not None and SECTOR is not None and TRIALS is not None


def test_values_come_in_their_one_spelling_each_once_and_in_order() -> None:
    given = {"domain": ["B.example", "a.example", "b.example."]}
    assert read_parameters(COMPETITORS, given) == {"domain": ("b.example", "a.example")}
    given = {"condition": [" type 2 diabetes ", "type 2 diabetes", "Ménière"]}
    assert read_parameters(TRIALS, given) == {"condition": ("type 2 diabetes", "Ménière")}
    assert read_parameters(SECTOR, {}) == {}


@pytest.mark.parametrize(
    ("given", "place", "says"),
    [
        ({}, "params.domain", "required"),
        ({"domain": None}, "params.domain", "required"),
        ({"domain": "a.example"}, "params.domain", "an array of 1 to 10"),
        ({"domain": {"0": "a.example"}}, "params.domain", "an array of 1 to 10"),
        ({"domain": []}, "params.domain", "1 to 10 values, not 0"),
        ({"domain": [f"{n}x.example" for n in range(11)]}, "params.domain", "1 to 10 values, not 11"),
        ({"domain": ["a.example", 7]}, "params.domain[1]", "must be a string"),
        ({"domain": ["a.example", None]}, "params.domain[1]", "must be a string"),
        ({"domain": ["a.example", "https://b.example"]}, "params.domain[1]", "scheme"),
        ({"domain": ["a.example"], "colour": ["red"]}, "params.colour", "no such parameter; it takes domain"),
    ],
)
def test_a_wrong_parameter_is_refused_at_its_place(given: dict[str, object], place: str, says: str) -> None:
    with pytest.raises(BadParameters) as caught:
        read_parameters(COMPETITORS, given)
    (wrong,) = caught.value.wrong
    assert wrong.place == place and says in wrong.says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \t ", "empty"),
        ("x" * 201, "201 characters"),
        ("a\nb", "control"),
        ("a\x00b", "control"),
        ("a\u2028b", "control"),
        ("\U0001f9ea" * 200, "at most 2048"),
    ],
)
def test_a_string_is_from_1_to_200_characters_on_one_line(text: str, says: str) -> None:
    with pytest.raises(BadParameters) as caught:
        read_parameters(TRIALS, {"condition": ["asthma", text]})
    (wrong,) = caught.value.wrong
    assert wrong.place == "params.condition[1]" and says in wrong.says
    assert read_parameters(TRIALS, {"condition": ["x" * 200]})


def test_all_that_is_wrong_is_named_at_once() -> None:
    with pytest.raises(BadParameters) as caught:
        read_parameters(COMPETITORS, {"domain": ["localhost", "a.example", "b.example:1"], "x" * 99: []})
    assert [wrong.place for wrong in caught.value.wrong] == [
        f"params.{'x' * 60}",
        "params.domain[0]",
        "params.domain[2]",
    ]
    assert caught.value.detail.endswith("(and 2 more)")


def test_a_template_without_parameters_takes_none() -> None:
    with pytest.raises(BadParameters, match="swedish-public-sector takes none"):
        read_parameters(SECTOR, {"domain": ["a.example"]})


@pytest.mark.parametrize(
    ("id", "given", "wrong"),
    [
        ("price-below", {"page": ["shop.example"], "below": ["300"]}, "params.page[0]"),
        ("price-below", {"page": ["ftp://shop.example/"], "below": ["300"]}, "params.page[0]"),
        ("price-below", {"page": ["https://shop.example/"], "below": ["cheap"]}, "params.below[0]"),
        ("price-below", {"page": ["https://shop.example/"], "below": ["300 OR x"]}, "params.below[0]"),
        ("job-list", {"page": ["https://shop.example/"], "words": ["(cook"]}, "params.words[0]"),
        ("price-below", {"page": ["https://Shop.example/a?b=c"], "below": ["1 300,50"]}, ""),
        ("job-list", {"page": ["https://shop.example/"], "words": ["cook", '"head waiter"']}, ""),
    ],
)
def test_addresses_amounts_and_words_of_a_query_are_checked(id: str, given: dict[str, object], wrong: str) -> None:
    template = built_in().get(id)
    assert template is not None
    try:
        values = read_parameters(template, given)
    except BadParameters as error:
        assert [one.place for one in error.wrong] == [wrong]
    else:
        query = with_values(template, values).alerts[0].query
        assert wrong == "" and query in ("price<1300.50", 'cook OR "head waiter"')
