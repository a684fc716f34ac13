"""The promises about coverage: compares a receipt's checks with the origins' answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from actors.signatures import MOST_BYTES
from extras.cluster.members.view_change import LEASE
from sanderling_client.verify import check_event
from storage.records.coverage import UNSEEN, UNSTORED
from tests.simulation.auditor import Audited
from tests.simulation.facts import Facts, LifeSpan
from tests.simulation.oracle.politeness import SWEPT
from tests.simulation.origins.server import Seen
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import DISK_FAULTS, SERVICE, Fault, OriginPlan

SLACK = 2.0
"""Tolerance in seconds between the times of a check and its answer: whole seconds, and the way back."""
SLOW = 2 * 12.0
"""Seconds for the head and the body of an answer on a slow line, at most."""
HOUR = 3600.0
SEEN = (200, 304)
SWEPT_SHARED = 2 * 60.0 + 300.0
"""The same where nodes share a database."""
BRIEF, NEAR = 5.0, 300.0
"""Seconds: a life this short may not have recorded its beginning; the longest beginning."""
Time = tuple[float, float]


def receipts(facts: Facts) -> Iterator[str]:
    """Every receipt verifies, and is small."""
    if not facts.audited:
        return
    for audited in facts.audited:
        verdict = check_event(dict(audited.receipt), facts.jwks)
        if not verdict.valid:
            yield f"{_name(audited)}: {verdict.reason}"
        if audited.size > MOST_BYTES:
            yield f"{_name(audited)}: {audited.size} bytes"


def claimed(facts: Facts) -> Iterator[str]:
    """A receipt claims no check that did not happen."""
    for audited, served in _each(facts):
        start, end = audited.span()
        made = sum(start - SLACK < last and first < end + SLACK for first, last in served)
        if audited.receipt["answered"] > made:
            yield f"{_name(audited)}: {audited.receipt['answered']} looks are claimed, {made} were answered"


def gaps(facts: Facts) -> Iterator[str]:
    """No gap between checks in a known time is longer than the receipt's longest, by a true clock."""
    plans = {plan.url: plan for plan in facts.program.origins}
    for audited, _ in _each(facts):
        told = (audited.receipt["longest_gap"] or {}).get("seconds", 0)
        looks = list(_answered(facts, plans[audited.url]))
        served = sorted(moment for seen in looks for moment in (seen.at, min(seen.until, seen.at + 60)))
        for start, end in (part for known in _known(audited) for part in _really(facts, *known)):
            inside = (at for at in served if start < at < end)
            spans = pairwise((start, *inside, end))
            longest = max((after - before - _set_unseen(facts, before, after) for before, after in spans), default=0.0)
            if longest > told + 2 * SLACK + _on_the_way(facts, plans[audited.url], start, end):
                yield f"{_name(audited)}: {longest:.0f} s without an answer in a known time, told are {told} s"


def _really(facts: Facts, start: float, end: float) -> Iterator[Time]:
    """Yield when the service's clock showed a time: in several parts, if it was set in between."""
    ends = [at for at, _ in facts.clock[1:]]
    begun: Time | None = None
    for (at, ahead), until in zip(facts.clock, [*ends, facts.ends + HOUR], strict=True):
        since, till = _seen_by_lives(facts, at, until)
        since, till = max(since, start - ahead), min(till, end - ahead)
        if since >= till:
            continue
        if begun is not None and begun[1] == since:
            begun = begun[0], till
            continue
        if begun is not None:
            yield begun
        begun = since, till
    if begun is not None:
        yield begun


def _seen_by_lives(facts: Facts, start: float, end: float) -> Time:
    """Return a time between two settings of the clock, without the part before or after all lives.

    If the clock is set back while the service is off, no service knows how far it had come.
    """
    lives = [(life.began, life.ended) for life in facts.lives]
    if start > 0 and not any(began < start < ended for began, ended in lives):
        start = min((began for began, _ in lives if began > start), default=end)
    if not any(began < end < ended for began, ended in lives):
        end = max((min(ended, end) for began, ended in lives if began < end), default=start)
    return start, end


def _set_unseen(facts: Facts, start: float, end: float) -> float:
    """Return by how much the clock was set in a time while no service ran that could have seen it."""
    alive = [(life.began, life.ended) for life in facts.lives]
    steps = ((at, abs(after - before)) for (_, before), (at, after) in pairwise(facts.clock) if start < at < end)
    return sum(by for at, by in steps if not any(began < at < ended for began, ended in alive))


def on_record(facts: Facts) -> Iterator[str]:
    """A receipt counts every certain check in a known time."""
    plans = {plan.url: plan for plan in facts.program.origins}
    for audited, _ in _each(facts):
        if plans[audited.url].scenes or plans[audited.url].shell:
            continue  # an interstitial, or a page without a browser, is answered with 200 but is no check
        added = facts.added[audited.url].at
        good = [facts.shown(at) for at in facts.good_looks(plans[audited.url]) if at > added + SLACK]
        made = sum(start + SLACK < at < end - SLACK for start, end in _known(audited) for at in good)
        if audited.receipt["answered"] < made:
            yield f"{_name(audited)}: {made} looks were answered in known times, {audited.receipt['answered']} are told"


def reasons(facts: Facts) -> Iterator[str]:
    """Every unknown time has a reason in the world, and is no longer than the receipt's own rules allow.

    A clock step excuses the times that it left out and showed twice, and two minutes on both sides, since the service
    checks the clock once a minute. Only a crash that finds the clock behind its old time excuses 65 minutes more.
    """
    if facts.program.point_crash:
        return  # the last sweep of a stop may be lost
    known = list(_excuses(facts))
    for audited in facts.audited:
        excuses = [*known, (-1e12, facts.shown(facts.added[audited.url].at) + 120), *_undivided(facts, audited)]
        if facts.program.nodes > 1:  # a node knows only the stored checks of the others
            excuses.append((audited.at - NEAR, audited.at + NEAR))
        for span in audited.receipt["unknown"]:
            start, end = audited.span(span)
            if span["why"] != "coarse" and not _covered(start, end, excuses):
                yield f"{_name(audited)}: unknown from {start:.0f} to {end:.0f} s ({span['why']}) without a reason"


def _excuses(facts: Facts) -> Iterator[Time]:
    """Yield the service's possibly unknown times, by its clock."""
    for lives in _lives_of_nodes(facts):
        for number, life in enumerate(lives):
            if not life.politely or _disk_away(facts, life.ended - NEAR, life.ended):
                lasting = (after.began for after in lives[number + 1 :] if after.ended - after.began > BRIEF)
                # The last one has recorded it, however brief it was: the receipts are its own.
                begun = next(lasting, max(life.ended, lives[-1].began))
                yield from _shown(facts, _unswept(facts, life.ended), _written(facts, begun))
                yield from _behind(facts, life.ended, [each.began for each in lives[number + 1 :]])
    for trouble in facts.program.troubles:
        yield from _shown(facts, _unswept(facts, trouble.at), trouble.ends + 2 * LEASE + NEAR)
    yield from _set(facts)


def _set(facts: Facts) -> Iterator[Time]:
    """Yield the times that the service's clock left out, or showed twice, when it was set."""
    unseen = UNSEEN / 1000
    for (_, before), (at, after) in pairwise(facts.clock):
        if after > before:
            yield at + before - unseen, at + after + unseen
    for one, other in combinations(_shown(facts, 0.0, facts.ends + HOUR), 2):
        start, end = max(one[0], other[0]), min(one[1], other[1])
        if start < end:
            yield start - unseen, end + unseen


def _behind(facts: Facts, crashed: float, begun: Sequence[float]) -> Iterator[Time]:
    """Yield the times unknown after a crash with the clock behind its old time: it may have run on unstored.

    It showed that time in the minutes before, or recorded checks prove it; these can't be of an older time. begun: when
    the later lives began.
    """
    unstored = UNSTORED / 1000
    shown = list(_shown(facts, 0.0, crashed))
    late = list(_shown(facts, _unswept(facts, crashed) + SWEPT - NEAR, crashed))
    older = [end for _, end in shown if end <= facts.shown(crashed) + unstored]
    reach = max((*older, *(end for _, end in late)), default=0.0)
    for since in map(facts.shown, begun):
        if since < reach:
            yield since - UNSEEN / 1000, reach + unstored


def _undivided(facts: Facts, audited: Audited) -> Iterator[Time]:
    """Yield the last hour of a receipt, if the clock has been further: checks of one hour can't be separated."""
    _, end = audited.span()
    if _furthest(facts, facts.ends + HOUR) > end:
        yield (EPOCH + end) // HOUR * HOUR - EPOCH, end


def _lives_of_nodes(facts: Facts) -> Sequence[Sequence[LifeSpan]]:
    if facts.program.nodes == 1:
        return [facts.lives]
    nodes: dict[int, list[LifeSpan]] = {}
    for node, life in facts.members.values():
        nodes.setdefault(node, []).append(life)
    return [sorted(lives, key=lambda life: life.began) for lives in nodes.values()]


def _unswept(facts: Facts, at: float) -> float:
    """Return up to where all checks are stored at a moment: two sweeps before, and before any absence of the disk."""
    start = at - (SWEPT if facts.program.nodes == 1 else SWEPT_SHARED)
    for fault in sorted(_disk_faults(facts), key=lambda fault: -fault.at):
        if fault.at < at and fault.ends > start:
            start = min(start, fault.at - SWEPT)
    return start


def _written(facts: Facts, began: float) -> float:
    """Return when a life has recorded its beginning."""
    written = began + NEAR
    for fault in sorted(_disk_faults(facts), key=lambda fault: fault.at):
        if fault.at < written and fault.ends > began:
            written = max(written, fault.ends + NEAR)
    return written


def _disk_away(facts: Facts, start: float, end: float) -> bool:
    """Return whether the disk failed for some of a time: a last sweep may have failed."""
    return any(fault.at < end and fault.ends > start for fault in _disk_faults(facts))


def _disk_faults(facts: Facts) -> Sequence[Fault]:
    return [fault for fault in facts.program.faults if fault.kind.startswith("disk") or fault.kind in DISK_FAULTS]


def _furthest(facts: Facts, until: float) -> float:
    """Return the latest that the service's clock had shown by a moment."""
    return max((end for _, end in _shown(facts, 0.0, until)), default=0.0)


def _shown(facts: Facts, start: float, end: float) -> Iterator[Time]:
    """Yield the readings of the service's clock in a time."""
    ends = [at for at, _ in facts.clock[1:]]
    for (at, ahead), until in zip(facts.clock, [*ends, facts.ends + HOUR], strict=True):
        since, till = max(at, start), min(until, end)
        if since < till:
            yield since + ahead, till + ahead


def _covered(start: float, end: float, spans: Sequence[Time]) -> bool:
    for since, till in sorted(spans):
        if since <= start:
            start = max(start, till)
    return start >= end


def _each(facts: Facts) -> Iterator[tuple[Audited, Sequence[Time]]]:
    """Yield receipts of polled sources, each with the times of its origin's answers, by the service's clock."""
    plans = {plan.url: plan for plan in facts.program.origins}
    for audited in facts.audited:
        plan = plans[audited.url]
        if plan.tier != "push":
            yield audited, [_span(facts, seen) for seen in _answered(facts, plan)]


def _on_the_way(facts: Facts, plan: OriginPlan, start: float, end: float) -> float:
    """Return the delay of answers on a slow line, in seconds."""
    slow = (fault for fault in facts.program.faults if fault.kind == "slow" and fault.where in (plan.machine, SERVICE))
    return SLOW if any(fault.at < end and start < fault.ends for fault in slow) else 0.0


def _answered(facts: Facts, plan: OriginPlan) -> Iterator[Seen]:
    """Yield the answered checks of a source; for a scripted page, which may move, at any path."""
    asked = facts.seen.get(plan.machine, ()) if plan.scenes else facts.looks(plan)
    return (seen for seen in asked if seen.status in SEEN and seen.path != "/robots.txt")


def _span(facts: Facts, seen: Seen) -> Time:
    """Return the times between which a check may have been answered."""
    until = min(seen.until, seen.at + 60)
    return facts.shown(seen.at), facts.shown(until)


def _known(audited: Audited) -> Iterator[Time]:
    """Yield the times in a receipt outside its unknown spans."""
    at, end = audited.span()
    for span in audited.receipt["unknown"]:
        start, until = audited.span(span)
        if start > at:
            yield at, start
        at = until
    if end > at:
        yield at, end


def _name(audited: Audited) -> str:
    start, end = audited.span()
    return f"{audited.url}, {start:.0f} to {end:.0f} s"
