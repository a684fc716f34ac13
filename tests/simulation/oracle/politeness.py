"""The politeness that a host may expect: limits of rate and number, pauses, and only its own data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tests.simulation.facts import Facts
from tests.simulation.origins.server import ROBOTS, Seen
from tests.simulation.program import BROWSER_FAULTS, CALM, SERVICE, host_of, machine_of

SECOND = 0.99
"""A second, minus the delay between a turn and a DNS query."""
_AT_ONCE = 2
_MOST_HOLD = 3600.0
_MOST_THROTTLED = 6
_RETRY = 300.0
_QUEUE = 4
SWEPT = 2 * 1800.0 + 300.0
"""Checks older than this many seconds are stored at the end of a life: two sweeps, and the time they take."""
ADDING = 30.0
"""Seconds to detect a source's type."""
_ARRIVES = 0.5
"""Seconds for a request, or an answer, on a line in good weather, connection included."""
_WEATHER = ("slow", "partition", "reset")
_PUBLIC = "93.184."


def rate(facts: Facts) -> Iterator[str]:
    """A host is asked at most once a second, under all its names and for all its sources.

    Two names of a machine are strangers until this life's resolver has answered for both. From then on a service that
    forgets or never notices that they are one breaks the promise.
    """
    for machine in facts.program.machines:
        asked = [(at, name) for at, name in facts.asked if machine_of(name) == machine]
        met = _first_meetings(facts, machine)
        for (before, one), (at, other) in pairwise(asked):
            together = any(0 <= at - first < 5 for first in met)
            together = together or (one != other and not _known_as_one(facts, machine, at))
            elsewhere = _added(facts, machine, at) or _led_to(facts, machine)
            if at - before < SECOND and not (together or facts.reborn(before - 2, at) or elsewhere):
                yield f"{machine}: asked at {before:.3f} s and again at {at:.3f} s"
                break


def at_once(facts: Facts) -> Iterator[str]:
    """At most two requests to a host are under way at once."""
    for machine, seen in facts.seen.items():
        under_way: list[Seen] = []
        for request in seen:
            # The end of one may reach the server a little after the client has continued.
            under_way = [*(other for other in under_way if other.until > request.at + _ARRIVES), request]
            since = under_way[0].at
            calm = not _stormy(facts, machine, since, request.at) and not facts.reborn(since, request.at)
            if len(under_way) > _AT_ONCE and calm:
                yield f"{machine}: {len(under_way)} requests at once, at {request.at:.0f} s"
                break


def retry_after(facts: Facts) -> Iterator[str]:
    """A host that asks for quiet gets it for that time, up to an hour."""
    for machine, seen in facts.seen.items():
        asked = [(at, name) for at, name in facts.asked if machine_of(name) == machine]
        met = _first_meetings(facts, machine)
        for answer in seen:
            begins, ends = answer.at + _ARRIVES, answer.at + min(answer.hold, _MOST_HOLD) - 1
            if answer.hold <= 0 or _stormy(facts, machine, answer.at - 60, ends) or facts.reborn(answer.at - 1, ends):
                continue
            strangers = any(answer.at - 1 < first < ends for first in met)
            early = None if strangers else next((at for at, _ in asked if begins < at < ends), None)
            if early is not None:
                after = early - answer.at
                yield f"{machine}: asked {after:.0f} s after it wished to be left alone for {answer.hold:.0f} s"
                break


def patience(facts: Facts) -> Iterator[str]:
    """A host that answers 429 without a time is asked less and less."""
    for machine, seen in facts.seen.items():
        throttled = [answer for answer in seen if answer.status == 429 and not answer.hold]
        for path in dict.fromkeys(answer.path for answer in throttled):
            times = [answer.at for answer in throttled if answer.path == path]
            for first, last in zip(times, times[_MOST_THROTTLED:], strict=False):
                if last - first < 1200 and not facts.reborn(first, last):
                    yield f"{machine}: {path} says that it is asked too much, and is asked again and again"
                    break


def robots(facts: Facts) -> Iterator[str]:
    """A page is checked only while the newest readable robots.txt allows it, and that copy is kept up to date."""
    for machine, paths in _pages(facts).items():
        if len(_origins(facts, machine)) > 1:
            continue  # each has its own robots.txt, and the machine can't distinguish their requests
        known: Seen | None = None
        asked = -math.inf
        for request in facts.seen.get(machine, ()):
            if facts.reborn(asked, request.at) and facts.program.nodes == 1:
                known = None  # each of several nodes may have its own copy, from when it owned the host
            if request.path == ROBOTS:
                asked = request.until if request.until < math.inf else request.at
                known = known if request.forbids is None else request
            elif request.path in paths and request.at > CALM:
                # The verdict comes before the turn, and a Crawl-delay may delay that.
                slack = _QUEUE * (1 + facts.program.robots_of(machine).crawl_delay)
                troubled = [fault.ends for fault in facts.program.faults_at(machine) if fault.at < request.at]
                tried = max([asked, *troubled])  # failed tries are invisible here
                fault = _trespass(known, tried, request, slack)
                if fault and not _stormy(facts, machine, asked, request.at):
                    yield f"{machine}: {request.path} is looked at, at {request.at:.0f} s, {fault}"
                    break


def _added(facts: Facts, machine: str, at: float) -> bool:
    """Return whether a source of a machine was just being added at one of several nodes, maybe not the host's own."""
    plans = (plan for plan in facts.program.origins if machine in plan.machines and plan.url in facts.added)
    if {plan.url for plan in facts.program.origins if machine in plan.machines} & {each.url for each in facts.deleted}:
        return facts.program.nodes > 1
    return facts.program.nodes > 1 and any(-1 < facts.added[plan.url].at - at < ADDING for plan in plans)


def _led_to(facts: Facts, machine: str) -> bool:
    """Return whether a redirect may lead one of several nodes to another one's machine."""
    return facts.program.nodes > 1 and any(machine in plan.machines[1:] for plan in facts.program.origins)


def _trespass(known: Seen | None, asked: float, request: Seen, slack: float) -> str:
    """Return the offence of a request for a page, given its known robots.txt; "" without one."""
    if known is None:
        return "though nothing is known of its robots.txt"
    if known.forbids and request.at > known.at + slack:
        return "though its robots.txt forbids it"
    # An old copy must be requested again; without an answer it stays in use.
    return "by an old robots.txt" if request.at > max(known.at + known.lasts, asked + _RETRY) + slack else ""


def crawl_delay(facts: Facts) -> Iterator[str]:
    """A known Crawl-delay separates any two requests to its host."""
    pages = _pages(facts)
    for machine in facts.program.machines:
        delay = facts.program.robots_of(machine).crawl_delay
        met = _first_meetings(facts, machine)
        last, known, kept = -math.inf, False, False
        for request in facts.seen.get(machine, ()) if delay else ():
            if request.path == ROBOTS:
                known = request.whole and request.status == 200
                kept = kept and known
                continue
            calm = not facts.reborn(last, request.at) and not _stormy(facts, machine, last, request.at)
            calm = calm and not any(last - 1 < first < request.at for first in met)
            if kept and calm and request.at - last < delay - _ARRIVES:
                gap = f"{request.at - last:.1f} s though it wants {delay:g} s"
                yield f"{machine}: asked after {gap}, at {request.at:.0f} s"
                break
            kept = calm and (kept or (known and request.path in pages.get(machine, ()) and request.at > CALM))
            last = request.at


def conditional(facts: Facts) -> Iterator[str]:
    """An unchanged feed costs a 304: each check after the first has a validator, except one a day."""
    for plan in facts.program.origins:
        if plan.tier != "feed" or plan.validators == "none" or plan.url not in facts.added:
            continue
        added = facts.added[plan.url].at
        days = (facts.ends - added + sum(max(step.by, 0) for step in facts.program.steps)) // 86_400
        bare = [seen.at for seen in facts.looks(plan) if seen.at > added and not seen.conditional]
        # A life that ends soon after may not have stored the request.
        days += sum(facts.reborn(at, at + SWEPT) for at in bare)
        if bare and len(bare) > days:  # a source that is added after the end has none
            yield f"{plan.name}: asked {len(bare)} times as if for the first time, first at {bare[0]:.0f} s"


def whole(facts: Facts) -> Iterator[str]:
    """A page that arrives empty is requested in full: an unchanged shell proves nothing about its content."""
    for plan in facts.program.origins:
        if plan.shell and (bare := next((seen for seen in facts.looks(plan) if seen.conditional), None)) is not None:
            yield f"{plan.name}: asked at {bare.at:.0f} s whether an empty page has changed"


def own_validators(facts: Facts) -> Iterator[str]:
    """A host gets only its own validators."""
    for machine, seen in facts.seen.items():
        yield from (f"{machine}: {each.path} was asked by another's version" for each in seen if each.foreign)


def guarded(facts: Facts) -> Iterator[str]:
    """The service connects to public addresses only."""
    for address, times in Counter(address for _, address in facts.dialled).items():
        if not address.startswith(_PUBLIC):
            yield f"{address} was called {times} times"


def _pages(facts: Facts) -> dict[str, frozenset[str]]:
    """Return the paths of pages by machine, including redirects to one."""
    found: dict[str, list[str]] = {}
    for plan in facts.program.origins:
        for url in (*plan.via, plan.address) if plan.tier == "html" else ():
            host = host_of(url)
            found.setdefault(machine_of(host), []).append(url.partition(host)[2])
    return {machine: frozenset(paths) for machine, paths in found.items()}


def _origins(facts: Facts, machine: str) -> set[str]:
    """Return the origins of a machine's pages: schemes and names."""
    pages = [plan for plan in facts.program.origins if plan.tier == "html"]
    urls = [url for plan in pages for url in (*plan.via, plan.address) if machine_of(host_of(url)) == machine]
    return {url.partition(host_of(url))[0] + host_of(url) for url in urls}


def _first_meetings(facts: Facts, machine: str) -> list[float]:
    """Return when each life first resolved a machine's second name: before that, the two are strangers."""
    asked = [(at, name) for at, name in facts.found if machine_of(name) == machine]
    met: list[float] = []
    for begins, ends in pairwise([*(span.began for span in facts.lives), math.inf]):
        names: set[str] = set()
        for at, name in asked:
            if begins <= at < ends and name not in names:
                names.add(name)
                if len(names) > 1:
                    met.append(at)
    return met


def _known_as_one(facts: Facts, machine: str, at: float) -> bool:
    """Return whether the life of a moment had found a machine by two names: impossible while the resolver fails.

    Of several nodes it is the newest: it may own the host by now, and resolves the names afresh. So in the minutes
    after a node's start P1 ignores two names; it always holds for one.
    """
    began = max((span.began for span in facts.lives if span.began <= at), default=0.0)
    return len({name for found, name in facts.found if began <= found < at and machine_of(name) == machine}) > 1


def _stormy(facts: Facts, machine: str, begins: float, ends: float) -> bool:
    """Return whether the network delayed bytes, so that arrival times prove little."""
    program = facts.program
    ours = [fault for fault in program.faults_at(SERVICE) if fault.kind not in BROWSER_FAULTS]
    faults = [*program.faults_at(machine, _WEATHER), *ours]
    return any(fault.at - 60 < ends and fault.ends + 60 > begins for fault in faults)
