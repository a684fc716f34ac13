"""Failures with the same cause form one group, whatever their details."""

from __future__ import annotations

import pytest

from api.dashboard.notifying.deliveries import cause_of, causes
from tests.api.dashboard.rows import an_attempt


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("timeout after 15.0 s", "timeout after 14.9 s"),
        ("connection refused by 192.0.2.1:443", "connection refused by 198.51.100.27:8443"),
        ("no route to [2001:db8::1]", "no route to [2001:db8:0:1::2]"),
    ],
)
def test_numbers_and_addresses_are_no_cause(one: str, other: str) -> None:
    lines = [an_attempt(error, "retry", status=None, error=error) for error in (one, other)]
    (group,) = causes(lines)
    assert (group.attempts, group.deliveries) == (2, 2)


def test_a_status_is_a_cause_with_any_body() -> None:
    busy = an_attempt("a", "retry", status=503, error="HTTP 503 busy")
    asleep = an_attempt("b", "given_up", status=503, error="HTTP 503 asleep")
    (group,) = causes([asleep, busy])
    assert (group.name, group.given_up, group.example) == ("HTTP 503", 1, asleep)


def test_the_heaviest_cause_comes_first_and_an_accepted_delivery_has_none() -> None:
    lines = [an_attempt("a"), an_attempt("b", "retry", status=500), *[an_attempt("c", "retry")] * 2]
    assert [(cause.name, cause.attempts, cause.deliveries) for cause in causes(lines)] == [
        ("HTTP 503", 2, 1),
        ("HTTP 500", 1, 1),
    ]
    assert cause_of(an_attempt()) == ""
