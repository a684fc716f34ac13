"""The deliveries that must arrive, and those that must not: D1.

An alert that changes while an event is on its way may be judged before or after; so an event is owed when every version
that may have been in force wants it, and must not come when none does. A user finally replays a disabled destination's
missed events, with the alert as it is then.
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
    """Return a function from a receipt to its event ids: messages for people have titles, each unique in a world.

    A title without an event in the log is used as the id.
    """
    ids = {logged.event["title"]: logged.event["id"] for logged in facts.log}

    def events(receipt: Receipt) -> Sequence[str]:
        if receipt.told is None:
            return contents(receipt.body)
        return [ids.get(title, title) for title in receipt.told.titles]

    return events


def owed(facts: Facts) -> Iterator[str]:
    """Yield the deliveries still owed, once users have mended everything."""
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
            # A digest for people gives the number of events it has no room for.
            if len(missing) > _left_out(letters.received(kept)):
                yield from (f"{id} ({title}) did not reach {kept.label}" for id, title in missing)


def promised(facts: Facts) -> Iterator[str]:
    """D1: every matched event is answered 2xx by each destination or listed as failed, and no other event comes."""
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
    """Return the events that are listed as failed deliveries, alone or in digests."""
    dead = frozenset(kept.dead)
    seen = (id for receipt in letters.received(kept) if receipt.id in dead for id in events(receipt))
    return {*dead, *seen}


def _untold(facts: Facts, kept: KeptDestination) -> bool:
    """Return whether the receiver never saw a failed digest: then its events are unknown here."""
    assert facts.letters is not None
    known = {receipt.id for receipt in facts.letters.received(kept)} | {logged.event["id"] for logged in facts.log}
    return any(id not in known for id in kept.dead)


def _left_out(receipts: Sequence[Receipt]) -> int:
    """Return how many events the accepted digests count but do not name; duplicates count once."""
    digests = {receipt.body: receipt.told.more for receipt in receipts if receipt.taken and receipt.told is not None}
    return sum(digests.values())


def wanted(facts: Facts, kept: KeptDestination, there: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the events that a destination must have got, except those in `there`."""
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
    # A user replays the events of a disabled time with the alert as it is then, paused or not.
    wishes = list(kept.alert.history.during(said.offered, math.inf if closed else until))
    return all(wish is not None and wish.wants(said.saying) for wish in wishes)


def _unwanted(facts: Facts, kept: KeptDestination, said: Said) -> bool:
    until = math.inf if kept.replays else settled(facts, said.known)
    for wish in kept.alert.history.during(said.offered, until):
        if wish is not None and (wish.wants(said.saying) or (kept.replays and _would(wish, said))):
            return False
    return True


def _would(wish: AlertState, said: Said) -> bool:
    """A replay works for a paused alert, too."""
    return replace(wish, enabled=True).wants(said.saying)
