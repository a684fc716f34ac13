from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervision import Breaker, BreakerRule
from supervision.breaker import (
    GO,
    TABLE,
    BreakerInput,
    Phase,
    Probe,
    Wait,
    ask,
    failed,
    hold,
    succeeded,
    wait_of,
)

RULE = BreakerRule(threshold=3, base=60.0, ceiling=1800.0, probe=30.0)
EXACT = 0.5  # the middle of U(0.8, 1.2): a factor of 1


def opened(now: float = 0.0) -> Breaker:
    state = Breaker()
    for _ in range(3):
        state = failed(state, RULE, now, EXACT)
    return state


def half_open(now: float = 0.0) -> Breaker:
    state = opened(now)
    return ask(state, RULE, state.until, EXACT)[0]


def test_it_opens_at_the_third_failure_in_a_row_and_not_before() -> None:
    state = failed(failed(Breaker(), RULE, 0, EXACT), RULE, 1, EXACT)
    assert ask(state, RULE, 2, EXACT) == (state, GO)
    state = failed(succeeded(state), RULE, 3, EXACT)
    assert state.phase is Phase.CLOSED, "a success in between begins the count anew"
    assert opened().phase is Phase.OPEN
    assert repr(opened()) == "<Breaker open until 60, opening 1>"


def test_a_failure_that_can_not_mend_opens_at_once() -> None:
    assert failed(Breaker(), RULE, 0, EXACT, at_once=True) == Breaker(Phase.OPEN, openings=1, until=60.0)


def test_open_nothing_goes_until_the_wait_is_over_then_exactly_one_probe() -> None:
    state = opened()
    assert ask(state, RULE, 59.9, EXACT) == (state, Wait(60.0))
    state, permit = ask(state, RULE, 60.0, EXACT)
    assert permit == Probe(deadline=90.0)
    for now in (60.0, 61.0, 89.9):
        assert ask(state, RULE, now, EXACT) == (state, Wait(90.0))


def test_a_probe_that_hangs_counts_as_failed() -> None:
    state, permit = ask(half_open(), RULE, 90.0, EXACT)
    assert permit == Wait(90.0 + 120.0)
    assert (state.phase, state.openings) == (Phase.OPEN, 2)


def test_a_failed_probe_waits_twice_as_long_and_a_good_one_closes() -> None:
    assert failed(half_open(), RULE, 70.0, EXACT).until == 70.0 + 120.0
    assert succeeded(half_open()) == Breaker()


def test_failures_of_calls_that_began_before_it_opened_change_nothing() -> None:
    assert failed(opened(), RULE, 5.0, EXACT) == opened()
    assert succeeded(opened()) == Breaker(), "but their success is good news"


def test_a_hold_is_no_failure() -> None:
    held = hold(failed(Breaker(), RULE, 0, EXACT), 500.0)
    assert (held.phase, held.failures) == (Phase.CLOSED, 1)
    assert ask(held, RULE, 499.0, EXACT)[1] == Wait(500.0)
    assert ask(held, RULE, 500.0, EXACT)[1] == GO
    assert hold(held, 100.0).held == 500.0, "an earlier wish does not shorten a later one"
    assert repr(held) == "<Breaker closed, 1 failures, held until 500>"


def test_a_hold_ends_the_probe_and_is_probed_again_without_a_longer_wait() -> None:
    held = hold(half_open(), 500.0)
    assert (held.phase, held.openings) == (Phase.OPEN, 1)
    assert ask(held, RULE, 499.0, EXACT)[1] == Wait(500.0)
    assert ask(held, RULE, 500.0, EXACT)[1] == Probe(530.0)


def test_a_hold_while_open_waits_for_the_later_of_both() -> None:
    assert ask(hold(opened(), 20.0), RULE, 10.0, EXACT)[1] == Wait(60.0)
    assert ask(hold(opened(), 100.0), RULE, 70.0, EXACT)[1] == Wait(100.0)


def test_every_phase_answers_every_sign_that_can_happen_there() -> None:
    always = {BreakerInput.ASKED, BreakerInput.SUCCESS, BreakerInput.FAILURE, BreakerInput.HELD}
    own = {
        Phase.CLOSED: {BreakerInput.LAST_FAILURE},
        Phase.OPEN: {BreakerInput.DUE},
        Phase.HALF_OPEN: {BreakerInput.OVERDUE},
    }
    assert set(TABLE) == {(phase, sign) for phase in Phase for sign in always | own[phase]}


@given(opening=st.integers(1, 10**6), draw=st.floats(0, 1, exclude_max=True))
def test_the_wait_doubles_up_to_the_ceiling_with_a_fifth_of_jitter(opening: int, draw: float) -> None:
    step = min(1800.0, 60.0 * 2 ** min(opening - 1, 10))
    assert 0.8 * step <= wait_of(RULE, opening, draw) <= 1.2 * step


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["ask", "success", "failure", "hold"]),
            st.floats(0, 4000),
            st.floats(0, 1, exclude_max=True),
        ),
        max_size=80,
    )
)
def test_never_two_probes_out_and_never_stuck(steps: list[tuple[str, float, float]]) -> None:
    state, now, probe_until = Breaker(), 0.0, -math.inf
    for what, gap, draw in steps:
        now += gap
        match what:
            case "ask":
                state, permit = ask(state, RULE, now, draw)
                if isinstance(permit, Probe):
                    assert now >= probe_until, "the former probe is over"
                    probe_until = permit.deadline
                elif isinstance(permit, Wait):
                    assert permit.until > now
                    assert permit.until <= max(now + 1.2 * 1800.0, state.held)
            case "success":
                state, probe_until = succeeded(state), -math.inf
            case "failure":
                state = failed(state, RULE, now, draw)
                probe_until = -math.inf if state.phase is Phase.OPEN else probe_until
            case "hold":
                state, probe_until = hold(state, now + 100.0), -math.inf
        assert (state.phase is Phase.CLOSED) <= (state.openings == 0)
    asked = now
    for _ in range(4):  # after any history, waiting as long as asked ends with a permit
        state, permit = ask(state, RULE, asked, 0.5)
        if not isinstance(permit, Wait):
            return
        asked = permit.until
    raise AssertionError(f"still waiting: {state}")


def test_nonsense_is_refused() -> None:
    for wrong in ({"threshold": 0}, {"base": 0.0}, {"base": 9.0, "ceiling": 8.0}, {"probe": math.inf}):
        with pytest.raises(ValueError, match="a breaker needs"):
            BreakerRule(**wrong)


def test_every_transition_of_the_table_is_one_that_the_functions_make() -> None:
    seen = set()
    for start, now in product((Breaker(), opened(), half_open()), (0.0, 60.0, 95.0)):
        seen.add((start.phase, ask(start, RULE, now, EXACT)[0].phase))
        seen.add((start.phase, succeeded(start).phase))
        seen.add((start.phase, failed(start, RULE, now, EXACT, at_once=True).phase))
        seen.add((start.phase, hold(start, 200.0).phase))
    assert seen == {(was, becomes) for (was, _), becomes in TABLE.items()}
