"""D6: when a destination is disabled, and the single notice of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tests.simulation.delivery_records import Glance, KeptDestination
from tests.simulation.facts import Facts
from tests.simulation.oracle.letters.attempts import ATTEMPT
from tests.simulation.oracle.letters.clock import disturbed, edited
from tests.simulation.program import SERVICE

PATIENCE = 120 * 3600.0
STEPS = 12 * 3600.0
"""More than all clock steps of a world together."""


def disabled(facts: Facts) -> Iterator[str]:
    """A destination is disabled for a 410, or for 120 hours without a success: sporadic failure never does it."""
    for kept, before, after in _falls(facts):
        assert facts.letters is not None
        received = facts.letters.received(kept)
        gone = any(before.at - 60 < receipt.at <= after.at + 60 and receipt.gone for receipt in received)
        lived = any(after.at - PATIENCE + STEPS < each.at < before.at and each.taken for each in received)
        young = after.at < PATIENCE - STEPS
        if not gone and (lived or young):
            yield f"{kept.label} was disabled before {after.at:.0f}, without a 410, a revocation or 120 hours"


def gone(facts: Facts) -> Iterator[str]:
    """D5: after a 410 nothing more is sent until a user enables the destination again."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        received = facts.letters.received(kept)
        for receipt in received:
            # A test gets a 410 as well, and the service may never see an answer lost on the way.
            unsure = disturbed(facts, receipt.at - 5, receipt.at + 60) or receipt.test
            unsure |= receipt.unread and any(span.begins - 60 < receipt.at < span.ends + 60 for span in kept.tests)
            if not receipt.gone or unsure:
                continue
            again = [each for each in received if each.at > receipt.at + ATTEMPT and not each.test]
            if again and not edited(kept, receipt.at - 60, again[0].at):
                late = again[0].at - receipt.at
                yield f"{kept.label} was sent {again[0].id} {late:.0f} s after it had said that it is gone"


def told(facts: Facts) -> Iterator[str]:
    """Each disabling has one notice; a run of failures has at most two."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        if kept.id and kept.gone == float("inf"):
            count, due = _count(facts, kept, "destination_disabled"), facts.letters.ledger.due(kept.id)
            if count != due:
                yield f"that {kept.label} was disabled was told {count} times, {due} are due"
        if (count := _count(facts, kept, "destination_failing")) > (most := 2 * _rows(facts, kept)):
            yield f"that {kept.label} fails was told {count} times, {most} at most are due"


def own(facts: Facts) -> Iterator[str]:
    """A destination never gets the notices about itself."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        mark = f'"destination:{kept.id}"'.encode()
        for receipt in facts.letters.received(kept):
            if mark in receipt.body:
                yield f"{kept.label} was sent the notice {receipt.id} about itself"


def _count(facts: Facts, kept: KeptDestination, kind: str) -> int:
    tag = f"destination:{kept.id}"
    return sum(logged.event.get("alert_type") == kind and tag in logged.event["tags"] for logged in facts.log)


def _rows(facts: Facts, kept: KeptDestination) -> int:
    """Return the largest number of failure runs: a success or a user ends each."""
    assert facts.letters is not None
    received = facts.letters.received(kept)
    ends = sum(later.taken and not earlier.taken for earlier, later in pairwise(received))
    # Failures that no receiver saw (its host was down) are in the program.
    unseen = len(facts.program.faults_at(kept.plan.host)) + len(facts.program.faults_at(SERVICE))
    return 1 + ends + unseen + len(kept.history.versions) + len(kept.revived)


def _falls(facts: Facts) -> Iterator[tuple[KeptDestination, Glance, Glance]]:
    """Yield each time a destination was first seen disabled by the service, with the glance before."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        for before, after in pairwise(kept.glances):
            if _fallen(after) and not _fallen(before):
                yield kept, before, after


def _fallen(glance: Glance) -> bool:
    return glance.enabled and glance.state == "disabled"
