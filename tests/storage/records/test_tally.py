"""A tally agrees with the checks counted into it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from storage.records import coverage
from storage.records.checks import Verdict
from storage.records.coverage import ANSWERED, HOUR, MOST_DAYS, Day, Hour
from storage.records.identity import Millis

START = 1_780_000_000_000
DAY_MS = 86_400_000
DAY_BEGAN = 20_600 * DAY_MS
Look = tuple[int, Verdict, bytes]


def drawn(seed: int, count: int = 1_500) -> list[Look]:
    dice, at, looks = random.Random(seed), START, []
    for _ in range(count):
        at += dice.choice((1_000, 60_000, 900_000, 3_000_000)) + dice.randrange(1000)
        looks.append((at, dice.choice(list(Verdict)), dice.choice((b"", b"\0\0\0\0", b"aaaa", b"bbbb"))))
    return looks


def counted(looks: Sequence[Look]) -> tuple[bytes, dict[int, Day]]:
    """Return the tally of the checks, and the days that were stored every 40 checks."""
    found, away = b"", dict[int, Day]()
    for number, (at, verdict, body) in enumerate(looks):
        found = coverage.noted(found, Millis(at), verdict, body)
        if number % 40 == 0:
            days = coverage.over(found, at // DAY_MS)
            away |= {day.number: day for day in days}
            found = coverage.without(found, days)
    return found, away


def expected(looks: Sequence[Look], number: int) -> Hour:
    mine = [(at // 1000, verdict) for at, verdict, _ in looks if at // 1000 // HOUR == number]
    answered = [at for at, verdict in mine if verdict in ANSWERED]
    counts = tuple(sum(verdict is each for _, verdict in mine) for each in Verdict)
    gap, gap_from = max(((b - a, -a) for a, b in pairwise(answered)), default=(0, 0))
    hour = Hour(number, counts, _bodies(looks, number))
    if not answered:
        return hour
    return hour._replace(first=answered[0], last=answered[-1], gap=gap, gap_from=-gap_from if gap else number * HOUR)


def _bodies(looks: Sequence[Look], number: int) -> int:
    found, last = 0, b""
    for at, _, body in looks:
        mark = body.replace(b"\0\0\0\0", b"\0\0\0\1")
        if body and mark != last:
            found, last = found + (at // 1000 // HOUR == number), mark
    return found


def test_the_hours_add_up_to_the_counts() -> None:
    for seed in range(2):
        looks = drawn(seed)
        found, away = counted(looks)
        parts = [*(hour for day in away.values() for hour in coverage.hours_of(day)), *coverage.hours(found)]
        numbers = {at // 1000 // HOUR for at, _, _ in looks}
        assert sorted(hour.number for hour in parts) == sorted(numbers)
        for hour in parts:
            assert hour._replace(gap_from=0) == expected(looks, hour.number)._replace(gap_from=0)


def test_a_day_that_runs_stays_and_a_day_that_is_over_goes() -> None:
    found = b""
    for hours in range(30):
        found = coverage.noted(found, Millis(20_000 * DAY_MS + hours * 3_600_000), Verdict.UNCHANGED)
    (day,) = coverage.over(found, 20_001)
    assert (day.number, coverage.has_over(found, 20_000), coverage.has_over(found, 20_001)) == (20_000, False, True)
    rest = coverage.without(found, [day])
    assert [hour.number for hour in coverage.hours(rest)] == [20_001 * 24 + hour for hour in range(6)]
    assert coverage.over(rest, 20_001) == ()


def test_a_day_that_has_grown_since_it_was_put_away_stays() -> None:
    found = coverage.noted(b"", Millis(20_000 * DAY_MS), Verdict.UNCHANGED)
    found = coverage.noted(found, Millis(20_000 * DAY_MS + 3_600_000), Verdict.UNCHANGED)
    found = coverage.noted(found, Millis(20_001 * DAY_MS), Verdict.UNCHANGED)
    (day,) = coverage.over(found, 20_001)
    shorter = Day(day.number, day.body[:-3])
    assert coverage.without(found, [shorter]) == found


def test_unstored_days_are_dropped_and_the_next_day_says_so() -> None:
    found = b""
    for day in range(MOST_DAYS + 3):
        found = coverage.noted(found, Millis((20_000 + day) * DAY_MS), Verdict.UNCHANGED)
    days = coverage.days_in(found)
    assert [day.number for day in days] == list(range(20_002, 20_002 + MOST_DAYS))
    assert [coverage.lost_days(day) for day in days] == [2, *[0] * (MOST_DAYS - 1)]
    assert len(found) < 400


def test_a_check_by_a_clock_that_was_set_back_is_counted_too() -> None:
    found = b""
    for at in (10, 3_700, 3_900, 20, 3_601):
        found = coverage.noted(found, Millis(20_000 * DAY_MS + at * 1000), Verdict.UNCHANGED)
    merged = coverage.merged(list(coverage.hours(found)))
    start = 20_000 * 24
    assert {number - start: hour.answered for number, hour in merged.items()} == {0: 2, 1: 3}
    second = merged[start + 1]
    assert (second.first, second.last, second.gap) == (start * HOUR + 3_601, start * HOUR + 3_900, 200)


def test_a_day_to_which_the_clock_was_set_back_is_one_day() -> None:
    found = b""
    for hour in (20, 24, 21, 25, 26):
        found = coverage.noted(found, Millis(20_000 * DAY_MS + hour * 3_600_000), Verdict.UNCHANGED)
    assert [day.number for day in coverage.days_in(found)] == [20_000, 20_001]
    assert [len(list(coverage.hours_of(day))) for day in coverage.days_in(found)] == [2, 2]


def test_a_day_of_unchanged_checks_takes_ten_bytes_an_hour() -> None:
    found = b""
    for number in range(96):
        found = coverage.noted(found, Millis(20_000 * DAY_MS + number * 900_000 + 77_000), Verdict.UNCHANGED)
    assert len(found) < 260


def test_a_tally_of_another_version_counts_nothing_and_starts_over() -> None:
    for strange in (b"", b"\xff" * 100, b"\x01short"):
        assert list(coverage.hours(strange)) == []
        assert not coverage.has_over(strange, 99_999)
        assert coverage.without(strange, [Day(1, b"\0")]) == strange
        (hour,) = coverage.hours(coverage.noted(strange, Millis(START), Verdict.UNCHANGED))
        assert hour.answered == 1


def test_a_day_that_is_cut_off_gives_the_hours_that_are_whole() -> None:
    found = b""
    for hours in range(30):
        found = coverage.noted(found, Millis(20_000 * DAY_MS + hours * 3_600_000), Verdict.UNCHANGED)
    (day,) = coverage.over(found, 20_001)
    assert all(len(list(coverage.hours_of(Day(day.number, day.body[:size])))) < 24 for size in range(1, len(day.body)))


def test_a_stored_day_restored_by_a_crash_is_counted_once() -> None:
    early = b""
    for minute in (1, 9, 17):
        early = coverage.noted(early, Millis(DAY_BEGAN + 23 * 3_600_000 + minute * 60_000), Verdict.UNCHANGED)
    late = coverage.noted(early, Millis(DAY_BEGAN + 23 * 3_600_000 + 30 * 60_000), Verdict.UNCHANGED)
    over = Millis(DAY_BEGAN + 24 * 3_600_000 + 60_000)
    (whole,) = coverage.over(coverage.noted(late, over, Verdict.UNCHANGED), over // 86_400_000)
    (older,) = coverage.over(coverage.noted(early, over, Verdict.UNCHANGED), over // 86_400_000)
    for once in (coverage.united(whole, older), coverage.united(older, whole)):
        assert [hour.looks[Verdict.UNCHANGED] for hour in coverage.hours_of(once)] == [4]


def test_checks_repeated_by_a_clock_set_back_are_counted_too() -> None:
    first = coverage.noted(b"", Millis(DAY_BEGAN + 60_000), Verdict.UNCHANGED)
    again = coverage.noted(b"", Millis(DAY_BEGAN + 120_000), Verdict.UNCHANGED)
    over = Millis(DAY_BEGAN + 24 * 3_600_000)
    days = [coverage.over(coverage.noted(one, over, Verdict.CHANGED), over // 86_400_000)[0] for one in (first, again)]
    assert len(coverage.hours_of(coverage.united(*days))) == 2
