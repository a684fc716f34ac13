from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies.encoding import end_of_prolog
from actors.content.messages import hints_of
from actors.content.wording.dates import moment, moment_of
from storage.records.identity import rfc3339
from tests.actors.content.wording.date_spellings import spellings

AS_REPORTED = {
    "2026/11/27 10:00:00": "2026-11-27T10:00:00.000Z",
    "2024年10月17日": "2024-10-17T00:00:00.000Z",
    "2026-11-27 22:15:00 UTC": "2026-11-27T22:15:00.000Z",
    "20261127100000": "2026-11-27T10:00:00.000Z",
    "Sat, Oct 28 2023 08:28:28 PM": "2023-10-28T20:28:28.000Z",
    "Fri, 27 Nov 2026 10:00:00 CET": "2026-11-27T09:00:00.000Z",
    "Fri, 27 Nov 2026 10:00:00 IST": "2026-11-27T04:30:00.000Z",
    "Fri, 27 Nov 2026 10:00:00 +2": "2026-11-27T08:00:00.000Z",
    "Fri Nov 27 10:00:00 EST 2026": "2026-11-27T15:00:00.000Z",
    "Sep 23, 2024": "2024-09-23T00:00:00.000Z",
    "28.11.2026 14:30": "2026-11-28T14:30:00.000Z",
    "27.11.2026 klo 10.30": "2026-11-27T10:30:00.000Z",
    "11/27/2026 3:04 PM": "2026-11-27T15:04:00.000Z",
    "Friday, November 27, 2026 - 10:00": "2026-11-27T10:00:00.000Z",
    "mar 10 mar 2026": "2026-03-10T00:00:00.000Z",
    "thứ sáu, 27 tháng 11, 2026": "2026-11-27T00:00:00.000Z",
    "2026-11-27+01:00": "2026-11-26T23:00:00.000Z",
    "1795773600": "2026-11-27T10:00:00.000Z",
    "Fri, 27 Nov 2026 24:00:00 GMT": "2026-11-28T00:00:00.000Z",
    "10 März 2026": "2026-03-10T00:00:00.000Z",
    "2026-02-30": None,
    "03/04/2026": None,
    "08:28:28 PM": None,
    "1970-01-01": None,
    "0000-11-27": None,
    "Fri, 27 Nov 2026 10:00:00 PT": None,
    "Fri, 27 Nov 2026 13:00:00 AM": None,
    "2026-11-27 10:00 and 11:00": None,
    "27 listopad 2026": None,
}


def test_dates_as_documents_write_them(subtests: pytest.Subtests) -> None:
    for text, truth in AS_REPORTED.items():
        with subtests.test(text):
            at = moment(text)
            assert (at and rfc3339(at)) == truth


@pytest.mark.parametrize("seed", [2, 8002])
def test_generated_spellings_are_read_right_or_not_at_all(seed: int) -> None:
    """Seeds from 8000 are held out: never tune the reader on them."""
    found = [(each.text, each.at, moment(each.text)) for each in spellings(seed, 2000)]
    assert [row for row in found if row[2] not in (row[1], None)] == []
    dated = [row for row in found if row[1] is not None]
    assert sum(row[2] is not None for row in dated) >= 0.95 * len(dated)


def test_numbers_are_seconds_or_milliseconds() -> None:
    assert moment_of(1_700_000_000) == moment_of(1_700_000_000_000) == 1_700_000_000_000
    assert moment_of(True) is moment_of(float("inf")) is moment_of(-1) is moment_of(None) is None


@given(st.text())
def test_nonsense_is_no_date_and_no_error(text: str) -> None:
    moment(text)
    moment(f"99 {text} 9999 99:99 +9999")
    hints_of(text)
    assert 0 <= end_of_prolog(text) <= len(text)


def test_an_unclosed_prolog_is_skipped_in_one_pass() -> None:
    assert end_of_prolog("<!--" * 100_000) == 0
    assert end_of_prolog("<!DOCTYPE a [<!ENTITY b 'c>'>]><r>") == 31
