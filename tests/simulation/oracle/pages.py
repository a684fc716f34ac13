"""The promises about pages: each real change once, and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.simulation.facts import Facts, Logged
from tests.simulation.meddler import Picked
from tests.simulation.origins.pages import FLAPS
from tests.simulation.origins.texts import numbers_in
from tests.simulation.program import OriginPlan

OK = 200
_UNDER_WAY = 60.0
"""Seconds after a choice when a check that began before it may still report."""
_SEEN_WITHIN = 3600.0
"""Seconds within which a change is reported, without other faults."""


def missing(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    """Yield the changes that a check must have found, or still will, and that no event reports."""
    known = facts.added[plan.url].at
    told = {number for logged in facts.of(plan) for number in brought(plan, logged)}
    looks = list(facts.good_looks(plan))
    for number, text in enumerate(plan.texts):
        later = number + plan.window
        over = plan.texts[later].at if later < len(plan.texts) else None
        found = over is None or any(text.at <= look < over for look in looks)
        if known < text.at < facts.ends and number not in told and found and not _picked_away(facts, plan, number):
            yield f"{plan.name}: change {number} is not told"


def once(facts: Facts) -> Iterator[str]:
    """No change is reported twice, none of the first check, and none that was never made."""
    for plan in _pages(facts):
        asked = facts.added[plan.url].asked_at
        times = Counter(number for logged in facts.of(plan) for number in brought(plan, logged))
        for number, count in times.items():
            if count > 1:
                yield f"{plan.name}: change {number} is told {count} times"
            if number >= len(plan.texts) or plan.texts[number].at < asked:
                yield f"{plan.name}: change {number} is told, and is none"


_BRIEF = 2
"""Checks after a report within which a return of the old edition proves it random."""
_STAYS = 0.5**_BRIEF
"""The chance that an edition, drawn by lot of two, stays longer than that. Such a stay is reported when it ends, like a
deliberate one; the first briefer stay gives the lot away, and from then on a stay must last for four checks, then for
eight, and so on.
"""
_BY_CHANCE = 1e-5
"""The share of such pages with more reports than the oracle accepts, though nothing is wrong."""
_MOST_FLAPS = math.ceil(math.log(_BY_CHANCE * (1 - _STAYS), _STAYS))
"""How often editions may be reported: when the second one is seen, and after each of n stays in a row. A share of
STAYS^m + STAYS^(m+1) + ... = STAYS^m / (1 - STAYS) of the pages has more than m reports: 5 in a million with m = 9, one
in 3,000 with 6, which 1,000 worlds would meet every third time.
"""


def real(facts: Facts) -> Iterator[str]:
    """Every event of a page has a delta, and a real addition or removal: never churn, a wall or an error page.

    Two editions drawn by lot are reported when the second one is first seen, and again when one of them has lasted;
    each time it has to last for longer. None returns within two checks of its report.
    """
    for plan in _pages(facts):
        flapped, before = 0, list[Logged]()
        for logged in facts.of(plan):
            delta = logged.event.get("delta") or {}
            if not delta.get("ops"):
                yield f"{plan.name}: {logged.event['id']} has no delta"
            if not brought(plan, logged):
                flaps = any(edition in text for edition in FLAPS for text in _texts(logged, "text", "after"))
                if not flaps or flapped >= _MOST_FLAPS or (before and _briefly(facts, plan, before[-1], logged)):
                    yield f"{plan.name}: {logged.event['id']} tells what is no change: {_words(delta)}"
                flapped += flaps
            before.append(logged)


def _briefly(facts: Facts, plan: OriginPlan, before: Logged, logged: Logged) -> bool:
    """Return whether a page changed again within two checks; False if the clock was set: then the count is unknown."""
    for (_, behind), (at, ahead) in pairwise(facts.clock):
        if before.at <= at + max(behind, ahead) and at + min(behind, ahead) <= logged.at:
            return False
    seen = (facts.shown(look.at) for look in facts.looks(plan) if look.status == OK)
    return sum(before.at < at < logged.at for at in seen) <= _BRIEF


def chain(facts: Facts) -> Iterator[str]:
    """All deltas applied give the page: removed text is the last one reported in its place."""
    for plan in _pages(facts):
        held: dict[int, int] = {}
        before = -math.inf
        for logged in facts.of(plan):
            if any(before < pick.until and pick.at < logged.at for pick in _picks(facts, plan)):
                held.clear()  # text on the page at the moment of the choice is known, but never reported
            before = logged.at
            for number in _taken(plan, logged):
                there = held.get(number % plan.window)
                if there not in (None, number):
                    yield f"{plan.name}: {logged.event['id']} takes change {number} away where {there} was told"
            held |= {number % plan.window: number for number in brought(plan, logged)}


def left_out(facts: Facts) -> Iterator[str]:
    """While a user ignores a part of a page, it is not reported, nor any part outside the one watched alone."""
    for plan in _pages(facts):
        picks = _picks(facts, plan)
        for pick, over in zip(picks, [*(after.at for after in picks[1:]), math.inf], strict=False):
            for logged in facts.of(plan) if pick.place is not None else ():
                told = [n for n in brought(plan, logged) if _is_without(pick, n % plan.window)]
                if told and pick.until + _UNDER_WAY < logged.at < over:
                    yield f"{plan.name}: change {told[0]} is told, though its place was left out at {pick.until:.0f} s"


def _picks(facts: Facts, plan: OriginPlan) -> list[Picked]:
    return [pick for pick in facts.picked if pick.url == plan.url]


def _picked_away(facts: Facts, plan: OriginPlan, number: int) -> bool:
    """Return whether a change was made in an ignored place, or may have been seen first by a new choice."""
    at, picks = plan.texts[number].at, _picks(facts, plan)
    if any(at - 60 < pick.until and pick.at < at + _SEEN_WITHIN for pick in picks):
        return True
    last = next((pick for pick in reversed(picks) if pick.until <= at), None)
    return last is not None and _is_without(last, number % plan.window)


def _is_without(pick: Picked, place: int) -> bool:
    """Return whether a choice excludes a place."""
    return pick.place is not None and (place == pick.place) is not pick.only


def _pages(facts: Facts) -> list[OriginPlan]:
    pages = (plan for plan in facts.program.origins if plan.tier == "html" and not plan.scenes and plan.style != "list")
    return [plan for plan in pages if plan.url in facts.added]


def brought(plan: OriginPlan, logged: Logged) -> list[int]:
    """Return the changes in an event: those named in its new texts and not in its old ones."""
    old = set(_taken(plan, logged))
    return [n for text in _texts(logged, "text", "after") for n in numbers_in(plan, text) if n not in old]


def _taken(plan: OriginPlan, logged: Logged) -> list[int]:
    texts = [*_texts(logged, "before"), *_texts(logged, "text", ops=("delete",))]
    return [number for text in texts for number in numbers_in(plan, text)]


def _texts(logged: Logged, *names: str, ops: tuple[str, ...] = ("insert", "replace")) -> Iterator[str]:
    for op in (logged.event.get("delta") or {}).get("ops", ()):
        if op["op"] in ops:
            yield from (op[name] for name in names if op.get(name))


def _words(delta: dict[str, Any]) -> str:
    said = [f"{op['op']} {op.get('text') or op.get('after')!r}" for op in delta.get("ops", ())]
    return "; ".join(said)[:160]
