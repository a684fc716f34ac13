from __future__ import annotations

import pytest

from actors.egress.uplink import MOST_HOSTS, Outage, Word


def after(*words: tuple[str, Word, float], state: Outage | None = None) -> tuple[Outage, list[str]]:
    """Return the outage, and after each word "down" or "up" if that was a change, else ""."""
    state = state or Outage()
    changed = (state.heard(host, word, now) for host, word, now in words)
    return state, ["" if not change else "down" if state.down else "up" for change in changed]


def many(word: Word, count: int, now: float = 0.0, name: str = "h") -> list[tuple[str, Word, float]]:
    return [(f"{name}{n}", word, now) for n in range(count)]


def test_b3_half_of_twenty_hosts_failing_is_our_own_outage() -> None:
    state, turns = after(*many(Word.ANSWERED, 10, name="good"), *many(Word.FAILED, 10))
    assert turns[-1] == "down"
    assert turns.count("down") == 1
    assert state.down


@pytest.mark.parametrize(
    "words",
    [
        many(Word.FAILED, 19),
        [*many(Word.ANSWERED, 40, name="good"), *many(Word.FAILED, 39)],
        [("h1", Word.FAILED, float(n)) for n in range(100)],
        [(f"h{n}", Word.FAILED, 10.0 * n) for n in range(100)],
        many(Word.LOCAL, 4),
        [*many(Word.ANSWERED, 100, name="good"), *many(Word.LOCAL, 6)],
    ],
    ids=["too few", "under half", "one host often", "spread over time", "four local", "local among many good"],
)
def test_b3_cases_that_are_no_outage(words: list[tuple[str, Word, float]]) -> None:
    state, turns = after(*words)
    assert not state.down
    assert set(turns) == {""}


def test_b3_local_faults_at_five_hosts_are_an_outage() -> None:
    state, turns = after(*many(Word.LOCAL, 5))
    assert turns == [""] * 4 + ["down"]
    assert state.down_since == 0.0


def test_b3_three_answers_end_an_outage_once_the_failures_are_old() -> None:
    state, _ = after(*many(Word.LOCAL, 500))
    state, turns = after(*many(Word.ANSWERED, 3, 100.0, "back"), state=state)
    assert turns == ["", "", "up"]
    assert not state.down


def test_an_outage_does_not_end_by_silence() -> None:
    state, _ = after(*many(Word.LOCAL, 5))
    state, turns = after(("h9", Word.LOCAL, 10_000.0), state=state)
    assert state.down
    assert turns == [""]


def test_the_memory_is_bounded() -> None:
    state, _ = after(*many(Word.ANSWERED, MOST_HOSTS + 10))
    assert repr(state) == f"<Outage up; hosts: {MOST_HOSTS} answered, 0 failed, 0 local>"


def test_an_outage_with_few_hosts_that_live_ends_after_five_minutes() -> None:
    state, _ = after(*many(Word.FAILED, 20))
    assert state.down
    state, turns = after(("h0", Word.ANSWERED, 250.0), ("h0", Word.ANSWERED, 301.0), state=state)
    assert turns == ["", "up"]


def test_hosts_that_never_answered_again_are_no_evidence_of_the_next_outage() -> None:
    state, _ = after(*many(Word.FAILED, 20))
    state, _ = after(*many(Word.ANSWERED, 3, 100.0, "good"), state=state)
    state, turns = after(*many(Word.FAILED, 20, 110.0), state=state)
    assert (set(turns), state.down) == ({""}, False)
    state, _ = after(*many(Word.ANSWERED, 20, 200.0), state=state)
    state, turns = after(*many(Word.FAILED, 20, 300.0), state=state)
    assert turns[-1] == "down"
