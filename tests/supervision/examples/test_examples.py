from __future__ import annotations

import subprocess
import sys

import pytest

from tests.rules.source_files import ROOT
from tests.support.waiting import HANG


def output(*command: str, code: int = 0) -> list[str]:
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout.splitlines()


@pytest.mark.real
def test_the_counter_survives_a_bad_message_and_answers() -> None:
    lines = output("-m", "supervision.examples.counter")
    assert "the sum is 7" in lines
    assert "example/counter: running -> backoff (ValueError: thirteen is too much)" in lines


@pytest.mark.real
def test_the_crowd_quarantines_one_and_stops() -> None:
    assert output("-m", "supervision.examples.crowd") == [
        "<Snapshot of 10000 children: 9999 running, 1 quarantined>",
        "crowd/04321 quarantined RuntimeError: this will never work",
        "0 left",
    ]


@pytest.mark.real
def test_the_order_is_that_of_the_start_and_back() -> None:
    up = ["up   database", "up   cache", "up   server"]
    assert output("-m", "supervision.examples.order") == [*up, "down server", "down cache", "down database"]


@pytest.mark.real
def test_s5_escalation_at_the_root_ends_the_process_with_code_70() -> None:
    lines = output("-m", "supervision.examples.order", "broken", code=70)
    assert lines[-2:] == [
        "down database",
        "given up: root/cache: needs more than 2 restarts in 30 s; last: ConnectionError: cache lost its disk",
    ]
