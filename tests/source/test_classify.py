"""What is told to who wants a URL watched that can't be looked at."""

from __future__ import annotations

import pytest

from actors.egress.failures import Blame, LookFailed
from actors.errors import Overloaded
from actors.source.classify import refused


@pytest.mark.parametrize(
    ("status", "wish", "says", "after"),
    [
        (403, 5.2, "it can't be watched now: answered so; try again in 5 s", 5),
        (503, None, "it can't be watched now: answered so; try again in 60 s", 60),
    ],
)
def test_who_is_put_off_by_a_site_is_told_that_it_was_the_site_and_for_how_long(
    status: int, wish: float | None, says: str, after: int
) -> None:
    error = refused(LookFailed(Blame.THROTTLED, "answered so", status=status, retry_after=wish), "http://a.test/")
    assert isinstance(error, Overloaded)
    assert (str(error), error.retry_after) == (says, after)
