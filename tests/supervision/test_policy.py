from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervision import Backoff, InvalidSpec
from supervision.policy import Exit, GiveUp, Limit, Quarantine, Restart, decide

FEW = Limit(3, 30.0)
MANY = Limit(5, 600.0, quarantine=1800.0)


def after(
    crashed: bool = True,
    *,
    limit: Limit = FEW,
    recent: tuple[float, ...] = (),
    streak: int = 0,
    lived: float = 1.0,
    at: float = 1000.0,
    draw: float = 0.5,
    probation: bool = False,
) -> Restart | Quarantine | GiveUp:
    how = Exit(crashed, at, lived)
    return decide(how, backoff=Backoff(), limit=limit, streak=streak, recent=recent, draw=draw, probation=probation)


def test_s2_a_return_and_a_crash_lead_to_another_life() -> None:
    assert isinstance(after(False), Restart) and isinstance(after(True), Restart)


def test_s4_the_fourth_restart_within_30_seconds_gives_up() -> None:
    assert after(recent=(975.0, 980.0, 990.0)) == GiveUp("needs more than 3 restarts in 30 s")
    third = after(recent=(969.0, 980.0, 990.0))
    assert third == Restart(0.75, 1, (980.0, 990.0, 1000.0)), "what is older than the period is forgotten"


def test_s6_the_sixth_within_ten_minutes_is_quarantine() -> None:
    assert after(limit=MANY, recent=(900.0,) * 5, draw=0.0) == Quarantine(1620.0, 1)
    assert after(limit=MANY, recent=(900.0,) * 5, draw=0.5) == Quarantine(1800.0, 1)
    assert isinstance(after(limit=MANY, recent=(900.0,) * 4), Restart)


def test_s6_a_relapse_soon_after_quarantine_leads_straight_back() -> None:
    assert isinstance(after(limit=MANY, probation=True, lived=119.0), Quarantine)
    assert isinstance(after(limit=MANY, probation=True, lived=120.0), Restart)


@pytest.mark.parametrize(
    ("most", "period", "quarantine"), [(-1, 1, None), (1, 0, None), (1, float("inf"), None), (1, 1, 0)]
)
def test_a_limit_that_cannot_be_meant_is_refused(most: int, period: float, quarantine: float | None) -> None:
    with pytest.raises(InvalidSpec):
        Limit(most, period, quarantine)


@given(gaps=st.lists(st.floats(0, 40), min_size=1, max_size=60), most=st.integers(0, 6))
def test_it_gives_up_exactly_when_a_window_holds_too_many(gaps: list[float], most: int) -> None:
    limit = Limit(most, 30.0)
    moments: list[float] = []
    recent: tuple[float, ...] = ()
    now = 0.0
    for gap in gaps:
        now += gap
        moments.append(now)
        decision = after(limit=limit, recent=recent, at=now)
        too_many = sum(now - at <= 30.0 for at in moments) > most
        assert isinstance(decision, GiveUp) == too_many
        if not isinstance(decision, Restart):
            return
        recent = decision.recent
        assert len(recent) <= most
