"""The time of the next attempt, and the schedule after it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actors.delivery.digest import window_of
from actors.delivery.schedule import ATTEMPTS, WAITS, quiet_until
from api.dashboard.language.speaking import noted, say
from api.dashboard.moments import span
from storage.records.destination import Attempt, Destination, Waiting
from storage.records.identity import Millis


class Step(NamedTuple):
    """A step of the schedule. wait: the time since the previous failure, as text. state: done, next or ahead."""

    number: int
    wait: str
    state: str


class Clock(NamedTuple):
    """A failed delivery that will be retried. end: about when it is given up."""

    attempt: int
    next_at: Millis
    steps: Sequence[Step]
    end: Millis


class Next(NamedTuple):
    """When a destination next sends, if anything waits. why: the reason for the wait."""

    at: Millis | None
    why: str


def clock_of(line: Attempt) -> Clock | None:
    """Return the schedule of a delivery from its newest attempt, or None without a further one."""
    if line.result != "retry" or line.next_at is None:
        return None
    done = line.attempt
    steps = [
        Step(number, say("at once") if number == 1 else span(WAITS[number - 2]), _state(number, done))
        for number in range(1, ATTEMPTS + 1)
    ]
    rest = sum(WAITS[done:])
    return Clock(done, line.next_at, steps, Millis(line.next_at + 1000 * rest))


def _state(number: int, done: int) -> str:
    return "done" if number <= done else "next" if number == done + 1 else "ahead"


def next_of(destination: Destination, waiting: Waiting | None, now: Millis) -> Next:
    """Return when a destination next sends, if known."""
    if not destination.enabled or destination.state == "disabled":
        return Next(None, noted("nothing is sent") if waiting is None else noted("waits until it is resumed"))
    if waiting is None:
        return Next(None, noted("nothing waits"))
    if destination.delivery_mode != "instant":
        due = waiting.next_due
        if due is None or due <= now:
            return Next(window_of(destination, max(now, waiting.oldest)).end, noted("the digest's window closes"))
        return Next(due, noted("another try"))
    quiet = quiet_until(destination.quiet_hours, now)
    if quiet is not None:
        return Next(quiet, noted("quiet hours end"))
    if waiting.next_due is None:
        return Next(None, noted("under way"))
    return Next(max(now, waiting.next_due), "due" if waiting.next_due <= now else noted("another try"))
