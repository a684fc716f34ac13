"""The promises about heartbeats: each once, in a chain, when it was due, or at once when the service is back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.simulation.facts import Facts, LifeSpan, Logged

SOON = 30.0
"""Seconds until a started service is ready and its disk takes a write, without other faults."""
EARLY = 1.0


def chain(facts: Facts) -> Iterator[str]:
    """Each heartbeat names the one before it and counts on: no node repeats one, and none is lost."""
    for before, after in pairwise(_beats(facts)):
        one, other = before.event["heartbeat"], after.event["heartbeat"]
        if other["number"] != one["number"] + 1 or other["before"] != before.event["id"]:
            yield f"heartbeat {other['number']} follows {one['number']}, and names {other['before']} as the one before"


def late(facts: Facts) -> Iterator[str]:
    """While the service runs, and after a kill, a heartbeat is never late by more than one interval."""
    every = facts.program.heartbeat
    if not every or not _is_plain(facts):
        return
    beats = [beat.at - facts.program.season for beat in _beats(facts)]
    for number, life in enumerate(facts.lives):
        due = max(life.began, max((at + every for at in beats if at < life.began), default=0.0))
        for at in [at for at in beats if life.began <= at <= life.ended] + [life.ended]:
            if at > due + every + (SOON if at == life.ended else 0.0):
                yield f"life {number}: a heartbeat was due at {due:.0f} s, and none came until {at:.0f} s"
                break
            due = at + every


def early(facts: Facts) -> Iterator[str]:
    """None comes before it is due, even after a kill."""
    if not _is_plain(facts):
        return
    for before, after in pairwise(_beats(facts)):
        if after.at - before.at < facts.program.heartbeat - EARLY:
            yield f"a heartbeat comes at {after.at:.0f} s, and the one before was at {before.at:.0f} s"


def kills(facts: Facts) -> Sequence[LifeSpan]:
    """Return the lives that ended in a kill, in a world with known heartbeat times."""
    return [life for life in facts.lives if not life.politely] if facts.program.heartbeat and _is_plain(facts) else ()


def _is_plain(facts: Facts) -> bool:
    """Return whether a single service runs by a clock that is never set."""
    return facts.program.nodes == 1 and len(facts.clock) == 1


def _beats(facts: Facts) -> Sequence[Logged]:
    return [logged for logged in facts.log if "heartbeat" in logged.event]
