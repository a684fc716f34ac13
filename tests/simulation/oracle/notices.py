"""The promises about notices of sources: each alert at its own time, once per trouble, and its end."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tests.simulation.facts import Facts, Logged
from tests.simulation.program import SERVICE, OriginPlan

_LATE = 90.0
"""Seconds that a notice may be late: a check may be under way just then."""


def once(facts: Facts) -> Iterator[str]:
    """Each alert gets one notice of each trouble, none is left out, and only these get the notice of its end."""
    for plan in facts.program.origins:
        known: float = -1
        quiet = False
        for logged in facts.all_of(plan):
            kind = logged.event.get("alert_type")
            if kind == "source_quiet":
                quiet = True
            elif kind == "source_failing":
                first, last = _meant(logged)
                if first != known + 1 or last <= known:
                    yield f"{plan.name}: told for {first:g} to {last:g} s at {logged.at:.0f} s, after {known:g} s"
                known = last
            elif kind == "source_recovered":
                _, last = _meant(logged)
                if last != (math.inf if quiet else known):
                    yield f"{plan.name}: its end is told up to {last:g} s at {logged.at:.0f} s, itself to {known:g} s"
                known, quiet = -1, False


def in_time(facts: Facts) -> Iterator[str]:
    """An alert for a failing source gets its notice after its own patience, and not before."""
    for plan in facts.program.origins:
        if plan.tier == "push" or plan.url not in facts.added:
            continue
        for begins, seen, ends in _troubles(facts, plan):
            for alert in facts.alerts:
                after = alert.plan.notice_after
                due = _running(facts, seen + after)
                if alert.at < begins + after and due + _LATE < ends:
                    yield from _told(facts, plan, after, begins + after, due)


def _told(facts: Facts, plan: OriginPlan, after: int, soonest: float, due: float) -> Iterator[str]:
    """Yield a sentence if no notice for alerts with this patience comes in this time."""
    near = [told for told in facts.notices(plan, "source_failing") if soonest <= told.at <= due + _LATE]
    if not any(first <= after <= last for first, last in map(_meant, near)):
        yield f"{plan.name}: that it fails is not told after {after} s, at {due:.0f} s"


def _troubles(facts: Facts, plan: OriginPlan) -> Iterator[tuple[float, float, float]]:
    """Yield when a source began to fail, when a check surely saw it, and its end, without other faults."""
    faults = [fault for machine in plan.machines for fault in facts.program.faults_at(machine)]
    for fault in faults:
        others = [each for each in faults if each is not fault and each.ends > fault.at - 7200 and each.at < fault.ends]
        steps = any(fault.at - 7200 < step.at < fault.ends for step in facts.program.steps)
        steps = steps or facts.meddled(fault.at - 7200, fault.ends, plan)
        if fault.kind != "http500" or others or steps or _ours(facts, fault.at - 7200, fault.ends):
            continue
        looks = [seen.at for seen in facts.looks(plan) if fault.at + 1 < seen.at < fault.ends and seen.status == 500]
        if looks:
            yield fault.at, looks[0], fault.ends


def _running(facts: Facts, due: float) -> float:
    """Return when the service can first send a notice due at a time: then, or when its next life has begun."""
    return max(due, min((life.began for life in facts.lives if life.ended > due + 1), default=due))


def _ours(facts: Facts, begins: float, ends: float) -> bool:
    """Return whether the service had its own fault; a restart is none."""
    return any(fault.at < ends and fault.ends > begins for fault in facts.program.faults_at(SERVICE))


def _meant(logged: Logged) -> tuple[float, float]:
    """Return the patience of the alerts that a notice is for."""
    (range_,) = [tag.partition(":")[2] for tag in logged.event["tags"] if tag.startswith("notice_after:")]
    first, _, last = range_.partition("-")
    return float(first), float(last or math.inf)
