"""Quiet hours: the arithmetic over a year in any zone, and an actor that waits for their end."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from actors.delivery.schedule import quiet_until
from actors.egress.failures import PostResult
from actors.hours import spans
from actors.messages.workers import TestDelivery as AskForTest
from storage.records.destination import WEEKDAYS, QuietHours
from storage.records.identity import Millis
from tests.actors.delivery.rig import Arrival, Rig, answers
from tests.actors.delivery.test_digest import HOUR, ZONES, millis
from tests.actors.matcher.rig import a_destination
from tests.support.build import NOW

NIGHT = QuietHours("22:00", "07:00", "Europe/Stockholm")
minutes = st.integers(0, 24 * 60 - 1).map(lambda minute: f"{minute // 60:02}:{minute % 60:02}")


def by_the_wall(hours: QuietHours, at: Millis) -> bool:
    """Return whether a naive reading of the wall clock is quiet."""
    local = datetime.fromtimestamp(at / 1000, ZoneInfo(hours.timezone))
    now, today = f"{local:%H:%M}", WEEKDAYS[local.weekday()] in hours.weekdays
    if hours.start < hours.end:
        return today and hours.start <= now < hours.end
    yesterday = WEEKDAYS[local.weekday() - 1] in hours.weekdays
    return (today and now >= hours.start) or (yesterday and now < hours.end)


def is_plain(zone: ZoneInfo, at: Millis) -> bool:
    """Return whether the UTC offset is constant for two days around: then a local time names exactly one moment."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    return len({(moment + timedelta(days=days)).astimezone(zone).utcoffset() for days in (-2, 0, 2)}) == 1


@given(
    start=minutes,
    end=minutes,
    zone=st.sampled_from(ZONES),
    weekdays=st.lists(st.sampled_from(WEEKDAYS), min_size=1, unique=True),
    at=st.integers(millis("2026-01-01T00:00Z"), millis("2027-01-01T00:00Z")),
)
def test_a_moment_is_quiet_as_the_clock_on_the_wall_says_and_its_end_is_not(
    start: str, end: str, zone: str, weekdays: list[str], at: int
) -> None:
    if start == end:
        return
    hours, now = QuietHours(start, end, zone, tuple(day for day in WEEKDAYS if day in weekdays)), Millis(at)
    until = quiet_until(hours, now)
    if is_plain(ZoneInfo(zone), now):
        assert (until is not None) == by_the_wall(hours, now)
    if until is not None:
        assert 0 < until - now <= 26 * HOUR
        assert quiet_until(hours, until) is None
        assert quiet_until(hours, Millis(until - 1)) == until
        assert quiet_until(hours, Millis((now + until) // 2)) == until, "no hole in it"


@pytest.mark.parametrize("zone", ["Europe/Stockholm", "America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize(("start", "end"), [("22:00", "07:00"), ("01:30", "02:30"), ("02:00", "01:45")])
def test_a_year_with_both_changes_of_the_clocks_has_one_span_a_day(zone: str, start: str, end: str) -> None:
    hours = QuietHours(start, end, zone)
    year = [date(2026, 1, 1) + timedelta(days=days) for days in range(365)]
    lengths = []
    for day in year:
        span = spans(hours, day)[2]
        lengths.append((span.end - span.start) / HOUR)
        assert quiet_until(hours, span.start) == quiet_until(hours, Millis(span.end - 1)) == span.end
        assert quiet_until(hours, Millis(span.start - 1)) is None
    plain = (datetime.fromisoformat(f"2026-01-02T{end}") - datetime.fromisoformat(f"2026-01-02T{start}")).seconds / 3600
    assert sum(length != pytest.approx(plain) for length in lengths) <= 2
    assert all(plain - 1.02 <= length <= plain + 1.02 for length in lengths)


@pytest.mark.parametrize(
    ("hours", "at", "until"),
    [
        (NIGHT, "2026-03-28T22:30+01:00", "2026-03-29T07:00+02:00"),
        (NIGHT, "2026-10-24T22:30+02:00", "2026-10-25T07:00+01:00"),
        (QuietHours("01:00", "02:30", "Europe/Stockholm"), "2026-03-29T01:30+01:00", "2026-03-29T03:00+02:00"),
        (QuietHours("01:00", "02:30", "Europe/Stockholm"), "2026-10-25T02:45+02:00", "2026-10-25T02:30+01:00"),
        (QuietHours("02:30", "05:00", "Europe/Stockholm"), "2026-03-29T03:00+02:00", "2026-03-29T05:00+02:00"),
        (QuietHours("20:00", "06:00", "UTC", ("fri",)), "2026-11-21T05:59Z", "2026-11-21T06:00Z"),
        (QuietHours("20:00", "06:00", "UTC", ("fri",)), "2026-11-22T05:59Z", None),
        (QuietHours("20:00", "06:00", "Mars/Olympus"), "2026-11-22T05:59Z", "2026-11-22T06:00Z"),
    ],
)
def test_hours_that_are_left_out_or_come_twice(hours: QuietHours, at: str, until: str | None) -> None:
    assert quiet_until(hours, millis(at)) == (None if until is None else millis(until))


def around(before: float, after: float) -> QuietHours:
    """Return quiet hours that start and end so many minutes after a test's start."""
    start = datetime.fromtimestamp(NOW / 1000, UTC)
    first, second = (start + timedelta(minutes=minutes) for minutes in (before, after))
    return QuietHours(f"{first:%H:%M}", f"{second:%H:%M}")


async def test_instant_deliveries_wait_for_the_end_of_quiet_hours_and_keep_their_order(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook", quiet_hours=around(10, 130))
    async with rig.running():
        await rig.match("hook", "loud")
        await trio.sleep(11 * 60)
        events = [(await rig.match("hook", f"{number}"))[0] for number in range(10)]
        await trio.sleep(HOUR / 1000)
        assert len(rig.arrivals) == 1
        box = rig.registry.mailbox("hook")
        assert box is not None
        assert (await box.ask(AskForTest)).result == "sent", "a test passes"
        await trio.sleep(HOUR / 1000)
        assert len(rig.ids()) == 12
    assert rig.ids()[2:] == [json.loads(event.body)["id"] for event in events]
    assert all(130 * 60 - 60 <= arrival.at < 131 * 60 for arrival in rig.arrivals[2:])


async def test_queued_deliveries_and_retries_wait_too(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook", quiet_hours=around(2, 60))

    async def fails_just_before(arrival: Arrival) -> PostResult:
        await trio.sleep(14)
        return PostResult(500 if 65 < arrival.at < 80 else 200, 14_000, b"", None)

    rig.receivers["hook.example"] = fails_just_before
    async with rig.running():
        await rig.match("hook", *[str(number) for number in range(60)])
        await trio.sleep(3 * 60)
        begun = len(rig.arrivals)
        assert 20 < begun < 60
        await trio.sleep(50 * 60)
        assert len(rig.arrivals) == begun
        assert "retry" in await rig.results()
        await trio.sleep(HOUR / 1000)
    assert await rig.storage.outbox.backlog("hook") == 0
    assert len({*rig.ids()}) == 60


async def test_a_retry_that_would_be_due_in_quiet_hours_says_when_they_end(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook", quiet_hours=around(1, 600))
    rig.receivers["hook.example"] = answers(500, 500, 200)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(30)
        (second, _) = await rig.storage.outbox.attempts("hook", 9)
        end = quiet_until(around(1, 600), Millis(NOW + 120_000))
        assert second.next_at == end == await rig.storage.outbox.next_due("hook")


async def test_quiet_hours_that_are_taken_away_end_at_once_and_digests_have_none(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook", "digest", quiet_hours=around(0, 23 * 60))
    await rig.storage.alerts.put_destination(
        a_destination("digest", delivery_mode="15min", quiet_hours=around(0, 23 * 60))
    )
    async with rig.running():
        await trio.sleep(60)
        await rig.match("hook", "a")
        await rig.match("digest", "b")
        await trio.sleep(HOUR / 1000)
        assert [arrival.host for arrival in rig.arrivals] == ["digest.example"]
        await rig.storage.alerts.put_destination(a_destination("hook"))
        await rig.registry.refresh()
        await trio.sleep(1)
    assert [arrival.host for arrival in rig.arrivals] == ["digest.example", "hook.example"]


def test_the_days_of_a_week_begin_with_monday() -> None:
    assert WEEKDAYS[date(2026, 11, 23).weekday()] == "mon"
