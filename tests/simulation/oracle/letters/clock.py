"""The service's wall clock, with all its settings."""

from __future__ import annotations

from tests.simulation.delivery_records import History, KeptDestination, Span
from tests.simulation.facts import Facts
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import SERVICE

MATCHED_WITHIN = 120.0
"""Virtual seconds within which a committed event is matched, without faults."""


def shown(facts: Facts, at: float) -> float:
    """Return the service's clock at a moment, in Unix seconds."""
    return EPOCH + facts.program.season + at + sum(step.by for step in facts.program.steps if step.at <= at)


def stepped(facts: Facts, begins: float, ends: float) -> bool:
    """Return whether the clock was set in that time."""
    return any(begins <= step.at <= ends for step in facts.program.steps)


def disturbed(facts: Facts, begins: float, ends: float) -> bool:
    """Return whether the service ended, one of its actors crashed, or its disk was full in that time."""
    return facts.restless(begins, ends)


def settled(facts: Facts, at: float) -> float:
    """Return until when events since `at` may still be unmatched: ends of lives and full disks delay matching."""
    until = at + MATCHED_WITHIN
    full = [(fault.at, fault.ends) for fault in facts.program.faults_at(SERVICE, ("disk full",))]
    begun = [life.began for life in facts.lives]
    for _ in range(len(facts.lives) + len(full) + 1):
        later = until
        for life in facts.lives:
            if at <= life.ended <= later:
                later = max(later, min((b for b in begun if b > life.ended), default=facts.ends) + MATCHED_WITHIN)
        for begins, ends in full:
            if begins <= later and ends >= at:
                later = max(later, ends + MATCHED_WITHIN)
        if any(at <= crash <= later for crash in facts.actor_crashes):
            later = max(later, max(c for c in facts.actor_crashes if at <= c <= later) + MATCHED_WITHIN)
        if later == until:
            return until
        until = later
    return until


def edited(kept: KeptDestination, begins: float, ends: float) -> bool:
    """Return whether a user changed a destination in that time, which may affect its deliveries."""
    histories: tuple[History[object], ...] = (kept.history, kept.alert.history)  # type: ignore[assignment]  # only read
    asked = [Span(v.asked, v.answered) for history in histories for v in history.versions]
    return any(span.begins <= ends and span.ends >= begins for span in (*asked, *kept.revived, *kept.replays))
