from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from actors.settings import Settings
from sanderling.client.api import settings_at, unlike
from sanderling.settings_shown import beside

HERE = Settings()
THERE = replace(HERE, port=9000, allow_networks=("10.0.0.0/8",), data="elsewhere")


def test_settings_that_differ_are_named_and_shown() -> None:
    assert unlike(HERE, THERE) == ["port", "allow_networks"] and unlike(HERE, HERE) == []
    assert list(beside(HERE, THERE))[1:] == ["  port = 9000", "  allow_networks = 10.0.0.0/8"]
    assert list(beside(HERE, HERE)) == [
        "These are this shell's. The service that runs on the data folder has the same."
    ]


def test_without_a_service_there_are_no_running_settings(tmp_path: Path) -> None:
    assert settings_at(replace(HERE, data=str(tmp_path))) is None
