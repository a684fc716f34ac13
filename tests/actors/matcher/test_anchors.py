from __future__ import annotations

import pytest

from actors.matcher import anchors
from actors.query import parse

COMMON = {"the": 90, "price": 50, "plan": 40, "rare": 1}


@pytest.mark.parametrize(
    ("query", "needed", "exact"),
    [
        ("price", {"price"}, True),
        ("price OR plan", {"price", "plan"}, True),
        ("price rare", {"rare"}, False),
        ('"the rare plan"', {"rare"}, False),
        ("price -rare", {"price"}, False),
        ("(price OR plan) the", {"price", "plan"}, False),
        ("e-post", {"e", "epost"}, False),
        ("pri* OR plan", {"pri*", "plan"}, True),
    ],
)
def test_a_query_is_filed_under_its_rarest_required_words(query: str, needed: set[str], exact: bool) -> None:
    found = anchors(parse(query, "simple").root, lambda key: COMMON.get(key, 0))
    assert found is not None
    assert ({*found.keys, *(f"{prefix}*" for prefix in found.prefixes)}, found.exact) == (needed, exact)


@pytest.mark.parametrize("query", ["", "-price", "price OR -plan", "-(price plan)"])
def test_a_query_that_needs_no_word_has_no_anchors(query: str) -> None:
    assert anchors(parse(query, "simple").root, lambda key: 0) is None
