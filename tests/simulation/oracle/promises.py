"""All promises by name, and the verdict on a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from tests.simulation.facts import Facts
from tests.simulation.oracle import (
    coverage,
    delivering,
    epilogues,
    feeds,
    heartbeats,
    lists,
    log,
    nodes,
    notices,
    pages,
    pictures,
    politeness,
    scenes,
    sessions,
    standby,
    streams,
    traces,
    watching,
)
from tests.simulation.oracle.letters import attempts, digests, pace, standing, wanted
from tests.simulation.oracle.letters import feeds as subscribed


@dataclass(frozen=True, slots=True)
class Violation:
    promise: str
    what: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.what}"


def judge(facts: Facts) -> list[Violation]:
    """Return every broken promise, with a sentence each."""
    return [Violation(promise, what) for promise, check in PROMISES.items() for what in check(facts)]


def seen_broken(facts: Facts, letters: Collection[str]) -> list[Violation]:
    """Return the violations of some promises that are certain before the world is over."""
    return [
        Violation(promise, what)
        for promise, check in PROMISES.items()
        if promise.split()[0] in letters and promise.split()[0] not in LATE
        for what in check(facts)
    ]


LATE = frozenset(("L2", "H1", "P6", "N1"))
"""The letters of promises that depend on the final answers, or on later events."""


def _stuck(facts: Facts) -> Iterator[str]:
    yield from facts.overdue
    yield from facts.deaf


def _answered(facts: Facts) -> Iterator[str]:
    yield from facts.untrue
    for titled in facts.titled:
        if titled.after < titled.before and not facts.reborn(titled.at, titled.until):
            yield f"{titled.url} had a check at {titled.before}; with a title at {titled.until:.0f}, at {titled.after}"


PROMISES: dict[str, Callable[[Facts], Iterator[str]]] = {
    "T3 nobody is stuck": _stuck,
    "A1 what was answered is true": _answered,
    "L1 ids increase in commit order": log.order,
    "L2 every event verifies": log.signed,
    "L3 no frame is told twice": log.twice,
    "L4 no frame is told that nobody wants": log.admitted,
    "L5 what is deleted is silent": log.buried,
    "R1 a cursor never misses": streams.cursors,
    "R2 who is connected hears at once": streams.prompt,
    "K1 a deleted key opens nothing": streams.revoked,
    "D1 what is delivered is what is in the log": delivering.deliveries,
    "D1 nothing is lost, and nothing else comes": wanted.promised,
    "D2 one id has one body": attempts.same,
    "D5 one event, one id": attempts.known,
    "D3 each attempt is signed anew": attempts.fresh,
    "D4 retries keep to the schedule": pace.schedule,
    "D4 no retry too soon": pace.obliging,
    "D5 who has taken it is left alone": pace.satisfied,
    "D5 gone is gone": standing.gone,
    "D6 disabled for a reason": standing.disabled,
    "D6 told once": standing.told,
    "D6 not about itself": standing.own,
    "D7 oldest first": pace.order,
    "D7 nobody waits for older ones": pace.prompt,
    "D7 one at a time while it fails": pace.probing,
    "D8 so many at once": pace.at_once,
    "D8 nobody waits for the slow": pace.unhindered,
    "D10 in one digest": digests.once,
    "D10 digests for people count": digests.counted,
    "D10 digests are whole": digests.whole,
    "D10 windows follow the clock": digests.aligned,
    "D10 digests and nothing else": attempts.fitting,
    "D11 secrets sign while they are in force": attempts.signed,
    "D12 tests look like deliveries": attempts.alike,
    "D13 attempts are listed as they were": attempts.listed,
    "S1 the hub signs": subscribed.signed,
    "S2 the hub tells once": subscribed.once,
    "S3 the hub tells whom it may": subscribed.ended,
    "S4 all pages have each event once": subscribed.pages,
    "Q1 quiet hours": attempts.silent,
    "Q2 the deleted are left alone": attempts.ended,
    "W1 a page's change is told once": pages.once,
    "W2 churn, walls and flaps are not told": pages.real,
    "W3 deltas fit together": pages.chain,
    "M1 what a reader wants to hear": scenes.wanted,
    "M2 what a return is": scenes.returned,
    "M3 all deltas give what was told": scenes.rebuilt,
    "I1 an item is told once": lists.once,
    "I2 an item has its own text": lists.own,
    "I3 pages are fetched within the budget": lists.within,
    "J1 a session is lost by nothing but its window": sessions.kept,
    "J2 a cookie stays at its origin": sessions.home,
    "G1 a picture shows its event": pictures.fitting,
    "G2 a picture goes with its event": pictures.gone,
    "U1 what is left out is silent": pages.left_out,
    "W4 an entry is told once": feeds.once,
    "W5 what is told was published": feeds.genuine,
    "W6 a reset is told once": feeds.reset,
    "W10 what a reset holds is kept": feeds.kept,
    "N1 a failing source is told in time": notices.in_time,
    "N2 once for each trouble, and its end": notices.once,
    "W7 never hours": watching.cadence,
    "W8 the watching does not stall": watching.stalled,
    "W9 a dead connection is given up": watching.half_open,
    "P1 one request a second": politeness.rate,
    "P2 two requests at once": politeness.at_once,
    "P3 Crawl-delay": politeness.crawl_delay,
    "P4 Retry-After holds": politeness.retry_after,
    "P7 who throttles is asked less": politeness.patience,
    "P5 robots.txt is obeyed": politeness.robots,
    "P6 an unchanged feed costs a 304": politeness.conditional,
    "P8 an empty page is asked for whole": politeness.whole,
    "X1 only public addresses are called": politeness.guarded,
    "X3 validators stay with who gave them": politeness.own_validators,
    "B1 back within 36 minutes": watching.recovery,
    "B3 nobody is blamed for our outage": watching.blameless,
    "F10 no stampede after an outage": watching.spread,
    "O1 one node asks a host": nodes.one_asks,
    "O2 nobody is put out without a reason": nodes.put_out,
    "O3 who has left is out": nodes.left,
    "O4 who is cut off asks nobody": nodes.parked,
    "C1 no look is claimed that was not made": coverage.claimed,
    "C2 no known time without a look is hidden": coverage.gaps,
    "C3 what was looked at in a known time is on record": coverage.on_record,
    "C4 nothing is unknown without a reason": coverage.reasons,
    "C5 receipts verify, and are small": coverage.receipts,
    "E1 each heartbeat names the one before": heartbeats.chain,
    "E2 no heartbeat is late by more than an interval": heartbeats.late,
    "E3 no heartbeat comes before it is due": heartbeats.early,
    "Y1 a span is of what was made": traces.made,
    "Y2 a delivery is in the trace of its look": traces.belongs,
    "Y3 a trace is kept as a whole or not at all": traces.whole,
    "R10 damage is said everywhere": epilogues.damage,
    "V1 after a restore nothing is given twice": epilogues.restored,
    "V2 a take-over keeps what was promised": epilogues.taken_over,
    "Z1 a copy is a committed state": standby.committed,
    "Z2 a standby knows how far it is": standby.honest,
    "Z3 a copy is fresh": standby.fresh,
    "H1 quiet is healthy": watching.quiet,
}
"""By short name; the letters are those of the project's numbered statements where it has them."""
