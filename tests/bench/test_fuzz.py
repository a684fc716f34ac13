"""The product reads or properly refuses hostile input: a fixed set of drawn cases for each target.

`make fuzz SECONDS=3600` draws others for an hour; a finding becomes a test in its room.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from bench.fuzz import __main__ as driver
from bench.fuzz import targets
from bench.fuzz.chance import LONGEST, Chance
from bench.fuzz.targets import TARGETS, Target, TooLong, drawn, run
from tests.rules.source_files import ROOT

SEED = 1


@pytest.mark.parametrize("name", TARGETS)
def test_the_fuzzed_promises_hold_for_any_input(name: str) -> None:
    for number in range(TARGETS[name].cases):
        try:
            run(name, SEED, number)
        except Exception as finding:
            raise AssertionError(f"python -m bench.fuzz --only {name} --seed {SEED} --case {number}") from finding


@pytest.mark.parametrize("name", TARGETS)
def test_each_target_states_its_property_and_repeats_its_cases(name: str) -> None:
    says = TARGETS[name].holds.__doc__
    assert says and says.endswith(".")
    assert repr(drawn(name, 7, 3)) == repr(drawn(name, 7, 3))


def test_mutated_bytes_have_a_bound_and_mostly_differ() -> None:
    chance = Chance(1)
    bent = [chance.bent(b"<rss><channel/></rss>") for _ in range(300)]
    assert max(map(len, bent)) <= LONGEST
    assert sum(each == b"<rss><channel/></rss>" for each in bent) < 60


def test_pieces_together_are_the_whole() -> None:
    chance = Chance(1)
    assert all(b"".join(chance.cut(b"0123456789")) == b"0123456789" for _ in range(100))


def test_a_finding_is_reported_once_with_the_command_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def holds(case: object) -> None:
        """It holds."""
        raise KeyError("found")

    monkeypatch.setattr(driver, "FOUND", tmp_path)
    monkeypatch.setattr(driver, "TURN", 0.0001)
    monkeypatch.setattr(targets, "TARGETS", {"url": Target(TARGETS["url"].draw, holds, 1)})
    monkeypatch.setattr(driver, "TARGETS", targets.TARGETS)
    assert driver.fuzz(["url"], 5, 0.01) == 1
    out = capsys.readouterr().out
    assert out.count("--only url --seed 5 --case 0") == 1
    assert "KeyError" in (tmp_path / "url-5-0.txt").read_text()


def test_a_case_that_takes_long_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "MOST_SECONDS", -1.0)
    with pytest.raises(TooLong):
        run("delta", 1, 1)


@pytest.mark.real
def test_the_driver_runs_for_the_given_time() -> None:
    words = [sys.executable, "-m", "bench.fuzz", "--seconds", "0.1", "--seed", "1", "--only", "cursor"]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.startswith("seed 1, 1 targets")
    assert "cursor" in ran.stdout
