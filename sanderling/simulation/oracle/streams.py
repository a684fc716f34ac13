"""What a stream promises to whoever holds a cursor."""

from __future__ import annotations

from collections.abc import Iterator

from sanderling.simulation.facts import Facts


def cursors(facts: Facts) -> Iterator[str]:
    """A client gets the log from its first event on, without gap or repetition."""
    ids = [logged.event["id"] for logged in facts.log]
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    for name, taken in facts.taken.items():
        if not taken:
            continue
        got = [event.id for event in taken]
        if got[0] not in bodies:
            yield f"{name} was given {got[0]}, which is not in the log"
            continue
        first = ids.index(got[0])
        expected = ids[first : first + len(got)]
        wrong = next((n for n, (had, due) in enumerate(zip(got, expected, strict=False)) if had != due), None)
        if wrong is not None:
            yield f"{name} was given {got[wrong]} where {expected[wrong]} was due, as its event {wrong}"
        elif len(expected) < len(got):
            yield f"{name} was given {got[len(expected)]}, which is not in the log"
        yield from (
            f"{name}: other bytes than the log's for {e.id}" for e in taken if bodies.get(e.id, e.body) != e.body
        )
