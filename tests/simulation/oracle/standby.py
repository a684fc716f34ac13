"""The promises of a standby while it follows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tests.simulation.facts import Facts
from tests.simulation.standby import AWAY, PLACE, SLOW

FRESH = 90.0
"""Seconds that a copy is behind at most, where the place and the service were healthy for QUIET."""
QUIET = 300.0


def committed(facts: Facts) -> Iterator[str]:
    """The copy opens to a state of the service's database, whenever the standby or the service ended."""
    for step in facts.followed:
        if step.foreign:
            yield f"at {step.at:.0f} s the copy is as the database never was"
            return


def honest(facts: Facts) -> Iterator[str]:
    """The copy has every event committed by the time that the standby names."""
    times = [at for at, _ in facts.commits]
    for step in facts.followed:
        if step.upto is None:
            continue
        place = bisect_right(times, step.upto - 0.001)
        newest = facts.commits[place - 1][1] if place else 0
        if step.newest < newest:
            yield f"at {step.at:.0f} s the standby names {step.upto:.0f} s, and lacks events up to {newest}"
            return


def fresh(facts: Facts) -> Iterator[str]:
    """Without faults, the copy is less than FRESH behind, and the standby reports no trouble."""
    hindered = facts.program.faults_at(PLACE, (AWAY, SLOW))
    for step in facts.followed:
        begins = step.at - QUIET
        if begins < 0 or any(fault.at < step.at and fault.ends > begins for fault in hindered):
            continue
        if not any(life.began < begins and step.at < life.ended for life in facts.lives):
            continue
        if step.says or step.upto is None or step.at - step.upto > FRESH:
            yield f"at {step.at:.0f} s the copy is of {step.upto} s; the standby says: {step.says or 'nothing'}"
            return
