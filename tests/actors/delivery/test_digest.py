from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.delivery.schedule import DigestWindow, digest_body, window_of
from storage.records.destination import DeliveryMode
from storage.records.identity import Millis
from tests.actors.matcher.rig import a_destination

ZONES = (
    "UTC",
    "Europe/Stockholm",
    "America/New_York",
    "Australia/Lord_Howe",  # summer time shifts by half an hour
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Casablanca",
    "America/St_Johns",
)
HOUR = 3_600_000


def millis(text: str) -> Millis:
    return Millis(round(datetime.fromisoformat(text).timestamp() * 1000))


def days(zone: str, hour: int, first: str, last: str) -> list[DigestWindow]:
    """Return the consecutive windows between two moments."""
    destination = a_destination(delivery_mode="daily", digest_hour=hour, digest_timezone=zone)
    found = [window_of(destination, millis(first))]
    while found[-1].end < millis(last):
        found.append(window_of(destination, found[-1].end))
    return found


@given(
    mode=st.sampled_from(["15min", "hourly", "daily"]),
    zone=st.sampled_from(ZONES),
    hour=st.integers(0, 23),
    at=st.datetimes(datetime(2011, 1, 1), datetime(2037, 1, 1)),
)
def test_d10_every_moment_is_in_one_window_and_windows_leave_no_gap(
    mode: DeliveryMode, zone: str, hour: int, at: datetime
) -> None:
    destination = a_destination(delivery_mode=mode, digest_hour=hour, digest_timezone=zone)
    moment = Millis(round(at.replace(tzinfo=UTC).timestamp() * 1000))
    window = window_of(destination, moment)
    assert window.start <= moment < window.end
    assert window_of(destination, window.start) == window == window_of(destination, Millis(window.end - 1))
    assert window_of(destination, window.end).start == window.end
    assert window_of(destination, Millis(window.start - 1)).end == window.start


@given(zone=st.sampled_from(ZONES), hour=st.integers(0, 23), year=st.integers(2012, 2035))
def test_d10_a_year_of_days_has_one_window_for_each_day_and_each_begins_at_its_hour(
    zone: str, hour: int, year: int
) -> None:
    windows = days(zone, hour, f"{year}-01-05T00:00:00+00:00", f"{year + 1}-01-05T00:00:00+00:00")
    assert all(a.end == b.start for a, b in pairwise(windows))
    begun = [datetime.fromtimestamp(window.start / 1000, ZoneInfo(zone)) for window in windows]
    assert all(b.date() - a.date() == timedelta(days=1) for a, b in pairwise(begun))
    odd = [moment for moment in begun if (moment.hour, moment.minute) != (hour, 0)]
    assert len(odd) <= 2, "only where the clocks go forward over that very hour"
    assert all(22.5 * HOUR <= window.end - window.start <= 25.5 * HOUR for window in windows)


@pytest.mark.parametrize(
    ("hour", "lengths"),
    [
        (8, {"2026-03-28": 23, "2026-10-24": 25}),
        (2, {"2026-03-29": 23, "2026-10-25": 25}),  # the clock skips 02:00 in March and repeats it in October
        (3, {"2026-03-28": 23, "2026-10-24": 25}),
        (0, {"2026-03-29": 23, "2026-10-25": 25}),
    ],
)
def test_d10_the_days_of_both_changes_of_the_clocks_are_whole(hour: int, lengths: dict[str, int]) -> None:
    windows = days("Europe/Stockholm", hour, "2026-01-02T00:00:00+01:00", "2026-12-30T00:00:00+01:00")
    zone = ZoneInfo("Europe/Stockholm")
    odd = {
        datetime.fromtimestamp(window.start / 1000, zone).date().isoformat(): (window.end - window.start) / HOUR
        for window in windows
        if window.end - window.start != 24 * HOUR
    }
    assert odd == lengths


def test_d10_a_day_that_a_zone_has_left_out_makes_no_empty_window() -> None:
    windows = days("Pacific/Apia", 8, "2011-12-27T00:00:00+00:00", "2012-01-02T00:00:00+00:00")
    assert all(window.end - window.start == 24 * HOUR for window in windows)


@pytest.mark.parametrize(
    ("mode", "window"),
    [
        ("15min", ("2026-06-01T10:45:00+00:00", "2026-06-01T11:00:00+00:00")),
        ("hourly", ("2026-06-01T10:00:00+00:00", "2026-06-01T11:00:00+00:00")),
        ("daily", ("2026-06-01T06:00:00+00:00", "2026-06-02T06:00:00+00:00")),
    ],
)
def test_windows_are_aligned_to_the_clock(mode: DeliveryMode, window: tuple[str, str]) -> None:
    destination = a_destination(delivery_mode=mode, digest_timezone="Europe/Stockholm")
    found = window_of(destination, millis("2026-06-01T10:59:59.999+00:00"))
    assert found == tuple(map(millis, window))


def test_a_zone_that_this_machine_does_not_know_counts_as_utc() -> None:
    destination = a_destination(delivery_mode="daily", digest_hour=0, digest_timezone="Mars/Olympus")
    assert window_of(destination, millis("2026-06-01T10:00:00+00:00")).start == millis("2026-06-01T00:00:00+00:00")


def test_a_digest_has_alert_times_and_unchanged_events() -> None:
    destination = a_destination(delivery_mode="hourly")
    window = window_of(destination, millis("2026-06-01T10:00:00+00:00"))
    odd = b'{"b":1e2,"a":"\\u00e9"}'
    body = digest_body("an-id", destination, window, [odd, b'{"id":2}'])
    assert odd in body
    assert json.loads(body) == {
        "id": "an-id",
        "destination_id": "hook",
        "alert_id": "alert",
        "delivery_mode": "hourly",
        "window_start": "2026-06-01T10:00:00.000Z",
        "window_end": "2026-06-01T11:00:00.000Z",
        "count": 2,
        "events": [{"b": 100.0, "a": "é"}, {"id": 2}],
    }
