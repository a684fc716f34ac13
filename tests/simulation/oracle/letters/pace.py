"""The promises about attempts: their times, their order, and how many run at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.simulation.delivery_records import KeptDestination, Receipt
from tests.simulation.facts import Facts
from tests.simulation.oracle.letters.attempts import ATTEMPT
from tests.simulation.oracle.letters.clock import disturbed, edited, stepped
from tests.simulation.oracle.letters.wanted import events_in, wanted
from tests.simulation.program import SERVICE

WAITS = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds after the n-th failure, a fifth more or less."""
MOST_TO_ONE, MOST_TO_A_MACHINE, MOST_AT_ALL = 4, 20, 200
FAILURES = 5
PROMPT = 90.0
"""Virtual seconds; a failing destination may spend some on older events, one at a time."""
LONGEST_WISH = 3600.0
UNHINDERED = 5.0
"""Virtual seconds from the recorder to a healthy receiver, including its line and the commits on the way."""
AT_SEA = ("slow", "partition", "dead line", "lossy")
"""Troubles that separate a receiver's times of a request from the service's."""


def schedule(facts: Facts) -> Iterator[str]:
    """D4: the times between attempts, as the service lists them."""
    events = events_in(facts)
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        received = facts.letters.received(kept)
        refused = [receipt for receipt in received if receipt.final]
        final = {id for receipt in refused for id in (receipt.id, *events(receipt))}
        unnamed = any(not receipt.id for receipt in refused)
        for line in kept.lines:
            number, told = _int(line, "attempt"), f"{kept.label}: {line['webhook_id']}, attempt {line['attempt']}"
            if line["result"] == "retry":
                waits, base = _moment(line["next_attempt_at"]) - _moment(line["at"]), WAITS[number - 1]
                least = max(0.8 * base, 60.0 if line["status_code"] == 429 else 0.0)
                most = max(1.2 * base, LONGEST_WISH)
                if kept_quiet(kept):
                    most = math.inf
                if not least - 0.01 <= waits <= most + 0.01:
                    yield f"{told}: waits {waits:.0f} s, {least:.0f} to {most:.0f} are due"
            elif line["result"] == "given_up" and number < len(WAITS) + 1 and line["webhook_id"] not in final:
                if unnamed:
                    continue
                yield f"{told}: was given up, {len(WAITS) + 1} are due"


def obliging(facts: Facts) -> Iterator[str]:
    """D4: no attempt before 4 s are over, a minute after a 429, or the time in `Retry-After`."""
    for kept, _, again, before in _repeated(facts):
        least = max(4.0, 60.0 if before.slow else 0.0, min(before.hold, LONGEST_WISH))
        if again.at - before.at < least - 0.5:
            yield (
                f"{kept.label} was sent {again.id} again after {again.at - before.at:.0f} s, "
                f"{least:.0f} after a {before.status}"
            )


def kept_quiet(kept: KeptDestination) -> bool:
    """Return whether it ever had quiet hours, which prolong a wait."""
    return any(version.state is not None and version.state.quiet for version in kept.history.versions)


def satisfied(facts: Facts) -> Iterator[str]:
    """A receiver that accepted a delivery, or refused it for good, does not get it again, unless the answer was lost in
    a crash, or on the way.
    """
    for kept, _, again, before in _repeated(facts):
        if before.taken and before.clear and not _faults(facts, kept, ("reset",), before.at - 60, before.at + 60):
            yield f"{kept.label} was sent {again.id} again, {again.at - before.at:.0f} s after it had taken it"
        elif before.final and before.clear and not before.gone:
            yield f"{kept.label} was sent {again.id} again, which it had said that it never takes"


def order(facts: Facts) -> Iterator[str]:
    """D7: first attempts start oldest first."""
    said, events = {} if facts.letters is None else facts.letters.said, events_in(facts)
    offered = {each.event["id"]: said[title].offered for each in facts.log if (title := each.event["title"]) in said}
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        first: dict[str, float] = {}
        for receipt in facts.letters.received(kept):
            if receipt.single and not receipt.test:
                for id in events(receipt):
                    first.setdefault(id, receipt.at)
        for older, newer in pairwise(sorted(id for id in first if id in offered)):
            late = first[older] - first[newer]
            # Its first attempt may never have reached the receiver.
            if late > 1.0 and not _excused(facts, kept, offered[older] - 120, first[older]):
                yield f"{kept.label} was sent {newer} {late:.0f} s before {older}"


def prompt(facts: Facts) -> Iterator[str]:
    """D7: a failing delivery holds up nothing newer; an event is sent at once while its receiver is healthy."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        for title, late in _dawdled(facts, kept, PROMPT):
            yield f"{title} reached {kept.label} {late:.0f} s after it was in the log"


def _dawdled(facts: Facts, kept: KeptDestination, patience: float) -> Iterator[tuple[str, float]]:
    """Yield the title of each event that was due at once and exceeded `patience`, with its seconds."""
    assert facts.letters is not None
    first: dict[str, float] = {}
    events = events_in(facts)
    received = facts.letters.received(kept)
    for receipt in received:
        for id in events(receipt):
            first.setdefault(id, receipt.at)
    spans = list(kept.shut(received))
    for id, title in wanted(facts, kept):
        said = facts.letters.said[title]
        begins, ends = said.offered - 60, said.known + patience
        instant = all(
            state is not None and state.enabled and state.mode == "instant" and state.quiet is None
            for state in kept.history.during(begins, ends)
        )
        shut = any(span.begins <= ends and span.ends >= said.offered for span in spans)
        late = first.get(id, math.inf) - said.known
        if instant and not shut and late > patience and not _excused(facts, kept, begins, ends):
            yield title, late


def at_once(facts: Facts) -> Iterator[str]:
    """D8: at most 4 requests at once to a destination, 20 to a machine, 200 in all."""
    if facts.letters is None:
        return
    machines: defaultdict[str, list[Receipt]] = defaultdict(list)
    everyone: list[Receipt] = []
    for kept in facts.letters.destinations:
        there = [receipt for receipt in facts.letters.received(kept) if not _at_sea(facts, kept, receipt)]
        machines[kept.plan.host] += there
        everyone += there
        if (most := _crowd(there)) > MOST_TO_ONE:
            yield f"{kept.label} was sent {most} requests at once"
    for machine, there in machines.items():
        if (most := _crowd(there)) > MOST_TO_A_MACHINE:
            yield f"{machine} was sent {most} requests at once"
    if (most := _crowd(everyone)) > MOST_AT_ALL:
        yield f"{most} requests were under way at once"


def unhindered(facts: Facts) -> Iterator[str]:
    """D8: a healthy receiver does not wait for a slow one."""
    troubled = {fault.where for fault in facts.program.faults}
    if facts.letters is None or SERVICE in troubled or facts.program.steps or facts.program.endings:
        return
    for kept in facts.letters.destinations:
        if kept.plan.host not in troubled:
            for title, late in _dawdled(facts, kept, UNHINDERED):
                yield f"{title} reached {kept.label} {late:.1f} s after it was in the log"


def probing(facts: Facts) -> Iterator[str]:
    """D7: after 5 failures in a row, one request at a time."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        received = [each for each in facts.letters.received(kept) if not each.test and not each.unread]
        for number, receipt in enumerate(received):
            if any(_under_way(other, receipt.at) for other in received[max(0, number - 8) : number]):
                run = _failures_before(facts, kept, received[:number], receipt.at)
                if run >= FAILURES and not _at_sea(facts, kept, receipt):
                    yield f"{kept.label} was sent {receipt.id} beside another after {run} failures in a row"


def _failures_before(facts: Facts, kept: KeptDestination, received: Sequence[Receipt], at: float) -> int:
    """Return how many failures in a row the service must know of."""
    run = 0
    for receipt in reversed(received):
        if receipt.until > at - 1:
            if receipt.taken:
                return 0
            continue
        if receipt.taken or disturbed(facts, receipt.at - 1, at) or edited(kept, receipt.at - 1, at):
            break
        run += 1
    return run


def _under_way(receipt: Receipt, at: float) -> bool:
    return receipt.at <= at < min(receipt.until, receipt.at + ATTEMPT - 2)


def _crowd(receipts: Sequence[Receipt]) -> int:
    """Return the largest number of simultaneous requests."""
    turns = [(receipt.at, 1) for receipt in receipts]
    # A request that ends at the start of another does not overlap it.
    turns += [(min(receipt.until, receipt.at + ATTEMPT - 2), -1) for receipt in receipts]
    most = now = 0
    for _, change in sorted(turns):
        now += change
        most = max(most, now)
    return most


def _repeated(facts: Facts) -> Iterator[tuple[KeptDestination, int, Receipt, Receipt]]:
    """Yield each request that repeats another whose result the service surely knows."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        last: dict[str, Receipt] = {}
        for number, receipt in enumerate(facts.letters.received(kept)):
            before = last.get(receipt.id) if receipt.id else None
            if before is not None and before.until < receipt.at:
                calm = not disturbed(facts, before.at - 5, before.at + 60) and not edited(kept, before.at, receipt.at)
                clear = not any(_at_sea(facts, kept, each) for each in (before, receipt))
                if calm and clear and not stepped(facts, before.at - 60, receipt.at):
                    yield kept, number, receipt, before
            last[receipt.id] = receipt


def _excused(facts: Facts, kept: KeptDestination, begins: float, ends: float) -> bool:
    return (
        disturbed(facts, begins, ends)
        or edited(kept, begins, ends)
        or stepped(facts, begins, ends)
        or _faults(facts, kept, None, begins, ends)
    )


def _faults(facts: Facts, kept: KeptDestination, kinds: Sequence[str] | None, begins: float, ends: float) -> bool:
    there = [*facts.program.faults_at(kept.plan.host, kinds), *facts.program.faults_at(SERVICE, kinds)]
    return any(fault.at < ends and fault.ends > begins for fault in there)


def _at_sea(facts: Facts, kept: KeptDestination, receipt: Receipt) -> bool:
    """Return whether a request's beginning and end are invisible from outside."""
    around = receipt.at - 2 * ATTEMPT, receipt.at + 2 * ATTEMPT
    return _faults(facts, kept, AT_SEA, *around) or disturbed(facts, *around)


def _int(line: Any, name: str) -> int:
    return int(line[name])


def _moment(text: object) -> float:
    return datetime.fromisoformat(str(text)).timestamp()
