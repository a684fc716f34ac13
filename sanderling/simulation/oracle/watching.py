"""What the watching promises: real changes, politeness, cadence, health."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from sanderling.simulation.facts import Facts

HOST_BURST = 12
"""Most requests to one host within ten seconds: one a second, and what a crash may make it forget."""
LONGEST_SILENCE = 65 * 60.0
"""Tens of minutes, never hours: the longest time without a look at a source in quiet times (45 min, and jitter)."""


def pages(facts: Facts) -> Iterator[str]:
    """A page's event has a delta, and there are no more of them than changes."""
    for plan in facts.program.origins:
        if plan.tier != "html" or plan.host not in facts.added:
            continue
        events = facts.of(plan)
        asked = facts.added[plan.host].asked_at
        changes = sum(text.at > asked for text in plan.texts)
        if len(events) > changes:
            yield f"{plan.host}: {len(events)} events for {changes} changes"
        for logged in events:
            if not logged.event.get("delta", {}).get("ops"):
                yield f"{logged.event['id']}: a page's event without a delta"


def politeness(facts: Facts) -> Iterator[str]:
    """No host gets a burst."""
    for plan in facts.program.origins:
        times = [seen.at for seen in facts.seen.get(plan.host, ())]
        for n, at in enumerate(times):
            many = bisect_right(times, at + 10) - n
            if many > HOST_BURST:
                yield f"{plan.host}: {many} requests within 10 s, at {at:.0f} s"
                break


def cadence(facts: Facts) -> Iterator[str]:
    """No source goes unlooked at for hours."""
    for plan in facts.program.origins:
        if plan.tier == "push" or plan.host not in facts.added:
            continue
        looks = [facts.added[plan.host].at]
        looks += [seen.at for seen in facts.seen[plan.host] if seen.path != "/robots.txt" and seen.at > looks[0]]
        for before, after in zip(looks, [*looks[1:], facts.ends], strict=True):
            if after - before > LONGEST_SILENCE and not facts.troubled(before - 3600, after, plan.host):
                yield f"{plan.host}: no look between {before:.0f} s and {after:.0f} s"


def health(facts: Facts) -> Iterator[str]:
    """All sources are well at the end, and a quiet one keeps its 1.0."""
    for plan in facts.program.origins:
        told = facts.health.get(plan.host)
        if plan.host not in facts.added:
            continue
        if told is None:
            yield f"{plan.host}: no health was told"
        elif told["flag"] != "ok" or (not plan.texts and told["score"] != 1.0):
            yield f"{plan.host}: {told['flag']}, {told['score']}: {told['reason']}"
