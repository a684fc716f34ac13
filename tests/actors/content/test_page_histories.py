"""News and noise of pages, over generated histories."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.actors.content.page_histories import KINDS, trouble_of

HELD_OUT = 1_000
"""The rules were written without a look at these seeds."""


def _play(subtests: pytest.Subtests, seeds: range) -> Counter[str]:
    right = Counter[str]()
    for kind in KINDS:
        with subtests.test(kind=kind.__name__):
            found = {seed: trouble_of(kind(random.Random(f"{kind.__name__}/{seed}"))) for seed in seeds}
            assert {seed: trouble for seed, trouble in found.items() if trouble} == {}
            right[kind.__name__] = len(found)
    return right


def test_each_kind_of_history_reports_its_changes_once_and_nothing_else(subtests: pytest.Subtests) -> None:
    assert len(_play(subtests, range(2))) == len(KINDS)


def test_many_histories_of_each_kind_report_their_changes_once_and_nothing_else(subtests: pytest.Subtests) -> None:
    assert len(_play(subtests, range(HELD_OUT, HELD_OUT + 40))) == len(KINDS)
