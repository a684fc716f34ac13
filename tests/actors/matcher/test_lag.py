from __future__ import annotations

import trio
from trio.testing import wait_all_tasks_blocked

from actors.matcher import LEAST_SHOWN, Lag, Matcher, lag_at
from storage.records.identity import START, Millis, Seq
from storage.tail import Tail
from tests.actors.matcher.rig import Rig, a_child, an_alert
from tests.support.build import NOW


def seq(second: float) -> Seq:
    return Seq((NOW + round(1000 * second)) << 15)


def at(second: float) -> Millis:
    return Millis(NOW + round(1000 * second))


async def test_r2_the_lag_counts_waiting_events_and_the_age_of_the_oldest() -> None:
    rig, tail = Rig(), Tail()
    rig.mint.last = seq(0)
    await rig.prepare()
    events = await rig.commit("a", "b", "c")
    await tail.publish(events)
    assert lag_at(tail, tail.head, 0, START, at(900)) == Lag()
    assert lag_at(tail, events[0].seq, 0, START, at(90)) == Lag(2, 90.0)
    assert lag_at(tail, events[1].seq, 0, START, at(90)) == Lag(1, 90.0)
    assert lag_at(tail, START, 0, START, at(-5)) == Lag(3, 0.0)  # the clock went back


def test_r2_dropped_rows_are_reported_as_counted() -> None:
    tail = Tail(seq(500))
    assert lag_at(tail, seq(100), 700, seq(50), at(400)) == Lag(700, 300.0)
    assert lag_at(tail, START, 700, seq(50), at(400)) == Lag(700, 350.0)
    assert lag_at(tail, START, 1, seq(50), at(400)) == lag_at(tail, START, 0, seq(50), at(400)) == Lag(1, 350.0)
    assert lag_at(tail, START, 0, START, at(400)).text() == ""  # nothing is known yet


def test_r2_people_are_notified_of_a_lag_only_beyond_a_burst() -> None:
    assert Lag(900, LEAST_SHOWN - 1).text() == ""
    assert Lag(1, LEAST_SHOWN).text().startswith("1 event not matched with alerts yet, the oldest of 60 s ago")
    assert Lag(1_234_567, 4000).text().startswith("1,234,567 events not matched with alerts yet, the oldest of 4,000 s")


async def test_r2_a_matcher_that_reads_a_backlog_says_how_much_of_it_is_left() -> None:
    rig = Rig()
    await rig.prepare(an_alert(query="nobody"))
    for page in range(3):
        await rig.commit(*(f"price {page} {number}" for number in range(300)))
    rig.restart()
    seen: list[int] = []
    real = rig.storage.log.read
    matcher: Matcher | None = None

    async def read(*args: object) -> object:
        assert matcher is not None
        seen.append(matcher.lag().events)
        return await real(*args)  # type: ignore[arg-type]

    rig.storage.log.read = read  # type: ignore[method-assign, assignment]
    matcher = rig.matcher()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(matcher.run, a_child())
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert seen[1:5] == [700, 500, 300, 100]
    assert matcher.lag() == Lag()
