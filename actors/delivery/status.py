"""The status of a destination: when it counts as failing, and when it is disabled. Pure.

    state \\ sign   success    failure                   gone (410)
    active         active     failing at the 5th         disabled
    failing        active     disabled after 120 h       disabled
    disabled       disabled   disabled                   disabled

Only an unbroken row of failures counts: one success in 120 hours keeps a destination alive. A failure of this machine
(no network) is no sign of the receiver's state, and neither is time that did not pass: where the clock is set forward,
or the machine slept, the row begins so much later. A disabled destination is resumed by hand only.

People hear of a row of failures twice at most before the end: when the destination has been failing for as long as its
alert says (`notice_after`), and half-way to being disabled. That is a matter of time, not of attempts, which may be a
day apart by then.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.destination_kinds.answer import Answer
from storage.records.destination import Destination, Notice
from storage.records.identity import Millis, Seq

FAILURES = 5
"""Failures in a row that make a destination failing; from then on it is tried by one request at a time."""
PATIENCE = 120 * 3_600_000
"""Milliseconds of nothing but failures after which a destination is disabled; half of it, and people are told."""

State = Literal["active", "failing", "disabled"]


class Standing(Struct, frozen=True):
    """A destination's state. since, failures, told: beginning and length of the present row of failures, and how often
    people heard of it.
    """

    state: State = "active"
    since: Millis | None = None
    failures: int = 0
    told: int = 0


def standing_of(destination: Destination) -> Standing:
    """Return the standing that is stored: a failing destination goes on failing."""
    if destination.state != "failing" or destination.failing_since is None:
        return Standing(destination.state)
    return Standing("failing", destination.failing_since, FAILURES, destination.told)


def after(standing: Standing, answer: Answer, at: Millis) -> tuple[Standing, Notice | None]:
    """Return the standing after an answer, and what that alone tells: that the destination is disabled."""
    if standing.state == "disabled" or answer.ours:
        return standing, None
    if answer.delivered:
        return Standing(), None
    since = at if standing.since is None else min(at, standing.since)
    failures = standing.failures + 1
    if answer.gone or at - since >= PATIENCE:
        return Standing("disabled", since, failures, standing.told), "destination_disabled"
    state: State = "failing" if failures >= FAILURES else standing.state
    return Standing(state, since, failures, standing.told), None


def next_news(standing: Standing, notice_after: int) -> Millis | None:
    """Return when people are to hear next of a row of failures that goes on; None when they have heard enough.

    notice_after: seconds, as the destination's alert says.
    """
    if standing.state != "failing" or standing.since is None:
        return None
    times = sorted({min(1000 * notice_after, PATIENCE // 2), PATIENCE // 2})
    return Millis(standing.since + times[standing.told]) if standing.told < len(times) else None


def reminded(standing: Standing, at: Millis, notice_after: int) -> tuple[Standing, Notice | None]:
    """Return the standing at a moment without an answer, and what there is to tell. What is overdue is told once."""
    told = standing = _begun(standing, at)
    while (due := next_news(told, notice_after)) is not None and due <= at:
        told = replace(told, told=told.told + 1)
    return told, None if told == standing else "destination_failing"


def _begun(standing: Standing, at: Millis) -> Standing:
    """Return a standing whose row of failures has begun: a clock that was ahead may have named a later moment."""
    return standing if (standing.since or 0) <= at else replace(standing, since=at)


def moved_on(standing: Standing, seconds: float) -> Standing:
    """Return a standing after a step of the clock; a step back is seen by what lies in the future then."""
    if standing.since is None or seconds <= 0:
        return standing
    return replace(standing, since=standing.since + round(1000 * seconds))


def is_kept(destination: Destination, standing: Standing) -> bool:
    """Return whether a record has all of a standing that is stored."""
    since = standing.since if standing.state == "failing" else destination.failing_since
    return (destination.state, destination.told, destination.failing_since) == (standing.state, standing.told, since)


def with_standing(destination: Destination, standing: Standing, news: Notice | None, matched: Seq) -> Destination:
    """Return the record with its state and what it owes; the beginning of a row of failures once it counts as failing.

    matched: how far matching has come; a disabled destination misses what comes after. Newer news
    takes the place of older; once all is well again nothing is owed.
    """
    if is_kept(destination, standing):
        return destination  # an earlier write, of which no more was heard, has happened
    if standing.state == "active":
        return replace(destination, state="active", failing_since=None, told=0, owes=None)
    owes = destination.owes if news is None else news
    if standing.state == "disabled":
        destination = destination.missing(matched)
    return replace(destination, state=standing.state, failing_since=standing.since, told=standing.told, owes=owes)
