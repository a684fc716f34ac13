"""What a stream promises to whoever holds a cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sanderling.simulation.clients import Taken, position
from sanderling.simulation.facts import Facts


def cursors(facts: Facts) -> Iterator[str]:
    """A client gets the log from its first event on, without gap or repetition, unless it is told that there is one."""
    ids = [logged.event["id"] for logged in facts.log]
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    for name, taken in facts.taken.items():
        cuts = facts.expired.get(name, ())
        for index, floor in cuts:
            if index and position(taken[index - 1].id) >= floor:
                yield f"{name} was told that the log has lost what comes after {taken[index - 1].id}, which it has not"
        ends = [index for index, _ in cuts]
        for begins, over in pairwise(dict.fromkeys((0, *ends, len(taken)))):
            yield from _joined(name, taken[begins:over], ids)
        yield from (
            f"{name}: other bytes than the log's for {e.id}" for e in taken if bodies.get(e.id, e.body) != e.body
        )


def _joined(name: str, taken: Sequence[Taken], ids: Sequence[str]) -> Iterator[str]:
    """Yield where a part of what a client took is not a part of the log."""
    got = [event.id for event in taken]
    if got[0] not in ids:
        yield f"{name} was given {got[0]}, which is not in the log"
        return
    first = ids.index(got[0])
    expected = ids[first : first + len(got)]
    wrong = next((n for n, (had, due) in enumerate(zip(got, expected, strict=False)) if had != due), None)
    if wrong is not None:
        yield f"{name} was given {got[wrong]} where {expected[wrong]} was due, as its event {wrong}"
    elif len(expected) < len(got):
        yield f"{name} was given {got[len(expected)]}, which is not in the log"
