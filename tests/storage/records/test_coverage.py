from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from storage.records import coverage
from storage.records.checks import Verdict
from storage.records.coverage import MOST_UNKNOWN, Coverage, Record, StoredChecks, UnknownPeriod, cover, window
from storage.records.identity import Millis

HOUR, DAY = 3_600_000, 86_400_000
START = Millis(20_000 * DAY)
ALL = Record(START, "no_record", (), ())


def kept(looks: Sequence[tuple[int, Verdict]], added: int = START) -> StoredChecks:
    found, days = b"", []
    for at, verdict in looks:
        found = coverage.noted(found, Millis(at), verdict)
        if over := coverage.over(found, at // DAY):
            days += [day._replace(sums=coverage.summed(day)) for day in over]
            found = coverage.without(found, over)
    return StoredChecks(Millis(added), found, days)


def every(minutes: int, start: int, end: int) -> list[tuple[int, Verdict]]:
    return [(at, Verdict.UNCHANGED) for at in range(start, end, minutes * 60_000)]


def covered(found: StoredChecks, start: int, end: int, *unknown: UnknownPeriod, record: Record = ALL) -> Coverage:
    return cover(Millis(start), Millis(end), found, record._replace(unknown=unknown))


def test_a_quiet_week_is_reported_in_full() -> None:
    end = START + 7 * DAY
    found = covered(kept(every(15, START, end)), START, end)
    assert (found.answered, sum(found.looks), found.bodies) == (7 * 96, 7 * 96, 0)
    assert found.gap is not None
    assert (found.gap.seconds, found.unknown, found.resting) == (900, [], 0)


def test_a_failed_check_is_counted_and_ends_no_gap() -> None:
    looks = [(START, Verdict.UNCHANGED), (START + 600_000, Verdict.CONTENT), (START + 1_200_000, Verdict.CHANGED)]
    found = covered(kept(looks), START, START + HOUR)
    assert (found.answered, sum(found.looks)) == (2, 3)
    assert found.gap is not None
    assert found.gap.seconds == 2_400  # from the last check to the end
    found = covered(kept(looks), START, START + 1_300_000)
    assert found.gap is not None
    assert found.gap.seconds == 1_200


def test_a_time_without_watching_is_a_gap() -> None:
    found = covered(kept([]), START, START + DAY)
    assert found.gap is not None
    assert (found.answered, found.gap.seconds, found.unknown) == (0, 86_400, [])


def test_before_it_was_added_and_before_the_record_nothing_is_known() -> None:
    found = covered(kept([], added=START + 2 * HOUR), START - HOUR, START + 4 * HOUR)
    assert found.unknown == [
        UnknownPeriod(Millis(START - HOUR), START, "no_record"),
        UnknownPeriod(START, Millis(START + 2 * HOUR), "not_added"),
    ]
    assert found.gap is not None
    assert found.gap.start == START + 2 * HOUR


def test_unknown_time_is_neither_gap_nor_claim() -> None:
    found = covered(
        kept(every(15, START, START + HOUR)), START, START + HOUR, UnknownPeriod(START, Millis(START + DAY), "crash")
    )
    assert (found.gap, found.unknown_ms) == (None, HOUR)


def test_days_that_were_lost_are_unknown() -> None:
    looks = [(START + day * DAY, Verdict.UNCHANGED) for day in range(coverage.MOST_DAYS + 3)]
    found = b""
    for at, verdict in looks:
        found = coverage.noted(found, Millis(at), verdict)
    told = covered(StoredChecks(START, found, ()), START, START + 3 * DAY)
    assert list(told.unknown) == [UnknownPeriod(START, Millis(START + 2 * DAY), "not_stored")]


def test_a_day_that_is_put_away_and_still_in_the_tally_counts_once() -> None:
    found = b""
    for at, verdict in every(15, START, START + DAY + HOUR):
        found = coverage.noted(found, Millis(at), verdict)
    both = StoredChecks(START, found, coverage.over(found, 20_001))
    assert covered(both, START, START + 2 * DAY).answered == 100


def test_too_many_unknown_spans_are_merged_into_longer_ones() -> None:
    unknown = [
        UnknownPeriod(Millis(START + n * HOUR), Millis(START + n * HOUR + 60_000), "crash") for n in range(1, 40)
    ]
    found = covered(kept(every(15, START, START + 2 * DAY)), START, START + 2 * DAY, *unknown)
    assert len(found.unknown) == MOST_UNKNOWN
    assert all(any(one.start <= span.start and span.end <= one.end for one in found.unknown) for span in unknown)


def test_an_hour_that_was_counted_by_a_clock_that_is_now_set_back_is_unknown() -> None:
    looks = every(10, START, START + 2 * HOUR)
    found = covered(kept(looks), START, START + HOUR + 900_000)
    assert (found.answered, list(found.unknown)) == (
        6,
        [UnknownPeriod(Millis(START + HOUR), Millis(START + HOUR + 900_000), "clock")],
    )


def test_a_time_is_widened_to_whole_hours_and_ends_now() -> None:
    now = Millis(START + 5 * HOUR + 60_000)
    assert window(Millis(START + 60_000), Millis(START + HOUR + 1), now) == (START, START + 2 * HOUR)
    assert window(Millis(START + 60_000), Millis(START + 9 * HOUR), now) == (START, now)


def test_the_reported_gap_is_never_below_the_longest_known_one() -> None:
    for seed in range(300):
        dice = random.Random(seed)
        looks, at = [], START + dice.randrange(HOUR)
        while at < START + 2 * DAY:
            looks.append((at, dice.choice((Verdict.UNCHANGED, Verdict.CHANGED, Verdict.LOCAL, Verdict.THROTTLED))))
            at += dice.choice((20_000, 300_000, 2_000_000, 9_000_000)) + dice.randrange(60_000)
        cuts = sorted(dice.randrange(START, START + 2 * DAY) for _ in range(dice.choice((0, 2, 4))))
        unknown = [UnknownPeriod(Millis(a), Millis(b), "crash") for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
        start = START + dice.randrange(24) * HOUR
        end = start + dice.randrange(1, 24) * HOUR
        found = covered(kept(looks), start, end, *unknown)
        seen = [at for at, verdict in looks if verdict in coverage.ANSWERED]
        assert found.answered == sum(start <= at < end for at in seen)
        told = 0 if found.gap is None else found.gap.seconds
        longest = max((_longest(seen, *known) for known in _known(found)), default=0)
        assert told >= longest // 1000 - 1
        if not unknown:
            assert told <= longest // 1000 + 2


def _known(found: Coverage) -> list[tuple[int, int]]:
    at, parts = found.start, []
    for span in found.unknown:
        parts.append((at, span.start))
        at = span.end
    return [(a, b) for a, b in [*parts, (at, found.end)] if a < b]


def _longest(seen: Sequence[int], start: int, end: int) -> int:
    return max(b - a for a, b in pairwise([start, *(at for at in seen if start < at < end), end]))
