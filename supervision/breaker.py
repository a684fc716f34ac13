"""A circuit breaker as a pure state machine: a frozen record and a sign go in, a record and a decision come out.

Closed, all calls go. After `threshold` failures in a row it opens: no call goes until a wait is over, then
exactly one, the probe, with a deadline; one that is not back by then counts as failed, for a probe that hangs
must not leave the breaker half-open for ever. Success closes; failure opens it again for longer:
`min(ceiling, base * 2^n) * U(0.8, 1.2)`.

A *hold* is the other side's wish (come back at t) and no failure: nothing goes until then, and nothing is
counted.

Moments are seconds of any one clock, the caller's. `draw` is a float in [0, 1), drawn by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

_MOST_DOUBLINGS = 64


class Phase(StrEnum):
    """Where a breaker is."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Sign(StrEnum):
    """What can happen to a breaker, as its diagram names it."""

    ASKED = "asked"
    DUE = "asked, wait over"
    OVERDUE = "asked, probe overdue"
    SUCCESS = "success"
    FAILURE = "failure"
    LAST_FAILURE = "failure at threshold"
    HELD = "held"


TABLE: dict[tuple[Phase, Sign], Phase] = {
    (Phase.CLOSED, Sign.ASKED): Phase.CLOSED,
    (Phase.CLOSED, Sign.SUCCESS): Phase.CLOSED,
    (Phase.CLOSED, Sign.FAILURE): Phase.CLOSED,
    (Phase.CLOSED, Sign.LAST_FAILURE): Phase.OPEN,
    (Phase.CLOSED, Sign.HELD): Phase.CLOSED,
    (Phase.OPEN, Sign.ASKED): Phase.OPEN,
    (Phase.OPEN, Sign.DUE): Phase.HALF_OPEN,
    # Calls that began before it opened may still come back: a success is good news whenever it comes; a failure tells
    # nothing new, and counting it would let n calls in flight raise the wait n times.
    (Phase.OPEN, Sign.SUCCESS): Phase.CLOSED,
    (Phase.OPEN, Sign.FAILURE): Phase.OPEN,
    (Phase.OPEN, Sign.HELD): Phase.OPEN,
    (Phase.HALF_OPEN, Sign.ASKED): Phase.HALF_OPEN,
    (Phase.HALF_OPEN, Sign.OVERDUE): Phase.OPEN,
    (Phase.HALF_OPEN, Sign.SUCCESS): Phase.CLOSED,
    (Phase.HALF_OPEN, Sign.FAILURE): Phase.OPEN,
    (Phase.HALF_OPEN, Sign.HELD): Phase.OPEN,
}


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """threshold: failures in a row that open it. base, ceiling, probe: seconds, the last one a probe's deadline."""

    threshold: int = 3
    base: float = 60.0
    ceiling: float = 1800.0
    probe: float = 30.0

    def __post_init__(self) -> None:
        if self.threshold < 1:
            raise ValueError(f"a breaker needs a threshold of at least 1, not {self.threshold}")
        if not 0 < self.base <= self.ceiling < math.inf or not 0 < self.probe < math.inf:
            raise ValueError(f"a breaker needs 0 < base <= ceiling < inf and a finite probe > 0, not {self}")


@dataclass(frozen=True, slots=True)
class Breaker:
    """The state. `until` is when the wait ends (open), or when the probe is overdue (half-open).

    failures: in a row, while closed. openings: in a row without a success; the n of the wait is openings - 1.
    held: nothing goes before this moment, whatever the phase.
    """

    phase: Phase = Phase.CLOSED
    failures: int = 0
    openings: int = 0
    until: float = 0.0
    held: float = -math.inf

    def __repr__(self) -> str:
        held = f", held until {self.held:g}" if self.held > -math.inf else ""
        if self.phase is Phase.CLOSED:
            return f"<Breaker closed, {self.failures} failures{held}>"
        return f"<Breaker {self.phase} until {self.until:g}, opening {self.openings}{held}>"


@dataclass(frozen=True, slots=True)
class Go:
    """Make the call, and report how it went."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Make this one call; it counts as failed at `deadline`, so give it up by then."""

    deadline: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Make no call before `until`; then ask again."""

    until: float


GO = Go()
Permit = Go | Probe | Wait


def ask(state: Breaker, rule: BreakerRule, now: float, draw: float) -> tuple[Breaker, Permit]:
    """Return whether a call may be made now. A Probe is admitted once: the new state must be kept before the call."""
    if now < state.held:
        return state, Wait(max(state.held, state.until) if state.phase is Phase.OPEN else state.held)
    match state.phase:
        case Phase.CLOSED:
            return state, GO
        case Phase.HALF_OPEN:
            if now < state.until:
                return state, Wait(state.until)
            opened = _open(state, rule, now, draw, Sign.OVERDUE)
            return opened, Wait(opened.until)
        case Phase.OPEN:
            if now < state.until:
                return state, Wait(state.until)
            deadline = now + rule.probe
            return replace(state, phase=TABLE[state.phase, Sign.DUE], until=deadline), Probe(deadline)


def succeeded(state: Breaker) -> Breaker:
    """Return the state after a success: closed, from anywhere."""
    return Breaker(phase=TABLE[state.phase, Sign.SUCCESS])


def failed(state: Breaker, rule: BreakerRule, now: float, draw: float, *, at_once: bool = False) -> Breaker:
    """Return the state after a failure. `at_once` opens without waiting for more, for what will not mend by itself."""
    match state.phase:
        case Phase.CLOSED:
            failures = state.failures + 1
            if failures < rule.threshold and not at_once:
                return replace(state, phase=TABLE[state.phase, Sign.FAILURE], failures=failures)
            return _open(state, rule, now, draw, Sign.LAST_FAILURE)
        case Phase.HALF_OPEN:
            return _open(state, rule, now, draw, Sign.FAILURE)
        case Phase.OPEN:
            return replace(state, phase=TABLE[state.phase, Sign.FAILURE])


def hold(state: Breaker, until: float) -> Breaker:
    """Return the state when the other side asks for quiet until a moment. No failure; a probe held is a probe over."""
    phase = TABLE[state.phase, Sign.HELD]
    due = until if state.phase is Phase.HALF_OPEN else state.until
    return replace(state, phase=phase, until=due, held=max(state.held, until))


def wait_of(rule: BreakerRule, opening: int, draw: float) -> float:
    """Return the seconds that the `opening`-th opening in a row (from 1) stays open.

    >>> [round(wait_of(BreakerRule(), n, 0.5)) for n in (1, 2, 3, 6, 99)]
    [60, 120, 240, 1800, 1800]
    """
    step: float = min(rule.ceiling, rule.base * 2.0 ** min(opening - 1, _MOST_DOUBLINGS))
    return step * (0.8 + 0.4 * draw)


def diagram() -> str:
    """Return the table as a Mermaid state diagram; the documentation's picture is this text."""
    arrows = [f"    {was.name} --> {becomes.name}: {sign}" for (was, sign), becomes in TABLE.items()]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {Phase.CLOSED.name}", *arrows])


def _open(state: Breaker, rule: BreakerRule, now: float, draw: float, sign: Sign) -> Breaker:
    openings = state.openings + 1
    return Breaker(
        phase=TABLE[state.phase, sign],
        openings=openings,
        until=now + wait_of(rule, openings, draw),
        held=state.held,
    )
