"""Dates as documents write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies.prolog import end_of_prolog
from actors.content.messages.hints import hints_of
from actors.content.wording.moments import moment_of, spoken_moment
from storage.records.times import rfc3339


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-10T10:00:00Z", "2026-03-10T10:00:00.000Z"),
        ("2026-03-10", "2026-03-10T00:00:00.000Z"),
        ("Tue, 10 Mar 2026 10:00:00 -0500", "2026-03-10T15:00:00.000Z"),
        ("10 März 2026", "2026-03-10T00:00:00.000Z"),
        ("10 oktober 2025 08:30", "2025-10-10T08:30:00.000Z"),
    ],
)
def test_spoken_dates(text: str, moment: str) -> None:
    at = spoken_moment(text)
    assert at is not None
    assert rfc3339(at) == moment


def test_numbers_are_seconds_or_milliseconds() -> None:
    assert moment_of(1_700_000_000) == moment_of(1_700_000_000_000) == 1_700_000_000_000
    assert moment_of(True) is moment_of(float("inf")) is moment_of(-1) is moment_of(None) is None


@given(st.text())
def test_nonsense_is_no_date_and_no_error(text: str) -> None:
    spoken_moment(text)
    spoken_moment(f"99 {text} 9999 99:99 +9999")
    hints_of(text)
    assert 0 <= end_of_prolog(text) <= len(text)


def test_an_unclosed_prolog_ends_where_it_begins_and_costs_one_pass() -> None:
    assert end_of_prolog("<!--" * 100_000) == 0
    assert end_of_prolog("<!DOCTYPE a [<!ENTITY b 'c>'>]><r>") == 31
