from __future__ import annotations

from unittest.mock import patch

import pytest
from werkzeug.exceptions import NotFound
from werkzeug.routing import Map
from werkzeug.routing import Rule as Base

from api.application import Rule


def matched(map: Map, path: str) -> tuple[str, dict[str, object]]:
    endpoint, values = map.bind("here.org").match(path, method="GET")
    return endpoint, dict(values)


def test_a_path_is_read_once_and_matches_in_every_application() -> None:
    maps = [Map(), Map()]
    with patch.object(Base, "compile", autospec=True, side_effect=Base.compile) as compiled:
        for number, map in enumerate(maps):
            map.add(Rule("/once/<id>/or/<int:place>", endpoint=f"view{number}", methods=["GET"]))
    assert compiled.call_count == 1
    for number, map in enumerate(maps):
        assert matched(map, "/once/a/or/7") == (f"view{number}", {"id": "a", "place": 7})
        with pytest.raises(NotFound):
            matched(map, "/once/a/or/b")


def test_no_url_is_made_of_a_rule() -> None:
    map = Map([Rule("/made/<id>", endpoint="made", methods=["GET"])])
    with pytest.raises(NotImplementedError, match="written out"):
        map.bind("here.org").build("made", {"id": "1"})
