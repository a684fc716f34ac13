from __future__ import annotations

from storage.records.checks import Verdict
from storage.records.coverage import MOST_SHIFTS, Day, Shift, noted, over, stepped, summed
from storage.records.identity import Millis, SourceId
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW, a_source, a_state
from tests.storage.contract.engines import Engine

DAY_MS = 86_400_000


async def watch(storage: Storage, *numbers: int) -> list[SourceId]:
    for number in numbers:
        await storage.sources.add(a_source(number), a_state(number, b""), storage.lease)
    return [a_source(number).id for number in numbers]


async def away(storage: Storage, source: SourceId, first: int, last: int) -> list[Day]:
    """Check the sums of each stored day against its body, and return the days without them."""
    found = await storage.coverage.days(source, first, last)
    assert all(day.sums == summed(day) for day in found)
    return [day._replace(sums=b"") for day in found]


async def test_a_start_says_how_the_shift_before_it_ended(engine: Engine) -> None:
    storage = await engine.start()
    first = await storage.coverage.begin("", Millis(NOW))
    await storage.coverage.save(first._replace(saved=Millis(NOW + 5), until=Millis(NOW + 5)))
    second = await storage.coverage.begin("", Millis(NOW + 10))
    await storage.aclose()
    storage = await engine.start()
    third = await storage.coverage.begin("", Millis(NOW + 20))
    assert [first.after, second.after, third.after] == ["nothing", "stop", "crash"]
    assert list(await storage.coverage.shifts()) == [
        first._replace(saved=Millis(NOW + 5), until=Millis(NOW + 5)),
        second,
        third,
    ]


async def test_each_node_has_shifts_of_its_own(storage: Storage) -> None:
    await storage.coverage.begin("a", Millis(NOW))
    other = await storage.coverage.begin("b", Millis(NOW + 1))
    assert other.after == "nothing"


async def test_a_step_of_the_clock_ends_one_shift_and_begins_the_next(storage: Storage) -> None:
    shift = await storage.coverage.begin("", Millis(NOW))
    before, after = stepped(shift, Millis(NOW + 60_000), 10_000, Millis(NOW + 3_600_000))
    after = await storage.coverage.step(before, after)
    assert after.number > before.number
    assert list(await storage.coverage.shifts()) == [before, after]


async def test_the_oldest_shift_goes_and_the_record_begins_with_the_next(storage: Storage) -> None:
    shift = await storage.coverage.begin("", Millis(NOW))
    for number in range(1, MOST_SHIFTS + 1):
        at = Millis(NOW + number)
        shift = await storage.coverage.step(shift._replace(until=at), Shift(0, "", at, at, None, "clock"))
    kept = await storage.coverage.shifts()
    assert (len(kept), kept[0].after, kept[0].began) == (MOST_SHIFTS, "retention", NOW + 1)


async def test_days_come_back_by_source_and_number(storage: Storage) -> None:
    one, two = await watch(storage, 1, 2)
    days = [Day(number, b"\0" + bytes((number % 200,))) for number in range(20_000, 20_500)]
    await storage.coverage.keep([(one, day) for day in days])
    await storage.coverage.keep([(two, Day(20_001, b"\0other")), (SourceId("nobody"), Day(20_001, b"\0"))])
    await storage.coverage.keep([])
    assert await away(storage, one, 20_010, 20_409) == days[10:410]
    assert await away(storage, two, 0, 20_001) == [Day(20_001, b"\0other")]
    assert await away(storage, SourceId("nobody"), 20_000, 20_001) == []


def a_day(*minutes: int) -> Day:
    """Return a day with checks at these minutes."""
    counted = b""
    for minute in (*minutes, 1_441):
        counted = noted(counted, Millis(20_000 * DAY_MS + 60_000 * minute), Verdict.UNCHANGED)
    (day,) = over(counted, 20_001)
    return day


async def test_a_day_that_is_put_away_again_is_there_once(storage: Storage) -> None:
    (one,) = await watch(storage, 1)
    for day in (a_day(5, 70), a_day(5, 70), a_day(5, 70, 80, 200), a_day(5, 70)):
        await storage.coverage.keep([(one, day)])
    assert await away(storage, one, 20_000, 20_000) == [a_day(5, 70, 80, 200)]


async def test_hours_repeated_by_a_clock_set_back_come_behind(storage: Storage) -> None:
    (one,) = await watch(storage, 1)
    for day in (a_day(5, 70), a_day(7), a_day(7)):
        await storage.coverage.keep([(one, day)])
    (kept,) = await away(storage, one, 20_000, 20_000)
    assert kept.body == a_day(5, 70).body + a_day(7).body[1:]


async def test_forgotten_coverage_leaves_the_record(storage: Storage) -> None:
    (one,) = await watch(storage, 1)
    await storage.coverage.begin("", Millis(100 * DAY_MS))
    await storage.coverage.keep([(one, Day(number, b"\0a")) for number in range(100, 110)])
    assert await storage.coverage.forget(105, 3) == 3
    assert await storage.coverage.forget(105, 3) == 2
    assert await storage.coverage.forget(105, 3) == 0
    assert [day.number for day in await storage.coverage.days(one, 0, 200)] == list(range(105, 110))
    (shift,) = await storage.coverage.shifts()
    assert (shift.began, shift.after) == (105 * DAY_MS, "retention")


async def test_shifts_that_are_over_go_with_their_days(storage: Storage) -> None:
    old = await storage.coverage.begin("", Millis(90 * DAY_MS))
    await storage.coverage.save(old._replace(saved=Millis(95 * DAY_MS)))
    new = await storage.coverage.begin("", Millis(106 * DAY_MS))
    await storage.coverage.forget(105, 10)
    assert list(await storage.coverage.shifts()) == [new]
