"""The promises about feeds: each entry once, each revision once, a reset said once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from storage.records.event import RESET
from tests.simulation.facts import Facts
from tests.simulation.origins.texts import numbers_in, saying
from tests.simulation.program import OriginPlan

_MOVES = 10
"""A reset needs more entries than this; fewer are ordinary changes."""

Span = tuple[float, float]


def missing(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    """Yield the entries and revisions that a check must have found, or still will, and that are not in the log."""
    known = facts.added[plan.url].at
    told, revised = _told(facts, plan)
    looks = [at for at in facts.good_looks(plan) if at >= known]
    for number, text in enumerate(plan.texts):
        spans = _shown(plan, number)
        if text.at > known and not told[number] and _found(looks, spans, facts.ends):
            yield f"{plan.name}: entry {number} is not in the log"
        if not revised[number] and _revision_found(plan, number, known, looks, facts.ends):
            yield f"{plan.name}: the revision of entry {number} is not in the log"


def once(facts: Facts) -> Iterator[str]:
    """No entry or revision is reported twice, and no entry of the first check at all."""
    for plan in facts.program.origins:
        if plan.tier != "feed" or plan.url not in facts.added:
            continue
        asked, known = facts.added[plan.url].asked_at, facts.added[plan.url].at
        told, revised = _told(facts, plan)
        yield from (f"{plan.name}: entry {number} is told {times} times" for number, times in told.items() if times > 1)
        for number, times in revised.items():
            if times > 1 or plan.texts[number].revised_at == math.inf:
                yield f"{plan.name}: entry {number} is told as revised {times} times"
        # An entry that was absent when the source was added is new when it returns.
        looks = list(facts.good_looks(plan))
        texts = ((number, plan.texts[number]) for number in told if not _is_another(plan, number, looks))
        old = (n for n, text in texts if text.at < asked and not (text.away[0] <= known and asked < text.away[1]))
        yield from (f"{plan.name}: entry {number} was there at the first look, and is told" for number in old)


def genuine(facts: Facts) -> Iterator[str]:
    """Reported entries and frames equal the published ones, to the letter."""
    for plan in facts.program.origins:
        if plan.tier == "html":
            continue
        for logged in facts.of(plan):
            content = logged.event["content"]
            numbers = [n for n in numbers_in(plan, content) if n < len(plan.texts)]
            said = {saying(plan, n, words) for n in numbers for words in (plan.texts[n].words, plan.texts[n].revision)}
            if content not in said:
                yield f"{plan.name}: {logged.event['id']} says what was never published: {content[:80]!r}"


def reset(facts: Facts) -> Iterator[str]:
    """A feed whose identities all change reports a reset once, and not again."""
    for plan in facts.program.origins:
        if plan.tier != "feed" or plan.url not in facts.added:
            continue
        said, at = len(facts.notices(plan, "source_reset")), plan.manners.resets_at
        if said > (at < facts.ends):
            yield f"{plan.name}: {said} resets are told"
        moved = [n for n in range(len(plan.texts)) if any(a <= at < b for a, b in _shown(plan, n))]
        after = any(look > at for look in facts.good_looks(plan))
        # A source added again after the reset begins with the moved feed.
        if facts.added[plan.url].at < at < facts.program.ends and len(moved) > _MOVES and after and not said:
            yield f"{plan.name}: its reset at {at:.0f} s is not told"


def kept(facts: Facts) -> Iterator[str]:
    """The log has a reset's held entries next to the reset, each once, and nothing else is held."""
    for plan in facts.program.origins:
        if plan.tier != "feed" or plan.url not in facts.added:
            continue
        said = sum(int(told.event["content"].split()[0]) for told in facts.notices(plan, "source_reset"))
        held = [logged.event for logged in facts.of(plan) if RESET in logged.event["tags"]]
        if len(held) != said:
            yield f"{plan.name}: {said} entries are said to be held, and {len(held)} are in the log"
        again = len(held) - len({event["url"] for event in held})
        if again:
            yield f"{plan.name}: {again} entries are held twice"


def _told(facts: Facts, plan: OriginPlan) -> tuple[Counter[int], Counter[int]]:
    """Return how often each entry was reported as new, and as revised."""
    told, revised = Counter[int](), Counter[int]()
    for logged in facts.of(plan):
        if RESET in logged.event["tags"]:
            continue
        of = revised if "change:updated" in logged.event["tags"] else told
        of.update(number for number in numbers_in(plan, logged.event["content"])[:1] if number < len(plan.texts))
    return told, revised


def _is_another(plan: OriginPlan, number: int, looks: list[float]) -> bool:
    """Return whether an entry got other words, id and link between two checks, and so counts as another one."""
    first, last = sorted((plan.texts[number].revised_at, plan.manners.resets_at))
    return last < math.inf and not any(first <= look < last for look in looks)


def _shown(plan: OriginPlan, number: int) -> list[Span]:
    """Return when an entry is in its feed."""
    text, later = plan.texts[number], number + plan.window
    ends = plan.texts[later].at if later < len(plan.texts) else math.inf
    left, back = text.away
    spans = [(text.at, min(left, ends)), (max(back, text.at), ends)] if left < math.inf else [(text.at, ends)]
    return [(begins, over) for begins, over in spans if begins < over]


def _found(looks: list[float], spans: list[Span], now: float) -> bool:
    """Return whether a check falls into one of the spans, or the last one is still open."""
    if any(over == math.inf and begins < now for begins, over in spans):
        return True
    return any(begins <= look < over for begins, over in spans for look in looks)


def _revision_found(plan: OriginPlan, number: int, known: float, looks: list[float], now: float) -> bool:
    """Return whether an entry was found before its revision and after it, under one identity."""
    at, reset_at = plan.texts[number].revised_at, plan.manners.resets_at
    if at == math.inf:
        return False
    first, last = (-math.inf, reset_at) if at < reset_at else (reset_at, math.inf)
    before = _cut(_shown(plan, number), first, at)
    after = _cut(_shown(plan, number), at, last)
    seen = any(begins <= look < over for begins, over in before for look in [known, *looks])
    return seen and _found(looks, after, now)


def _cut(spans: list[Span], first: float, last: float) -> list[Span]:
    cut = [(max(first, begins), min(last, over)) for begins, over in spans]
    return [(begins, over) for begins, over in cut if begins < over]
