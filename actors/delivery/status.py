"""When a destination counts as failing, and when it is disabled. Pure.

    state \\ sign   success    failure, told below       gone (410)
    active         active     failing at the 5th         disabled
    failing        active     failing; half-way told;    disabled
                              disabled after 120 h
    disabled       disabled   disabled                   disabled

Only an unbroken row of failures counts: one success in 120 hours keeps a destination alive. A failure of this machine
(no network) is no sign of the receiver's state. A disabled destination is enabled by hand only.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.delivery.schedule import GONE, Answer
from storage.records.destination import Destination
from storage.records.identity import Millis

FAILURES = 5
"""Failures in a row that make a destination failing; from then on it is tried by one request at a time."""
PATIENCE = 120 * 3_600_000
"""Milliseconds of nothing but failures after which a destination is disabled; half of it, and people are told."""

State = Literal["active", "failing", "disabled"]


class News(Enum):
    """What people should hear of."""

    FAILING = "destination_failing"
    DISABLED = "destination_disabled"


class Standing(Struct, frozen=True):
    """A destination's state. `since`: the beginning of the present row of failures; `failures`: its length."""

    state: State = "active"
    since: Millis | None = None
    failures: int = 0
    told: bool = False


def standing_of(destination: Destination, now: Millis) -> Standing:
    """Return the standing that is stored: a failing destination goes on failing, and is told of once."""
    if destination.state != "failing" or destination.failing_since is None:
        return Standing(destination.state)
    return Standing("failing", destination.failing_since, FAILURES, now - destination.failing_since >= PATIENCE // 2)


def after(standing: Standing, answer: Answer, at: Millis) -> tuple[Standing, News | None]:
    """Return the standing after an answer, and what to tell, if anything."""
    if standing.state == "disabled" or answer.ours:
        return standing, None
    if answer.delivered:
        return Standing(), None
    since = at if standing.since is None else standing.since
    if answer.status == GONE or at - since >= PATIENCE:
        return Standing("disabled", since, standing.failures + 1, True), News.DISABLED
    failures = standing.failures + 1
    state: State = "failing" if failures >= FAILURES else standing.state
    half = at - since >= PATIENCE // 2
    news = News.FAILING if half and not standing.told else None
    return Standing(state, since, failures, standing.told or half), news


def with_standing(destination: Destination, standing: Standing) -> Destination:
    """Return the record with its state; the beginning of the row of failures is kept once it counts as failing."""
    since = standing.since if standing.state != "active" else None
    return replace(destination, state=standing.state, failing_since=since)
