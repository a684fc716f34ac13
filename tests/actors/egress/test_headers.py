from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.egress.failures import Blame, failure, is_redirect
from actors.egress.headers import collect, max_age, retry_after, sendable, sent_at, user_agent

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        (" 1 ", 1.0),
        ("0", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("604800", 604800.0),
        ("604801", None),
        ("9" * 400, None),
        ("Fri, 15 Jan 2027 08:10:00 GMT", 600.0),
        ("Fri, 15 Jan 2027 07:59:59 GMT", None),
        ("Fri, 15 Jan 2127 08:00:00 GMT", None),
        ("Friday, 15-Jan-27 08:01:00 GMT", 60.0),
        ("Fri, 99 Jan 2027 08:10:00 GMT", None),
        ("\u0661\u0662", None),
    ],
)
def test_b4_retry_after_is_obeyed_unless_past_or_absurd(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize("off", [-3600.0, 0.0, 3600.0])
def test_b4_a_date_is_meant_by_the_clock_of_the_server_that_names_it(off: float) -> None:
    headers = {"date": "Fri, 15 Jan 2027 08:00:00 GMT", "retry-after": "Fri, 15 Jan 2027 08:05:00 GMT"}
    assert retry_after(headers["retry-after"], sent_at(headers, NOW + off)) == 300.0


@pytest.mark.parametrize("date", ["", "today", "Fri, 99 Jan 2027 08:10:00 GMT"])
def test_without_a_readable_date_ours_counts(date: str) -> None:
    assert sent_at({"date": date}, NOW) == NOW


@given(st.text(max_size=40))
def test_no_header_text_breaks_the_readers(text: str) -> None:
    wait = retry_after(text, NOW)
    assert wait is None or 0 < wait <= 7 * 86_400
    age = max_age({"cache-control": text, "age": text})
    assert age is None or age >= 0


@pytest.mark.parametrize(
    ("control", "age", "seconds"),
    [
        ("max-age=60", "", 60.0),
        ("Public, MAX-AGE=60", "10", 50.0),
        ('max-age="60"', "", 60.0),
        ("max-age=60", "100", 0.0),
        ("max-age=60, no-store", "", None),
        ("s-maxage=60", "", None),
        ("max-age=x", "", None),
        ("max-age=99999999999", "", 31_536_000.0),
    ],
)
def test_freshness_is_max_age_less_age(control: str, age: str, seconds: float | None) -> None:
    assert max_age({"cache-control": control, "age": age}) == seconds


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\x00b", "\x7f", "a\u0100", "x" * 1025, "", None, " "])
def test_x5_a_validator_that_would_forge_a_header_is_not_sent(value: str | None) -> None:
    assert sendable(value) is None


def test_a_validator_goes_back_byte_for_byte() -> None:
    headers = collect([(b"ETag", b'W/"\xe4\xff"'), (b"Vary", b"a"), (b"vary", b"b")])
    assert sendable(headers["etag"]) == b'W/"\xe4\xff"'
    assert headers["vary"] == "a, b"


def test_x5_the_contact_can_not_forge_a_header() -> None:
    assert user_agent("me@example.com\r\nX: 1") == "sanderling/0.1.0 (+me@example.comX: 1)"


@pytest.mark.parametrize(
    ("status", "wait", "blame"),
    [
        *((status, None, Blame.REMOTE_PERMANENT) for status in (401, 403, 404, 410, 451)),
        *((status, None, Blame.REMOTE_TRANSIENT) for status in (304, 400, 408, 418, 500, 502, 503, 504, 599)),
        *((status, None, Blame.CONTENT) for status in (201, 204, 206)),
        (429, None, Blame.THROTTLED),
        (429, 5.0, Blame.THROTTLED),
        (503, 5.0, Blame.THROTTLED),
        (500, 5.0, Blame.REMOTE_TRANSIENT),
    ],
)
def test_each_status_has_its_blame(status: int, wait: float | None, blame: Blame) -> None:
    failed = failure(status, wait)
    assert (failed.blame, failed.status, failed.retry_after) == (blame, status, wait)
    assert str(status) in failed.reason
    assert not is_redirect(status)
