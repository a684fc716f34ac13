"""The next step of a destination, and the result of a failed delivery."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.delivery.schedule import ATTEMPTS, WAITS
from api.dashboard.notifying.deliveries import Next, clock_of, next_of
from storage.records.destination import Destination, QuietHours, Secret, Waiting
from storage.records.identity import Millis
from tests.api.dashboard.rows import an_attempt
from tests.support.build import NOW

HOUR = 3_600_000
AT = Millis(NOW - NOW % HOUR)  # on the hour: 20:00 UTC
HOOK = Destination("d", "a", "webhook", "https://x.test/", "instant", "x", (Secret("whsec_eA=="),), AT, AT)
DUE = Waiting(3, Millis(AT - HOUR), Millis(AT - 5))
LATER = Waiting(3, Millis(AT - HOUR), Millis(AT + 300_000))
WINDOW = "the digest's window closes"
NIGHT = QuietHours("19:00", "22:30", "UTC")


@pytest.mark.parametrize(
    ("hook", "waiting", "expected"),
    [
        (HOOK, None, Next(None, "nothing waits")),
        (HOOK, DUE, Next(AT, "due")),
        (HOOK, LATER, Next(Millis(AT + 300_000), "a retry")),
        (HOOK, Waiting(1, AT, None), Next(None, "under way")),
        (replace(HOOK, quiet_hours=NIGHT), DUE, Next(Millis(AT + 5 * HOUR // 2), "quiet hours end")),
        (replace(HOOK, delivery_mode="hourly"), DUE, Next(Millis(AT + HOUR), WINDOW)),
        (replace(HOOK, delivery_mode="hourly"), LATER, Next(Millis(AT + 300_000), "a retry")),
        (
            replace(HOOK, delivery_mode="daily", digest_hour=6),
            DUE,
            Next(Millis(AT + 10 * HOUR), WINDOW),
        ),
        (replace(HOOK, state="disabled"), DUE, Next(None, "waits until it is resumed")),
        (replace(HOOK, enabled=False), None, Next(None, "nothing is sent")),
    ],
)
def test_the_next_step_has_a_time_and_a_reason(hook: Destination, waiting: Waiting | None, expected: Next) -> None:
    assert next_of(hook, waiting, AT) == expected


@pytest.mark.parametrize("failed", range(1, ATTEMPTS))
def test_the_steps_that_are_left_end_when_it_is_given_up(failed: int) -> None:
    clock = clock_of(an_attempt("e", "retry", attempt=failed, next_at=AT))
    assert clock is not None
    states = [step.state for step in clock.steps]
    assert states == ["done"] * failed + ["next"] + ["ahead"] * (ATTEMPTS - failed - 1)
    assert clock.end - AT == 1000 * sum(WAITS[failed:])


def test_a_finished_delivery_has_no_clock() -> None:
    assert clock_of(an_attempt("e", "sent")) is None
    assert clock_of(an_attempt("e", "given_up")) is None
