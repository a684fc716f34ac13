from __future__ import annotations

import pytest

from actors.egress.uplink import MOST_HOSTS, HostResult, Outage


def after(*results: tuple[str, HostResult, float], state: Outage | None = None) -> tuple[Outage, list[str]]:
    """Return the outage, and after each word "down" or "up" if that was a change, else ""."""
    state = state or Outage()
    changed = (state.record(host, result, now) for host, result, now in results)
    return state, ["" if not change else "down" if state.down else "up" for change in changed]


def many(result: HostResult, count: int, now: float = 0.0, name: str = "h") -> list[tuple[str, HostResult, float]]:
    return [(f"{name}{n}", result, now) for n in range(count)]


def test_b3_half_of_twenty_hosts_failing_is_our_own_outage() -> None:
    state, turns = after(*many(HostResult.ANSWERED, 10, name="good"), *many(HostResult.FAILED, 10))
    assert turns[-1] == "down"
    assert turns.count("down") == 1
    assert state.down


@pytest.mark.parametrize(
    "results",
    [
        many(HostResult.FAILED, 19),
        [*many(HostResult.ANSWERED, 40, name="good"), *many(HostResult.FAILED, 39)],
        [("h1", HostResult.FAILED, float(n)) for n in range(100)],
        [(f"h{n}", HostResult.FAILED, 10.0 * n) for n in range(100)],
        many(HostResult.LOCAL, 4),
        [*many(HostResult.ANSWERED, 100, name="good"), *many(HostResult.LOCAL, 6)],
    ],
    ids=["too few", "under half", "one host often", "spread over time", "four local", "local among many good"],
)
def test_b3_cases_that_are_no_outage(results: list[tuple[str, HostResult, float]]) -> None:
    state, turns = after(*results)
    assert not state.down
    assert set(turns) == {""}


def test_b3_local_faults_at_five_hosts_are_an_outage() -> None:
    state, turns = after(*many(HostResult.LOCAL, 5))
    assert turns == [""] * 4 + ["down"]
    assert state.down_since == 0.0


def test_b3_three_answers_end_an_outage_once_the_failures_are_old() -> None:
    state, _ = after(*many(HostResult.LOCAL, 500))
    state, turns = after(*many(HostResult.ANSWERED, 3, 100.0, "back"), state=state)
    assert turns == ["", "", "up"]
    assert not state.down


def test_an_outage_does_not_end_by_silence() -> None:
    state, _ = after(*many(HostResult.LOCAL, 5))
    state, turns = after(("h9", HostResult.LOCAL, 10_000.0), state=state)
    assert state.down
    assert turns == [""]


def test_the_memory_is_bounded() -> None:
    state, _ = after(*many(HostResult.ANSWERED, MOST_HOSTS + 10))
    assert repr(state) == f"<Outage up; hosts: {MOST_HOSTS} answered, 0 failed, 0 local>"


def test_an_outage_with_few_hosts_that_live_ends_after_five_minutes() -> None:
    state, _ = after(*many(HostResult.FAILED, 20))
    assert state.down
    state, turns = after(("h0", HostResult.ANSWERED, 250.0), ("h0", HostResult.ANSWERED, 301.0), state=state)
    assert turns == ["", "up"]


def test_hosts_that_never_answered_again_are_no_evidence_of_the_next_outage() -> None:
    state, _ = after(*many(HostResult.FAILED, 20))
    state, _ = after(*many(HostResult.ANSWERED, 3, 100.0, "good"), state=state)
    state, turns = after(*many(HostResult.FAILED, 20, 110.0), state=state)
    assert (set(turns), state.down) == ({""}, False)
    state, _ = after(*many(HostResult.ANSWERED, 20, 200.0), state=state)
    state, turns = after(*many(HostResult.FAILED, 20, 300.0), state=state)
    assert turns[-1] == "down"
