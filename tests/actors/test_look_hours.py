"""A source's hours: accepted and refused texts, and the times they allow."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from actors.hours import LONGEST_SHUT, local_time, millis_of_local, open_from, read_hours, zone_of
from storage.records.destination import WEEKDAYS, QuietHours
from storage.records.identity import Millis

STOCKHOLM = "Europe/Stockholm"


def at(text: str, zone: str = STOCKHOLM) -> Millis:
    return millis_of_local(datetime.fromisoformat(text), zone_of(zone))


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("08-18", QuietHours("08:00", "18:00")),
        ("8:30-18:45 Europe/Stockholm", QuietHours("08:30", "18:45", STOCKHOLM)),
        ("weekdays 08-18", QuietHours("08:00", "18:00", "UTC", WEEKDAYS[:5])),
        ("Weekends 22-06", QuietHours("22:00", "06:00", "UTC", WEEKDAYS[5:])),
        ("friday-mon 0-24", QuietHours("00:00", "00:00", "UTC", ("mon", "fri", "sat", "sun"))),
        ("monday,wednesday  9-12  Asia/Tokyo", QuietHours("09:00", "12:00", "Asia/Tokyo", ("mon", "wed"))),
    ],
)
def test_common_spellings_are_understood(text: str, hours: QuietHours) -> None:
    assert read_hours(text) == hours


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write days"),
        ("weekdays", "write days"),
        ("08", "write days"),
        ("08-25", "write days"),
        ("08-24:30", "write days"),
        ("08-18 Europe/Stockholm now", "write days"),
        ("08-08", "begin and end at the same time"),
        ("funday 08-18", "'funday' is no day"),
        ("mon- 08-18", "'mon-' is no day"),
        ("monkey 08-18", "'monkey' is no day"),
        ("08-18 Europe/Atlantis", "Europe/Atlantis is no time zone"),
        ("08-18 ../../etc/passwd", "is no time zone"),
        ("08-18 " + "x" * 190, "is no time zone"),
    ],
)
def test_invalid_input_is_refused_with_a_sentence(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_hours(text)


@pytest.mark.parametrize(
    ("moment_of", "opens"),
    [
        ("2026-11-25T12:00", "2026-11-25T12:00"),
        ("2026-11-25T07:59", "2026-11-25T08:00"),
        ("2026-11-25T18:00", "2026-11-26T08:00"),
        ("2026-11-27T18:00", "2026-11-30T08:00"),  # over a weekend
        ("2026-10-23T19:00", "2026-10-26T08:00"),  # over the night when the clocks go back
    ],
)
def test_a_check_waits_for_the_hours(moment_of: str, opens: str) -> None:
    assert open_from(read_hours(f"weekdays 08-18 {STOCKHOLM}"), at(moment_of)) == at(opens)


def test_hours_over_midnight_hold_on_the_morning_after() -> None:
    hours = read_hours(f"sat 22-06 {STOCKHOLM}")
    assert open_from(hours, at("2026-11-29T05:59")) == at("2026-11-29T05:59")  # a Sunday
    assert open_from(hours, at("2026-11-29T06:00")) == at("2026-12-05T22:00")


def test_any_moment_moves_to_the_nearest_allowed_hour() -> None:
    chance = random.Random(7)
    zones = (STOCKHOLM, "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC")
    for _ in range(400):
        begin, end = chance.sample(range(24 * 60), 2)
        days = ",".join(chance.sample(WEEKDAYS, chance.randint(1, 7)))
        zone = chance.choice(zones)
        text = f"{days} {begin // 60}:{begin % 60:02}-{end // 60}:{end % 60:02} {zone}"
        hours, now = read_hours(text), Millis(1_790_000_000_000 + chance.randrange(400 * 86_400_000))
        opens = open_from(hours, now)
        assert now <= opens <= now + LONGEST_SHUT * 1000 and open_from(hours, opens) == opens
        if opens > now:
            assert open_from(hours, Millis(opens - 1)) == opens, text
            shown = local_time(opens, zone_of(zone))
            planned = shown.replace(hour=begin // 60, minute=begin % 60, second=0, microsecond=0)
            assert abs(shown - planned) <= timedelta(hours=1), text  # an hour that the clocks skip


def test_without_hours_every_moment_is_allowed() -> None:
    assert open_from(None, Millis(7)) == 7
