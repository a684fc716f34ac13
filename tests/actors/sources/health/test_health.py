from __future__ import annotations

import math
import random
from itertools import groupby
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.egress.failures import Blame
from actors.sources.health.score import after_failure, after_success, flag_of
from actors.sources.schedule import silence as pulse
from actors.sources.schedule.silence import SilenceState
from storage.records.identity import Millis
from storage.records.source import Flag, Health
from tests.actors.sources.schedule.test_silence import after_gaps

HOUR, DAY = 3600.0, 86_400.0
NEW = SilenceState()
FIRST = Millis(3_600_000)
OFFICE = (([600.0] * 60 + [14 * HOUR]) * 4 + [600.0] * 60 + [62 * HOUR]) * 8
WEEKLY_BURST = ([600.0] * 5 + [6.8 * DAY]) * 7


def failing(
    hours: float, blame: Blame = Blame.REMOTE_TRANSIENT, failures: int = 5, *, memory: SilenceState = NEW
) -> Health:
    """Return a source's health after the last of several failures; the first was this many hours before."""
    health = Health()
    for number in range(1, failures + 1):
        at = Millis(round(FIRST + hours * 3_600_000 * (number - 1) / max(1, failures - 1)))
        health, memory = after_failure(health, memory, blame, number, at, "timeout")
    return health


def silent(gaps: list[float], seconds: float, watched: float = 365 * DAY) -> Health:
    """Return a source's health after these gaps and a silence, at the second check of the silence."""
    memory = after_gaps(gaps, silent=seconds, watched=watched)
    health, memory = after_success(Health(), memory)
    return after_success(health, memory)[0]


@pytest.mark.parametrize(
    ("gaps", "seconds", "watched", "score", "flag"),
    [
        ([], 30 * DAY, 0, 1.0, "ok"),
        ([10 * DAY] * 3, 60 * DAY, 0, 1.0, "ok"),
        ([DAY] * 40, 2 * DAY, 0, 1.0, "ok"),
        ([DAY] * 40, 7 * DAY, 0, 0.84, "ok"),
        ([DAY] * 40, 14 * DAY, 0, 0.36, "degraded"),
        ([HOUR] * 64, 3 * HOUR, 365 * DAY, 1.0, "ok"),
        ([HOUR] * 64, 10 * HOUR, 365 * DAY, 0.59, "degraded"),
        ([HOUR] * 64, 24 * HOUR, 365 * DAY, 0.2, "rotten"),
        (OFFICE, 15 * HOUR, 0, 1.0, "ok"),
        (OFFICE[:305], 60 * HOUR, 0, 1.0, "ok"),
        (OFFICE, 60 * HOUR, 0, 1.0, "ok"),
        (OFFICE, 86 * HOUR, 0, 1.0, "ok"),  # the first weekend of three days
        (OFFICE, 5 * DAY, 0, 0.63, "degraded"),
        (WEEKLY_BURST, 7 * DAY, 0, 1.0, "ok"),
        (WEEKLY_BURST, 14 * DAY, 0, 1.0, "ok"),
        (WEEKLY_BURST, 35 * DAY, 0, 0.91, "ok"),
        ([30 * DAY] * 12, 45 * DAY, 0, 1.0, "ok"),
        ([30 * DAY] * 12, 200 * DAY, 0, 0.94, "ok"),
    ],
)
def test_the_table_of_silences(gaps: list[float], seconds: float, watched: float, score: float, flag: Flag) -> None:
    health = silent(gaps, seconds, watched)
    assert (round(health.score, 2), health.flag) == (score, flag)


@pytest.mark.parametrize(
    ("hours", "failures", "score", "flag"),
    [
        (0.2, 2, 1.0, "ok"),
        (1, 5, 0.78, "ok"),
        (6, 12, 0.48, "degraded"),
        (24, 50, 0.22, "rotten"),
        (72, 140, 0.0, "rotten"),
        (500, 200, 0.0, "rotten"),
    ],
)
def test_the_table_of_failures(hours: float, failures: int, score: float, flag: Flag) -> None:
    health = failing(hours, failures=failures)
    assert (round(health.score, 2), health.flag) == (score, flag)


def test_the_table_of_answers_that_cannot_be_read() -> None:
    memory = SilenceState()
    for number in range(40):
        memory = pulse.after_watching(memory, 600.0, defect=number % 5 < 2)
    health, _ = after_success(Health(), memory)
    assert (health.score, health.flag, health.cause) == (0.8, "ok", "partial")
    assert "8 of the last 20" in health.reason


@pytest.mark.parametrize("blame", [Blame.CONTENT, Blame.REMOTE_PERMANENT])
def test_a_feed_that_has_become_a_login_page_is_rotten_when_it_is_confirmed_for_a_day(blame: Blame) -> None:
    assert failing(23.5, blame, failures=2).flag == "ok"
    assert failing(6, Blame.CONTENT, failures=3).flag == "ok"
    health = failing(25, blame, failures=30)
    assert health.score <= 0.2 and health.flag == "rotten" and "needs a person" in health.reason


@given(st.integers(1, 300), st.integers(60, 2700), st.sampled_from(["ok", "degraded", "rotten"]))
def test_h1_a_source_that_answers_and_never_changes_keeps_one(looks: int, every: int, flag: Flag) -> None:
    health, memory = Health(flag=flag), SilenceState(watched=60 * DAY)
    for _ in range(looks):
        health, memory = after_success(health, pulse.after_watching(memory, every, defect=False))
        assert health.score == 1.0
    assert health.flag == "ok" or looks < 2


def worst_flags(draw_gaps: list[list[float]]) -> dict[Flag, int]:
    """Count the flags at the end of each gap, when they are worst."""
    found: dict[Flag, int] = {"ok": 0, "degraded": 0, "rotten": 0}
    for gaps in draw_gaps:
        memory = SilenceState(watched=365 * DAY)
        for gap in gaps:
            memory = pulse.after_watching(memory, gap, defect=False)
            if len(memory.gaps) >= pulse.FEWEST_GAPS and memory.age > pulse.LONGEST_TIMES * memory.longest:
                health, _ = after_success(Health(), replace(memory, waiting="degraded"))
                found[health.flag] += 1
            else:
                found["ok"] += 1
            memory = pulse.after_change(memory)
    return found


def test_h2_poisson_sources_are_hardly_ever_degraded_and_never_rotten() -> None:
    rng, sources = random.Random(7), []
    for _ in range(340):
        rate = 10 ** rng.uniform(-6, -2.5)
        sources.append([rng.expovariate(rate) for _ in range(300)])
    found = worst_flags(sources)
    assert found["rotten"] == 0
    assert found["degraded"] <= 100_000 / 2_500


def test_h3_heavy_tails_are_misjudged_at_most_in_one_gap_of_two_hundred() -> None:
    rng, sources = random.Random(8), []
    for _ in range(200):
        middle, sigma = 10 ** rng.uniform(2.5, 5.5), rng.uniform(0.5, 2.0)
        sources.append([middle * math.exp(rng.gauss(0, sigma)) for _ in range(300)])
    found = worst_flags(sources)
    assert (found["degraded"] + found["rotten"]) / sum(found.values()) <= 0.005


@pytest.mark.parametrize(("kind", "found", "given_up"), [("poisson", 12, 20), ("log-normal", 14, 24)])
def test_h4_a_source_that_has_stopped_is_found_after_a_dozen_mean_gaps_and_rotten_after_twenty(
    kind: str, found: int, given_up: int
) -> None:
    """With the decided bounds of the flags, two checks for each, and the longest silence of 90 days."""
    rng, degraded, rotten = random.Random(9), [], []
    for _ in range(100):
        poisson = kind == "poisson"
        gaps = [rng.expovariate(1 / HOUR) if poisson else HOUR * math.exp(rng.gauss(-0.5, 1)) for _ in range(128)]
        health, memory = Health(), after_gaps(gaps)
        turns: dict[Flag, float] = {}
        while "rotten" not in turns and memory.age < 200 * HOUR:
            health, memory = after_success(health, pulse.after_watching(memory, HOUR / 4, defect=False))
            turns.setdefault(health.flag, memory.age / HOUR)
        degraded.append(turns.get("degraded", math.inf))
        rotten.append(turns.get("rotten", math.inf))
    assert median(degraded) <= found and median(rotten) <= given_up


@given(
    st.lists(st.sampled_from([*Blame, None]), max_size=10),
    st.integers(3, 150),
    st.floats(60, 2000),
    st.lists(st.booleans(), max_size=30),
)
def test_h5_the_flag_changes_at_most_twice_in_an_outage_and_once_after_it(
    before: list[Blame | None], failures: int, every: float, after: list[bool]
) -> None:
    health, memory, now, flags = Health(), SilenceState(), float(FIRST), []
    for number in range(1, failures + 1):
        now += every * 1000
        health, memory = after_failure(health, memory, Blame.REMOTE_TRANSIENT, number, Millis(round(now)), "timeout")
        flags.append(health.flag)
    assert len([*groupby(["ok", *flags])]) - 1 <= 2
    fallen = health.flag
    for answered in [True, *after]:  # flapping at the end
        now += every * 1000
        if answered:
            health, memory = after_success(health, memory)
        else:
            health, memory = after_failure(health, memory, Blame.REMOTE_TRANSIENT, 1, Millis(round(now)), "timeout")
        flags.append(health.flag)
    assert len([*groupby([fallen, *flags[failures:]])]) - 1 <= 1


def test_h6_the_reason_names_the_largest_penalty_with_numbers() -> None:
    quiet = silent([HOUR] * 64, 10 * HOUR)
    assert quiet.reason == "Silent for 10 h; the chance of that at its usual pace is 1 in 10,844."
    assert failing(6).reason == "5 checks in a row have failed, for 6 h: timeout"
    worn_out = after_gaps([HOUR] * 64, silent=6 * HOUR)
    assert failing(24, memory=worn_out).cause == "reach"
    assert failing(1.1, memory=after_gaps([HOUR] * 64, silent=24 * HOUR)).cause == "yield"


@pytest.mark.parametrize("blame", [Blame.LOCAL, Blame.THROTTLED])
def test_our_own_troubles_and_throttling_are_not_held_against_a_source(blame: Blame) -> None:
    health = failing(100, blame)
    assert (health.score, health.flag, health.down_since) == (1.0, "ok", None)
    assert ("does not lower the score" in health.reason) == (blame is Blame.THROTTLED)


def test_an_answer_ends_an_outage_at_once() -> None:
    health, _ = after_success(failing(30), SilenceState())
    assert (health.score, health.flag, health.down_since) == (1.0, "ok", None)


def test_a_source_that_yields_again_is_ok_at_the_second_check() -> None:
    memory = after_gaps([HOUR] * 64, silent=10 * HOUR)
    health, memory = after_success(Health(), memory)
    assert (health.score, health.flag) == (0.593, "ok")
    health, memory = after_success(health, memory)
    assert health.flag == "degraded"
    health, memory = after_success(health, pulse.after_change(memory))
    assert (health.score, health.flag) == (1.0, "degraded")
    assert after_success(health, memory)[0].flag == "ok"


@given(st.floats(0, 1), st.sampled_from(["ok", "degraded", "rotten"]))
def test_a_flag_never_says_better_than_its_score_allows(score: float, before: Flag) -> None:
    flag = flag_of(score, before)
    assert flag != "ok" or score >= 0.7
    assert flag == "rotten" or score >= 0.3


def test_a_remark_on_a_page_appears_in_the_reason_costs_no_score_and_stays_until_the_next_read() -> None:
    health, memory = after_success(Health(), SilenceState(), "One place is restless.")
    assert (health.score, health.cause, health.reason) == (
        1.0,
        "none",
        "The last check succeeded. One place is restless.",
    )
    kept, memory = after_success(health, memory, None)
    assert kept.reason == health.reason
    assert after_success(kept, memory)[0].reason == "The last check succeeded."


def test_a_page_that_is_gone_for_years_is_remembered_all_the_same() -> None:
    """The count of confirming checks fits into a byte."""
    health, memory = Health(), NEW
    for look in range(1, 400):
        health, memory = after_failure(health, memory, Blame.REMOTE_PERMANENT, look, Millis(look * 3_600_000), "gone")
        memory = pulse.decode(pulse.encode(memory))
    assert memory.confirmed == 255
    assert health.flag == "rotten"
