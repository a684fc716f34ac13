"""The promises about scripted pages: the changes that a reader wants, when, as which kind, and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.simulation.facts import Facts, Logged
from tests.simulation.origins.scenes import blocks_in
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import OriginPlan, Scene

_MOST = {"": 0, "few": 2, "several": 5}
"""Reports of one scene, at most; other scenes have one."""
_OF_LOOKS = {"few": 0.1, "several": 0.2}
"""A further share of a scene's checks: a random variant sometimes stays for some checks."""
_REVERTED = "change:reverted"


def missing(facts: Facts, plan: OriginPlan) -> Iterator[str]:
    """Yield unplayed scenes, and unreported changes of played ones."""
    for number, (scene, told) in enumerate(_played(facts, plan)):
        if told is None:
            yield f"{plan.name}: scene {number} has not been seen to its end"
        elif scene.news not in _MOST and not told:
            yield f"{plan.name}: scene {number} is not told, {_words(scene)}"


def wanted(facts: Facts) -> Iterator[str]:
    """Each scene is reported as its reader wants: once while it lasts, or not at all."""
    for plan in _scripted(facts):
        shown = plan.scenes[0]
        for number, (scene, told) in enumerate(_played(facts, plan)):
            most = _MOST.get(scene.news, 1) + int(_OF_LOOKS.get(scene.news, 0) * _looks_in(facts, plan, number))
            for logged in (told or ())[most:]:
                yield f"{plan.name}: scene {number} is told once too often: {_said(logged)}"
            if scene.news in ("told", "reverted") and told and not scene.instead:
                yield from _amiss(plan, number, told[0], shown, scene)
            for logged in told or ():
                if (scene.news == "moved") != ("alert_type" in logged.event):
                    yield f"{plan.name}: scene {number} is told as what it is not: {_said(logged)}"
            shown = scene if scene.news else shown


def returned(facts: Facts) -> Iterator[str]:
    """A return to a reported state is marked as a return, and nothing else is."""
    for plan in _scripted(facts):
        for number, (scene, told) in enumerate(_played(facts, plan)):
            for logged in told or ():
                called = _REVERTED in logged.event["tags"]
                if not scene.rotates and called != (scene.news == "reverted"):
                    yield f"{plan.name}: scene {number} is {'' if called else 'not '}called a return: {_said(logged)}"


def rebuilt(facts: Facts) -> Iterator[str]:
    """All deltas applied give the stored reported texts, after each life and at the end."""
    for plan in _scripted(facts):
        for events, told in facts.remembered:
            if not told.get(plan.url):
                continue
            held = blocks_in(plan, plan.scenes[0])
            for logged in facts.log[:events]:
                if logged.event["source_id"] == facts.added[plan.url].id and "delta" in logged.event:
                    held = _applied(held, logged.event["delta"])
            if not _alike(held, told[plan.url]):
                yield f"{plan.name}: after {events} events its reader holds {held[-3:]}, told is {told[plan.url][-3:]}"


def _scripted(facts: Facts) -> list[OriginPlan]:
    return [plan for plan in facts.program.origins if plan.scenes and plan.url in facts.added]


def _played(facts: Facts, plan: OriginPlan) -> Iterator[tuple[Scene, list[Logged] | None]]:
    """Yield each scene with the reports during it; None for one with too few checks."""
    looks = [seen.at for seen in facts.looks(plan)]
    told = [logged for logged in facts.all_of(plan) if logged.event.get("alert_type") in (None, "source_moved")]
    begins = [sum(scene.visits for scene in plan.scenes[:n]) for n in range(len(plan.scenes) + 1)]
    for scene, (first, last) in zip(plan.scenes, pairwise(begins), strict=True):
        if len(looks) < last:
            yield scene, None
            continue
        until = looks[last] if last < len(looks) and scene is not plan.scenes[-1] else math.inf
        yield scene, [logged for logged in told if looks[first] <= _at(logged) < until]


def _looks_in(facts: Facts, plan: OriginPlan, number: int) -> int:
    """Return how many checks saw a scene; the last one stays."""
    seen = len(facts.looks(plan)) - sum(scene.visits for scene in plan.scenes[:number])
    return seen if number == len(plan.scenes) - 1 else min(seen, plan.scenes[number].visits)


def _amiss(plan: OriginPlan, number: int, logged: Logged, before: Scene, now: Scene) -> Iterator[str]:
    """Yield the lines of a scene that its event lacks."""
    ops = logged.event["delta"]["ops"]
    came = {op.get("after") or op.get("text") for op in ops if op["op"] != "delete"}
    went = {op.get("before") or op.get("text") for op in ops if op["op"] != "insert"}
    steady = {line for line in (*before.lines, *now.lines) if "{n}" in line}
    lacks = [line for line in now.lines if line not in {*before.lines, *came, *steady}]
    lacks += [line for line in before.lines if line not in {*now.lines, *went, *steady}]
    if lacks:
        yield f"{plan.name}: scene {number} is told without {lacks}: {_said(logged)}"


def _applied(before: Sequence[str], delta: Mapping[str, Any]) -> list[str]:
    """Return the text after a documented delta; a mismatch stays visible in the text."""
    deleted = {op["para"] for op in delta["ops"] if op["op"] == "delete"}
    kept = [text for n, text in enumerate(before) if n not in deleted]
    written = {op["para"]: op for op in delta["ops"] if op["op"] != "delete"}
    after: list[str] = []
    while kept or len(after) in written:
        op = written.get(len(after))
        if op is None or op["op"] == "replace":
            left = kept.pop(0) if kept else ""
            fits = op is None or left == op["before"] or "{n}" in left
            after.append(left if op is None else op["after"] if fits else f"{left} is not {op['before']}")
        else:
            after.append(op["text"])
    return after


def _alike(held: Sequence[str], told: Sequence[str]) -> bool:
    """Return whether two texts are equal apart from the number of a counter."""
    counters = {text for text in held if "{n}" in text}
    if not counters:
        return list(held) == list(told)
    shared = Counter(text for text in held if text not in counters)
    return len(held) == len(told) and (Counter(told) - shared).total() == len(counters)


def _at(logged: Logged) -> float:
    return datetime.fromisoformat(logged.event["emitted_at"]).timestamp() - EPOCH


def _words(scene: Scene) -> str:
    return repr(scene.lines[-1] if scene.lines else scene.instead)


def _said(logged: Logged) -> str:
    return f"{logged.event['id']} {logged.event.get('summary', '')[:100]!r} {logged.event['tags']}"
