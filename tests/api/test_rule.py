from __future__ import annotations

import pytest
from werkzeug.routing import Map

from api.app import make_app
from api.application import Rule
from tests.api.house import House


def test_no_url_is_made_of_a_rule() -> None:
    map = Map([Rule("/made/<id>", endpoint="made", methods=["GET"])])
    with pytest.raises(NotImplementedError, match="written out"):
        map.bind("here.org").build("made", {"id": "1"})


async def test_applications_share_parsed_rules_and_nothing_else(house: House) -> None:
    one, other = (make_app(house.context) for _ in range(2))
    assert all(
        mine is theirs for mine, theirs in zip(one.url_map.iter_rules(), other.url_map.iter_rules(), strict=True)
    )
    assert one.url_map is not other.url_map and one.view_functions is not other.view_functions
    assert other.url_map.bind("here.org").match("/v1/sources/x", "GET") == ("GET /v1/sources/{id}", {"id": "x"})
