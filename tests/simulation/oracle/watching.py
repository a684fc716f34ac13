"""The promises about the watching: it never pauses for hours, blames no source for our faults, never stampedes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.simulation.facts import Facts
from tests.simulation.origins.server import Seen
from tests.simulation.program import OURS, SERVICE, Fault, OriginPlan, machine_of

LONGEST_SILENCE = 65 * 60.0
"""Tens of minutes, never hours: the longest time without a check in quiet times (45 min, and jitter)."""
BACK_WITHIN = 47 * 60.0
"""Seconds after an origin's recovery: a breaker waits for 36 min at most, and a source that never noticed for 45."""
_UNREADABLE = ("wall", "error page", "empty", "garbage")
"""Answers that count as read badly, for the next twenty checks."""
_RECENT = 2 * 3600.0
_CROWD = 20
_OUTAGES = (*OURS, "dead line")


def cadence(facts: Facts) -> Iterator[str]:
    """No source goes unchecked for hours."""
    for plan in _polled(facts):
        looks = [facts.added[plan.url].at, *(seen.at for seen in _visits(facts, plan))]
        for before, after in pairwise([*looks, facts.ends]):
            if after - before > LONGEST_SILENCE and not facts.troubled(before - 3600, after, plan):
                yield f"{plan.name}: no look between {before:.0f} s and {after:.0f} s"


def recovery(facts: Facts) -> Iterator[str]:
    """A recovered origin is checked within 36 minutes, the time of one breaker."""
    for plan in _polled(facts):
        looks = [seen.at for seen in _visits(facts, plan)]
        for fault in (fault for machine in plan.machines for fault in facts.program.faults_at(machine)):
            ends = max(fault.ends, _forbidden_until(facts, fault))
            late = ends + BACK_WITHIN
            # For a source added again, only later facts are known.
            known = facts.added[plan.url].at < fault.ends
            calm = late < facts.ends and not facts.troubled(fault.ends + 0.001, late, plan)
            if known and calm and not any(fault.ends < at < late for at in looks):
                yield f"{plan.name}: not looked at within {BACK_WITHIN / 60:.0f} min of {ends:.0f} s"


def _forbidden_until(facts: Facts, fault: Fault) -> float:
    """Return until when a robots.txt read during a fault may forbid: for its lifetime."""
    read = (seen for seen in facts.seen.get(fault.where, ()) if fault.at <= seen.at < fault.ends and seen.forbids)
    return max((seen.at + seen.lasts for seen in read), default=0.0)


def quiet(facts: Facts) -> Iterator[str]:
    """All sources are healthy at the end, and one that never had a fault is never anything else."""
    for plan in facts.program.origins:
        told = facts.health.get(plan.url)
        if plan.url not in facts.added or plan.astray:
            continue
        if told is None:
            yield f"{plan.name}: no health was told"
        elif told["flag"] != "ok" and not any(
            facts.program.faults_at(machine, _UNREADABLE) for machine in plan.machines
        ):
            yield f"{plan.name}: {told['flag']}, {told['score']}: {told['reason']}"
        for at, conditions in facts.checkups:
            had = any(fault.at < at for machine in plan.machines for fault in facts.program.faults_at(machine))
            found = conditions.get(plan.url)
            if found is not None and not had and (found.score < 1.0 or found.breaker == "open"):
                yield f"{plan.name}: {found.score} and {found.breaker} at {at:.0f} s without a fault: {found.reason}"
                break


def blameless(facts: Facts) -> Iterator[str]:
    """While our own line is down no score falls and no breaker opens."""
    for fault in facts.program.faults_at(SERVICE, _OUTAGES):
        before = [found for at, found in facts.checkups if fault.at - 1 < at < fault.at]
        for at, found in facts.checkups if before else ():
            if fault.at < at < fault.ends + 61 and not _muddled(facts, fault, at):
                yield from _blamed(facts, fault, before[-1], found, at)


def spread(facts: Facts) -> Iterator[str]:
    """After an outage of ours all sources come back, but not all at once."""
    sources = len(facts.program.origins)
    if sources < _CROWD:
        return
    for begins in (fault.ends for fault in facts.program.faults_at(SERVICE, _OUTAGES)):
        if facts.reborn(begins, begins + 600):
            continue
        asked = [(at, name) for at, name in facts.asked if begins < at < begins + 600]
        crowd = max((len({name for other, name in asked if at <= other < at + 10}) for at, _ in asked), default=0)
        if crowd > sources / 4:
            yield f"{crowd} hosts of {sources} sources are asked within 10 s, after {begins:.0f} s"


def stalled(facts: Facts) -> Iterator[str]:
    """The watching reports a stall only when it has one: while its own disk is full, or its line dead."""
    for plan in facts.program.origins:
        yield from (f"{plan.name}: {told.event['content']}" for told in facts.notices(plan, "watching_stalled"))
    for at, event in facts.told:
        if event == "watching.stalled" and not facts.restless(at - 1800, at):
            yield f"the watching says at {at:.0f} s that it has stalled"


def half_open(facts: Facts) -> Iterator[str]:
    """A WebSocket that went dead silently is given up within a minute, and reopened."""
    for plan in facts.program.origins:
        for fault in facts.program.faults_at(plan.machine, ("hangs",)) if plan.tier == "push" else ():
            late = fault.at + 180
            shakes = any(fault.at < seen.at < late for seen in facts.looks(plan))
            others = [other for other in facts.program.faults_at(plan.machine) if other is not fault]
            near = any(other.at < late and other.ends > fault.at - 600 for other in others)
            near = near or facts.meddled(fault.at - 600, late, plan)
            if not shakes and not near and not facts.restless(fault.at - 600, late) and late < facts.ends:
                yield f"{plan.name}: still on a dead connection {late - fault.at:.0f} s after {fault.at:.0f} s"


def _polled(facts: Facts) -> list[OriginPlan]:
    return [plan for plan in facts.program.origins if plan.tier != "push" and plan.url in facts.added]


def _visits(facts: Facts, plan: OriginPlan) -> Sequence[Seen]:
    """Return the requests for a source, at the first address on the way to it."""
    host = plan.url.split("/")[2]
    path = plan.url.partition(host)[2]
    seen = facts.seen.get(machine_of(host), ())
    return [each for each in seen if each.path == path and each.at > facts.added[plan.url].at]


def _muddled(facts: Facts, outage: Fault, at: float) -> bool:
    """Return whether another fault of ours was near an outage."""
    others = [fault for fault in facts.program.faults_at(SERVICE) if fault is not outage]
    near = any(fault.at < at and fault.ends > outage.at - _RECENT for fault in others)
    return near or facts.reborn(outage.at - 60, at)


def _blamed(facts: Facts, outage: Fault, before: object, after: object, at: float) -> Iterator[str]:
    assert isinstance(before, dict) and isinstance(after, dict)
    for plan in facts.program.origins:
        was, now = before.get(plan.url), after.get(plan.url)
        faults = [fault for machine in plan.machines for fault in facts.program.faults_at(machine)]
        own = any(fault.at < at and fault.ends > outage.at - _RECENT for fault in faults)
        if was is None or now is None or own:
            continue
        if now.score < was.score or (now.breaker == "open" and was.breaker != "open"):
            yield f"{plan.name}: {now.score}, {now.breaker} at {at:.0f} s, in an outage of ours: {now.reason}"
