"""The deliveries that must arrive, and those that must not: D1.

A rule that changes while an event is on its way may be judged before or after; so an event is owed when every version
that may have been in force wants it, and must not come when none does. What a destination missed while it was disabled
is replayed by its user at the end, by the alert of then.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache

from tests.simulation.delivery_plans import AlertState
from tests.simulation.delivery_records import KeptDestination, Letters, Receipt, Said, Span
from tests.simulation.facts import Facts
from tests.simulation.oracle.letters.clock import settled


@cache
def contents(body: bytes) -> tuple[str, ...]:
    """Return the ids of the events in a delivery."""
    document = json.loads(body)
    events = document.get("events", [document])
    return tuple(event["id"] for event in events)


def events_in(facts: Facts) -> Callable[[Receipt], Sequence[str]]:
    """Return what tells the ids of the events in a delivery: people are told titles, of which each is there once.

    A title that no event of the log has stands for itself.
    """
    ids = {logged.event["title"]: logged.event["id"] for logged in facts.log}

    def events(receipt: Receipt) -> Sequence[str]:
        if receipt.told is None:
            return contents(receipt.body)
        return [ids.get(title, title) for title in receipt.told.titles]

    return events


def owed(facts: Facts) -> Iterator[str]:
    """Yield what must still arrive, once users have put all right."""
    letters = facts.letters
    if letters is None:
        return
    if not letters.right:
        yield "the keeper has not yet put all right"
        return
    for kept in letters.destinations:
        events = events_in(facts)
        there = _arrived(letters, kept, events) | _dead(letters, kept, events)
        if not _untold(facts, kept):
            missing = list(wanted(facts, kept, there))
            # A digest for people says of how many events it has no room to tell.
            if len(missing) > _left_out(letters.received(kept)):
                yield from (f"{id} ({title}) did not reach {kept.label}" for id, title in missing)


def promised(facts: Facts) -> Iterator[str]:
    """D1: every matched event is answered 2xx by each destination or given up visibly, and no other event comes."""
    letters = facts.letters
    if letters is None:
        return
    yield from letters.wrong
    titles = {logged.event["id"]: logged.event["title"] for logged in facts.log}
    events = events_in(facts)
    for kept in letters.destinations:
        strange = dict.fromkeys(id for receipt in letters.received(kept) if not receipt.test for id in events(receipt))
        for id in strange:
            if id not in titles:
                yield f"{kept.label} was given {id}, which is not in the log"
            elif (said := letters.said.get(titles[id])) is not None and _unwanted(facts, kept, said):
                yield f"{kept.label} was given {id} ({titles[id]}), which its alert never wanted"


def _arrived(letters: Letters, kept: KeptDestination, events: Callable[[Receipt], Sequence[str]]) -> set[str]:
    return {id for receipt in letters.received(kept) if receipt.taken for id in events(receipt)}


def _dead(letters: Letters, kept: KeptDestination, events: Callable[[Receipt], Sequence[str]]) -> set[str]:
    """Return the events that are in the list of what was given up, alone or in digests."""
    dead = frozenset(kept.dead)
    seen = (id for receipt in letters.received(kept) if receipt.id in dead for id in events(receipt))
    return {*dead, *seen}


def _untold(facts: Facts, kept: KeptDestination) -> bool:
    """Whether a digest was given up of which the receiver saw nothing: nobody here knows what was in it."""
    assert facts.letters is not None
    known = {receipt.id for receipt in facts.letters.received(kept)} | {logged.event["id"] for logged in facts.log}
    return any(id not in known for id in kept.dead)


def _left_out(receipts: Sequence[Receipt]) -> int:
    """Return how many events the digests that were taken count and do not name; one that is repeated counts once."""
    digests = {receipt.body: receipt.told.more for receipt in receipts if receipt.taken and receipt.told is not None}
    return sum(digests.values())


def wanted(facts: Facts, kept: KeptDestination, there: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the events that a destination must have got, but for those that are `there`."""
    letters = facts.letters
    assert letters is not None
    if not kept.id or kept.gone < math.inf:
        return
    shut = list(kept.shut(letters.received(kept)))
    for logged in facts.log:
        if logged.event["id"] in there:
            continue
        said = letters.said.get(logged.event["title"])
        if said is not None and _must(facts, kept, shut, said):
            yield logged.event["id"], logged.event["title"]


def _must(facts: Facts, kept: KeptDestination, shut: list[Span], said: Said) -> bool:
    until = settled(facts, said.known)
    versions = list(kept.history.during(said.offered, until))
    if any(state is None for state in versions):
        return False
    closed = any(state is not None and not state.enabled for state in versions) or any(
        span.begins <= until and span.ends >= said.offered for span in shut
    )
    # What came while it was shut is replayed, by the alert as it is then, whether it is enabled or not.
    wishes = list(kept.alert.history.during(said.offered, math.inf if closed else until))
    return all(wish is not None and wish.wants(said.saying) for wish in wishes)


def _unwanted(facts: Facts, kept: KeptDestination, said: Said) -> bool:
    until = math.inf if kept.replays else settled(facts, said.known)
    for wish in kept.alert.history.during(said.offered, until):
        if wish is not None and (wish.wants(said.saying) or (kept.replays and _would(wish, said))):
            return False
    return True


def _would(wish: AlertState, said: Said) -> bool:
    """A replay asks the alert whether it is enabled or not."""
    return replace(wish, enabled=True).wants(said.saying)
