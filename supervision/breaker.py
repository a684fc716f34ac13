"""A circuit breaker as a pure state machine: a frozen record and a sign go in, a record and a decision come out.

Closed, it admits all calls. After `threshold` consecutive failures it opens and admits none until a wait is over, then
exactly one, the probe, with a deadline. A probe that is not back by then counts as failed, so that one that hangs
cannot leave the breaker half-open forever. Success closes it; failure opens it again for longer:
`min(ceiling, base * 2^n) * U(0.8, 1.2)`.

A *hold* is the other side's request (come back at t), not a failure: no call is admitted until then, and nothing is
counted.

Times are seconds of any one clock of the caller. `draw` is a float in [0, 1), drawn by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

_MOST_DOUBLINGS = 64


class Phase(StrEnum):
    """The phase of a breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class BreakerInput(StrEnum):
    """The inputs of a breaker, as named in its diagram."""

    ASKED = "asked"
    DUE = "asked, wait over"
    OVERDUE = "asked, probe overdue"
    SUCCESS = "success"
    FAILURE = "failure"
    LAST_FAILURE = "failure at threshold"
    HELD = "held"


TABLE: dict[tuple[Phase, BreakerInput], Phase] = {
    (Phase.CLOSED, BreakerInput.ASKED): Phase.CLOSED,
    (Phase.CLOSED, BreakerInput.SUCCESS): Phase.CLOSED,
    (Phase.CLOSED, BreakerInput.FAILURE): Phase.CLOSED,
    (Phase.CLOSED, BreakerInput.LAST_FAILURE): Phase.OPEN,
    (Phase.CLOSED, BreakerInput.HELD): Phase.CLOSED,
    (Phase.OPEN, BreakerInput.ASKED): Phase.OPEN,
    (Phase.OPEN, BreakerInput.DUE): Phase.HALF_OPEN,
    # Calls that began before it opened may still return. A success counts whenever it comes. A failure adds nothing:
    # counting it would let n calls in flight raise the wait n times.
    (Phase.OPEN, BreakerInput.SUCCESS): Phase.CLOSED,
    (Phase.OPEN, BreakerInput.FAILURE): Phase.OPEN,
    (Phase.OPEN, BreakerInput.HELD): Phase.OPEN,
    (Phase.HALF_OPEN, BreakerInput.ASKED): Phase.HALF_OPEN,
    (Phase.HALF_OPEN, BreakerInput.OVERDUE): Phase.OPEN,
    (Phase.HALF_OPEN, BreakerInput.SUCCESS): Phase.CLOSED,
    (Phase.HALF_OPEN, BreakerInput.FAILURE): Phase.OPEN,
    (Phase.HALF_OPEN, BreakerInput.HELD): Phase.OPEN,
}


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """threshold: consecutive failures that open it. base, ceiling, probe: seconds; `probe` is a probe's deadline."""

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
    """`until`: end of the wait (open), or deadline of the probe (half-open). failures: consecutive ones while closed.
    openings: consecutive ones without a success; the n of the wait is openings - 1. held: no call is admitted before.
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
    """Make the call, and report its result."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Make this one call, and give it up by `deadline`, when it counts as failed."""

    deadline: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Make no call before `until`; then ask again."""

    until: float


GO = Go()
Permit = Go | Probe | Wait


def ask(state: Breaker, rule: BreakerRule, now: float, draw: float) -> tuple[Breaker, Permit]:
    """Decide whether a call may be made now. draw: in [0, 1). Store the new state before a Probe's one call."""
    if now < state.held:
        return state, Wait(max(state.held, state.until) if state.phase is Phase.OPEN else state.held)
    match state.phase:
        case Phase.CLOSED:
            return state, GO
        case Phase.HALF_OPEN:
            if now < state.until:
                return state, Wait(state.until)
            opened = _open(state, rule, now, draw, BreakerInput.OVERDUE)
            return opened, Wait(opened.until)
        case Phase.OPEN:
            if now < state.until:
                return state, Wait(state.until)
            deadline = now + rule.probe
            return replace(state, phase=TABLE[state.phase, BreakerInput.DUE], until=deadline), Probe(deadline)


def succeeded(state: Breaker) -> Breaker:
    return Breaker(phase=TABLE[state.phase, BreakerInput.SUCCESS])


def failed(state: Breaker, rule: BreakerRule, now: float, draw: float, *, at_once: bool = False) -> Breaker:
    """Return the state after a failure. draw: in [0, 1). at_once: open after this one; it will not pass."""
    match state.phase:
        case Phase.CLOSED:
            failures = state.failures + 1
            if failures < rule.threshold and not at_once:
                return replace(state, phase=TABLE[state.phase, BreakerInput.FAILURE], failures=failures)
            return _open(state, rule, now, draw, BreakerInput.LAST_FAILURE)
        case Phase.HALF_OPEN:
            return _open(state, rule, now, draw, BreakerInput.FAILURE)
        case Phase.OPEN:
            return replace(state, phase=TABLE[state.phase, BreakerInput.FAILURE])


def hold(state: Breaker, until: float) -> Breaker:
    """Return the state after a request for quiet until a moment. It is not a failure; it ends a probe."""
    phase = TABLE[state.phase, BreakerInput.HELD]
    due = until if state.phase is Phase.HALF_OPEN else state.until
    return replace(state, phase=phase, until=due, held=max(state.held, until))


def wait_of(rule: BreakerRule, opening: int, draw: float) -> float:
    """Return the seconds that the `opening`-th consecutive opening (from 1) stays open. draw: in [0, 1).

    >>> [round(wait_of(BreakerRule(), n, 0.5)) for n in (1, 2, 3, 6, 99)]
    [60, 120, 240, 1800, 1800]
    """
    step: float = min(rule.ceiling, rule.base * 2.0 ** min(opening - 1, _MOST_DOUBLINGS))
    return step * (0.8 + 0.4 * draw)


def diagram() -> str:
    """Return the table as a Mermaid state diagram, which the documentation shows."""
    arrows = [f"    {before.name} --> {after.name}: {input}" for (before, input), after in TABLE.items()]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {Phase.CLOSED.name}", *arrows])


def _open(state: Breaker, rule: BreakerRule, now: float, draw: float, input: BreakerInput) -> Breaker:
    openings = state.openings + 1
    until = now + wait_of(rule, openings, draw)
    return Breaker(phase=TABLE[state.phase, input], openings=openings, until=until, held=state.held)
