"""The promises about sessions that a site renews: none is lost except on its way, and none goes anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tests.simulation.facts import Facts

_WINDOW = 1.0
"""Seconds until a new session is on the disk, and for a request under way before a crash."""


def kept(facts: Facts) -> Iterator[str]:
    """Each visit sends the newest session, unless the service died while that was on its way."""
    for url, visits in facts.visits.items():
        for before, visit in pairwise(visits):
            lost = any(abs(life.ended - before.at) < _WINDOW for life in facts.lives)
            if visit.sent != visit.known and not (lost and visit.sent == visit.known - 1):
                yield f"{url}: {visit.path} is asked at {visit.at:.0f} s by session {visit.sent}, not {visit.known}"


def home(facts: Facts) -> Iterator[str]:
    """A cookie goes only to the origin that its user has named; never for a robots.txt."""
    members = {plan.machine for plan in facts.program.origins if plan.session}
    for machine, seen in facts.seen.items():
        for each in seen:
            if each.cookie and (machine not in members or each.path == "/robots.txt"):
                yield f"{machine}: {each.path} is asked with {each.cookie!r} at {each.at:.0f} s"
                break
