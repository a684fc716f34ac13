"""Hours of changedetection.io's watches, as hours of sources."""

from __future__ import annotations

from typing import Any

import pytest

from extras.migrate.changedetection import hours_of, read_changedetection
from tests.extras.migrate.samples import old_datastore


def a_day(start: object = "08:00", hours: object = "10", minutes: object = "0", **more: object) -> dict[str, Any]:
    return {"enabled": True, "start_time": start, "duration": {"hours": hours, "minutes": minutes}} | more


@pytest.mark.parametrize(
    ("limit", "hours"),
    [
        ({"monday": a_day(), "sunday": a_day()}, "mon,sun 08:00-18:00"),
        ({"monday": a_day("00:00", "24")}, "mon 00:00-24:00"),
        ({"monday": a_day("20:00", 12, 30), "timezone": "Asia/Tokyo"}, "mon 20:00-08:30 Asia/Tokyo"),
        ({"monday": a_day(), "tuesday": a_day("09:00")}, None),
        ({"monday": a_day(), "tuesday": a_day(enabled=False)}, "mon 08:00-18:00"),
        ({"monday": a_day("8 o'clock")}, None),
        ({"monday": a_day(hours="0")}, None),
        ({"monday": a_day("06:00", "24")}, None),
        ({"monday": a_day(hours="-3")}, None),
        ({"monday": a_day(hours="99999999")}, None),
        ({"monday": a_day(), "timezone": "Mars"}, None),
        ({"monday": "always"}, None),
        ({}, None),
    ],
)
def test_hours_that_are_alike_move(limit: dict[str, Any], hours: str | None) -> None:
    assert hours_of(limit) == hours


def test_a_watch_with_hours_becomes_a_source_with_hours() -> None:
    plan = read_changedetection(old_datastore())
    hours = {source.body.url: source.body.hours for source in plan.sources}
    assert hours == {
        "https://tides.example/prices": None,
        "https://tides.example/news": "mon,tue,wed,thu,fri 08:00-18:00 Europe/Stockholm",
        "https://tides.example/login": None,
    }
