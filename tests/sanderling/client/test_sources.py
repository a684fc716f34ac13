from __future__ import annotations

from typing import Any

import pytest

from api.openapi.example_records import SOURCE
from sanderling.client import sources
from sanderling.client.naming import called
from tests.sanderling.client.documented import client

PATH = f"/v1/sources/{SOURCE.id}"


def test_a_page_tells_by_what_evidence_how_it_does_and_when_it_looks(capsys: pytest.CaptureFixture[str]) -> None:
    sources.show(client([]), SOURCE.url, as_json=False)
    told = capsys.readouterr().out
    assert SOURCE.url in told and SOURCE.health.reason in told and SOURCE.detection.evidence in told
    assert "next look" in told and "so far" in told


def test_a_source_is_called_by_its_users_name_else_by_its_own() -> None:
    assert called({"title": "Mine", "found_title": "Home"}) == "Mine"
    assert called({"title": "", "found_title": "Home"}) == "Home"
    assert called({}) == ""


def test_acts_on_a_source_are_those_of_the_api() -> None:
    asked: list[tuple[str, Any]] = []
    sources.check(client(asked), SOURCE.id)
    sources.switch(client(asked), SOURCE.id, on=True)
    sources.switch(client(asked), SOURCE.id, on=False)
    sources.delete(client(asked), SOURCE.id, sure=True)
    acts = ["POST /check", "POST /enable", "POST /disable", "GET ", "DELETE "]
    assert [what.replace(PATH, "") for what, _ in asked] == acts
