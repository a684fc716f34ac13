from __future__ import annotations

from storage.records.coverage import (
    DEAD,
    UNSEEN,
    UNSTORED,
    After,
    Record,
    Shift,
    UnknownPeriod,
    following,
    record_of,
    stepped,
)
from storage.records.identity import Millis

MINUTE = 60_000


def at(minutes: float) -> Millis:
    return Millis(1_780_000_000_000 + round(minutes * MINUTE))


def shift(number: int, began: float, saved: float, until: float | None, after: After, node: str = "") -> Shift:
    return Shift(number, node, at(began), at(saved), None if until is None else at(until), after)


def record(*shifts: Shift, now: float = 1000) -> Record:
    return record_of(shifts, at(now), [shifts[-1].number])


def test_the_record_begins_with_the_first_shift() -> None:
    assert record(shift(1, 10, 20, None, "nothing")) == Record(at(10), "no_record", [], [])
    assert record(shift(7, 10, 20, None, "retention")).before == "retention"
    assert record_of((), at(5)) == Record(at(5), "no_record", (), ())


def test_the_time_after_an_orderly_stop_is_not_covered() -> None:
    found = record(shift(1, 0, 20, 20, "nothing"), shift(2, 30, 40, None, "stop"))
    assert (list(found.unknown), list(found.resting)) == ([], [(at(20), at(30))])


def test_after_a_crash_nothing_is_known_since_the_last_sweep() -> None:
    found = record(shift(1, 0, 20, None, "nothing"), shift(2, 30, 40, None, "crash"))
    assert (list(found.unknown), list(found.resting)) == ([UnknownPeriod(at(20), at(30), "crash")], [])


def test_after_a_restore_nothing_is_known_since_the_copy_was_made() -> None:
    found = record(shift(1, 0, 20, 20, "nothing"), shift(2, 30, 40, None, "restore"))
    assert list(found.unknown) == [UnknownPeriod(at(20), at(30), "restore")]


def test_a_clock_that_is_set_forward_leaves_out_a_time_of_which_nothing_is_known() -> None:
    before, after = stepped(shift(1, 0, 5, None, "nothing"), at(19), MINUTE, at(80))
    found = record(before.whole, after._replace(number=2))
    assert list(found.unknown) == [UnknownPeriod(at(19), at(80), "clock")]


def test_a_clock_that_is_set_back_has_a_time_twice() -> None:
    before, after = stepped(shift(1, 0, 5, None, "nothing"), at(79), MINUTE, at(20))
    assert (before.until, after.began) == (at(80), at(19))
    found = record(before.whole, after._replace(number=2, saved=at(200)))
    assert {span.why for span in found.unknown} == {"clock"}
    assert min(span.start for span in found.unknown) == at(19)
    assert max(span.end for span in found.unknown) == at(80)


def test_a_clock_that_returns_makes_its_time_known_again() -> None:
    first, wrong = stepped(shift(1, 0, 5, None, "nothing"), at(10), MINUTE, at(500))
    wrong, right = stepped(wrong._replace(number=2), at(510), MINUTE, at(21))
    right = right._replace(number=3, saved=at(300))
    found = record(first.whole, wrong.whole, right)
    assert all(span.end <= at(21) or span.start >= at(300) for span in found.unknown)


def test_a_shift_not_swept_before_a_clock_step_is_lost_in_a_crash() -> None:
    before, after = stepped(shift(1, 0, 5, None, "nothing"), at(19), MINUTE, at(80))
    found = record(before, after._replace(number=2), shift(3, 90, 95, None, "crash"))
    assert UnknownPeriod(at(5), at(19), "crash") in found.unknown
    assert UnknownPeriod(at(80), at(90), "crash") in found.unknown


def test_a_clock_that_went_back_over_a_crash_takes_the_time_before_with_it() -> None:
    found = record(shift(1, 0, 50, None, "nothing"), shift(2, 40, 60, None, "crash"))
    assert UnknownPeriod(Millis(at(40) - UNSEEN), Millis(at(50) + UNSTORED), "crash") in found.unknown


def test_a_clock_that_went_back_while_the_service_was_off_makes_that_time_doubtful() -> None:
    found = record(shift(1, 0, 50, 50, "nothing"), shift(2, 40, 60, None, "stop"))
    assert (list(found.unknown), list(found.resting)) == ([UnknownPeriod(at(40), at(50), "clock")], [])


def test_time_lost_in_a_crash_stays_unknown_after_a_clock_set_back() -> None:
    crash = [shift(1, 0, 20, None, "nothing"), shift(2, 40, 50, 50, "crash")]
    found = record(*crash, shift(3, 10, 60, None, "clock"))
    assert UnknownPeriod(at(20), at(40), "crash") in found.unknown


def test_a_node_that_says_nothing_any_more_is_known_up_to_its_last_word() -> None:
    shifts = [shift(1, 0, 20, None, "nothing", "a"), shift(2, 0, 990, None, "nothing", "b")]
    found = record_of(shifts, at(1000), [2])
    assert list(found.unknown) == [UnknownPeriod(at(20), Millis(at(20) + DEAD), "crash")]


def test_a_service_that_crashed_and_did_not_start_again_is_unknown_since_then() -> None:
    assert list(record_of([shift(1, 0, 20, None, "nothing")], at(50)).unknown) == [
        UnknownPeriod(at(20), at(50), "crash")
    ]


def test_a_start_records_the_shift_before_it() -> None:
    stopped, crashed = shift(1, 0, 20, 20, "nothing"), shift(1, 0, 20, None, "nothing")
    assert following(None, "", at(30), copied=False).after == "nothing"
    assert following(stopped, "", at(30), copied=False).after == "stop"
    assert following(crashed, "", at(30), copied=False).after == "crash"
    assert following(stopped, "", at(30), copied=True).after == "restore"
