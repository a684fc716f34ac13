"""A temporarily wrong clock delays nothing beyond its normal schedule."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from actors.delivery.actor import LONGEST_SLEEP
from actors.delivery.schedule import BREATHER, WAITS, latest
from actors.egress.failures import PostResult
from storage.records.destination import Match
from storage.records.identity import Millis
from tests.actors.delivery.rig import Arrival, Rig, answers

DAY = 86_400_000


class Stepping(Rig):
    """A rig with an adjustable wall clock."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0
        right = self.world.now
        self.world.now = lambda: Millis(right() + self.ahead)


async def test_r12_a_retry_that_a_clock_ahead_has_put_off_comes_within_the_hour(autojump_clock: object) -> None:
    rig = Stepping()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500, 200)
    async with rig.running():
        rig.ahead = DAY
        await rig.match("hook", "a")
        await trio.sleep(2)
        assert len(rig.arrivals) == 1
        rig.ahead = 0
        await trio.sleep(LONGEST_SLEEP + 60)
        assert len(rig.arrivals) == 2


@pytest.mark.parametrize(("ahead", "failures", "hears"), [(1800, 1, False), (3594, 2, False), (3594, 1, True)])
async def test_a_clock_that_is_set_right_again_leaves_no_retry_waiting_for_longer_than_its_schedule(
    autojump_clock: object, ahead: int, failures: int, hears: bool
) -> None:
    rig = Stepping()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(*[500] * failures, 200)
    async with rig.running():
        rig.ahead = 1000 * ahead
        await rig.match("hook", "a")
        await trio.sleep(2 if failures == 1 else 10)
        assert len(rig.arrivals) == failures
        rig.ahead = 0
        if hears:
            rig.registry.on_clock_step()
        await trio.sleep(1.2 * WAITS[failures - 1] + 2 * BREATHER)
        assert len(rig.arrivals) == failures + 1


async def test_a_step_of_seconds_leaves_a_wish_of_the_receiver_as_it_is(autojump_clock: object) -> None:
    rig = Stepping()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(429, 200, retry_after=3000)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(60)
        rig.ahead = -10_000
        rig.registry.on_clock_step()
        await trio.sleep(2900)
        assert len(rig.arrivals) == 1


async def test_r12_after_a_step_that_was_noticed_it_comes_at_once(autojump_clock: object) -> None:
    rig = Stepping()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500, 200)
    async with rig.running():
        rig.ahead = 365 * DAY
        await rig.match("hook", "a")
        await trio.sleep(2)
        rig.ahead = 0
        rig.registry.on_clock_step()
        await trio.sleep(2)
        assert len(rig.arrivals) == 2
        assert "delivery.clamped" in rig.logged


async def test_r12_a_clock_step_during_a_clamp_is_not_lost(autojump_clock: object) -> None:
    """The end of a slow request noticed the step during the write, and the end of the write forgot it."""
    rig = Stepping()
    await rig.prepare("hook")
    plain, answered = rig.storage.outbox.clamp, answers(500, 200)

    async def answer(arrival: Arrival) -> PostResult:
        await trio.sleep(3 if b"slow" in arrival.body else 0)
        return await answered(arrival)

    async def put_right_meanwhile(*given: Any) -> int:
        rows = await plain(*given)
        if rig.ahead and len(rig.arrivals) == 2:
            rig.ahead = 0
            await trio.sleep(3)
        return rows

    rig.receivers["hook.example"] = answer
    rig.storage.outbox.clamp = put_right_meanwhile  # type: ignore[method-assign]
    async with rig.running():
        rig.ahead = 365 * DAY
        await rig.match("hook", "a", "slow")
        await trio.sleep(1)
        rig.registry.on_clock_step()
        await trio.sleep(20)
        assert len(rig.arrivals) == 3


async def test_r12_a_start_after_a_clock_correction_delivers_waiting_rows(autojump_clock: object) -> None:
    rig = Stepping()
    await rig.prepare("hook")
    rig.ahead = 30 * DAY
    await rig.match("hook", "a", nudge=False)
    rig.ahead = 0
    async with rig.running():
        await trio.sleep(2)
        assert len(rig.arrivals) == 1


async def test_r12_an_event_of_a_moment_in_the_future_is_in_todays_digest(autojump_clock: object) -> None:
    rig = Stepping()
    await rig.prepare("hook", delivery_mode="15min")
    rig.ahead = DAY
    await rig.match("hook", "a", nudge=False)
    rig.ahead = 0
    async with rig.running():
        await trio.sleep(1800)
        assert len(rig.arrivals) == 1


async def test_r12_rows_that_wait_by_the_schedule_are_left_alone(autojump_clock: object) -> None:
    rig = Stepping()
    await rig.prepare("hook")
    (event,) = await rig.match("hook", "a", nudge=False)
    now, lease = rig.world.now(), rig.storage.lease
    assert await rig.storage.outbox.clamp("hook", now, lambda attempts: latest(attempts, now), lease) == 0
    assert await rig.storage.outbox.enqueue([Match("hook", event.seq, now)], lease) == 0
    for attempts, wait in enumerate(WAITS, 1):
        assert latest(attempts, now) >= now + 1200 * wait


async def standing(rig: Rig) -> tuple[str, Millis | None]:
    found = await rig.storage.alerts.destination("hook")
    assert found is not None
    return found.state, found.failing_since


async def test_r12_a_step_of_a_week_disables_nothing_that_has_failed_for_an_hour(autojump_clock: object) -> None:
    rig = Stepping()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500)
    async with rig.running():
        await rig.match("hook", *"abcdefgh")
        await trio.sleep(3600)
        state, since = await standing(rig)
        assert state == "failing"
        assert since is not None
        rig.ahead = 7 * DAY
        rig.registry.on_clock_step()
        await trio.sleep(4 * 86_400)
        assert await standing(rig) == ("failing", since + 7 * DAY)
        await trio.sleep(86_400)
        await rig.match("hook", "i")
        await trio.sleep(60)
        assert (await standing(rig))[0] == "disabled"
