from __future__ import annotations

import pytest
from werkzeug.routing import Map

from api.application import Rule


def test_no_url_is_made_of_a_rule() -> None:
    map = Map([Rule("/made/<id>", endpoint="made", methods=["GET"])])
    with pytest.raises(NotImplementedError, match="written out"):
        map.bind("here.org").build("made", {"id": "1"})
