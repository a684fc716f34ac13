"""The promises of a stream to a client that holds a cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.simulation.clients import Connection, Taken, position
from tests.simulation.facts import Facts, Logged
from tests.simulation.program import SERVICE, Wish

AT_ONCE = 60.0
"""Virtual seconds until an event reaches every connected client, without faults; mute commits may occur."""
CUT_WITHIN = 5.0
"""Virtual seconds until the service's last bytes reach a client, plus the interval of key checks."""

UNREAD = ("freeze", "stuck", "cut", "outage")
"""Troubles of a node that may keep it from reading the keys."""


def wants(facts: Facts, name: str, logged: Logged) -> bool:
    """Return whether an event passes a client's filters."""
    wish = next(plan.wish for plan in facts.program.clients if plan.name == name)
    return wish == Wish() or _passes(facts, wish, logged)


def cursors(facts: Facts) -> Iterator[str]:
    """A client gets the log from its first event on, filtered as requested, without gap or repetition, unless the
    service reports a gap.
    """
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    for name, taken in facts.taken.items():
        ids = [logged.event["id"] for logged in facts.log if wants(facts, name, logged)]
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


def prompt(facts: Facts) -> Iterator[str]:
    """A client that is connected and reads gets each new event at once."""
    if facts.program.steps or facts.program.season:
        return  # with a clock that is set, the times of events are unknown
    for plan in facts.program.clients:
        got = {taken.id: taken.at for taken in facts.taken.get(plan.name, ())} if not plan.rests else {}
        for connection in facts.connections.get(plan.name, ()) if got else ():
            for logged in facts.log:
                if _calm(facts, connection, logged.at) and wants(facts, plan.name, logged):
                    late = got.get(logged.event["id"], facts.ends) - logged.at
                    if late > AT_ONCE:
                        yield f"{plan.name} is given {logged.event['id']} {late:.0f} s after it came"


def revoked(facts: Facts) -> Iterator[str]:
    """A client with a deleted key gets nothing more, and opens nothing."""
    for name, gone in facts.revoked.items():
        for connection in facts.connections.get(name, ()):
            if connection.key >= len(gone):
                continue  # never deleted
            over = gone[connection.key]
            if connection.at > over + CUT_WITHIN:
                yield f"{name} has opened a stream {connection.at - over:.0f} s after its key was deleted"
            elif min(connection.until, facts.ends) > (due := _due(facts, over)):
                if _partitioned(facts, due, connection.until):
                    continue  # its end cannot reach the client
                yield f"{name} has a stream that goes on although its key was deleted at {over:.0f} s"


def _due(facts: Facts, over: float) -> float:
    """Return when the streams of a key deleted at a moment must have ended.

    A check of the keys that cannot read the storage is made again in the next round, and in no later one.
    """
    program = facts.program
    due = over + program.key_check + CUT_WITHIN
    troubles = [trouble for trouble in program.troubles if trouble.kind in UNREAD]
    troubles += [fault for fault in program.faults if (fault.kind, fault.where) == ("disk errors", SERVICE)]
    unread = any(trouble.at < due and trouble.ends > over for trouble in troubles)
    return due + program.key_check if unread else due


def _partitioned(facts: Facts, due: float, until: float) -> bool:
    """Return whether nothing could reach the clients between a moment and the end of a connection."""
    faults = (fault for fault in facts.program.faults if (fault.kind, fault.where) == ("partition", SERVICE))
    return any(fault.at < due and until < fault.ends + CUT_WITHIN for fault in faults)


def _calm(facts: Facts, connection: Connection, at: float) -> bool:
    """Return whether a connection gets an event of this moment at once."""
    late = at + AT_ONCE
    return (
        connection.at < at
        and late < min(connection.until, facts.ends)
        and not facts.restless(at - 1, late, but=("disk mute",))
    )


def _passes(facts: Facts, wish: Wish, logged: Logged) -> bool:
    event, added = logged.event, facts.added.get(wish.source)
    if wish.source and (added is None or event["source_id"] != added.id):
        return False
    if wish.word and ("alert_type" in event or wish.word not in f"{event['title']} {event['content']}".lower()):
        return False
    return not wish.tier or bool(event["source_type"] == wish.tier)


def _joined(name: str, taken: Sequence[Taken], ids: Sequence[str]) -> Iterator[str]:
    """Yield gaps between a client's received events and the log."""
    got = [event.id for event in taken]
    if got[0] not in ids:
        yield f"{name} was given {got[0]}, which is not in the log, or which it has not asked for"
        return
    first = ids.index(got[0])
    expected = ids[first : first + len(got)]
    wrong = next((n for n, (had, due) in enumerate(zip(got, expected, strict=False)) if had != due), None)
    if wrong is not None:
        yield f"{name} was given {got[wrong]} where {expected[wrong]} was due, as its event {wrong}"
    elif len(expected) < len(got):
        yield f"{name} was given {got[len(expected)]}, which is not in the log"
