"""The oracle of deleted keys: its accusations against a client, and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tests.simulation.clients import Connection
from tests.simulation.oracle.streams import CUT_WITHIN, revoked
from tests.simulation.program import SERVICE, Fault, NodeTrouble

ENDS, GONE = 1_000.0, 400.0
EVERY = 60.0
ONCE, TWICE = (GONE + rounds * EVERY + CUT_WITHIN for rounds in (1, 2))


@pytest.mark.parametrize(
    ("key", "at", "until", "faults", "says"),
    [
        (0, GONE + CUT_WITHIN + 1, ENDS, (), "has opened a stream 6 s after"),
        (0, GONE - 9, ENDS, (), "goes on although its key was deleted"),
        (0, GONE - 9, GONE + 1, (), ""),
        (1, GONE + 100, ENDS, (), ""),
        (1, ENDS + 18, ENDS + 30, (), ""),
        (0, GONE - 9, GONE + 90, [Fault(GONE + 3, 200, "partition", SERVICE)], ""),
        (0, GONE - 9, GONE + 90, [Fault(GONE + 3, 20, "partition", SERVICE)], "goes on although its key was deleted"),
        (0, GONE - 9, GONE + 90, [Fault(GONE + 60, 200, "partition", SERVICE)], "goes on although its key was deleted"),
    ],
)
def test_only_a_deleted_key_is_held_against_a_client(
    key: int, at: float, until: float, faults: Sequence[Fault], says: str
) -> None:
    """A client that came back with a good key after the end of a world was once accused of a deleted one."""
    connection = Connection(at, key)
    connection.until = until
    found = accusations(connection, SimpleNamespace(key_check=1.0, faults=faults, troubles=()))
    assert len(found) == bool(says) and says in "".join(found)


@pytest.mark.parametrize(
    ("until", "troubles", "faults", "accused"),
    [
        (ONCE + 1, [], [], True),
        (ONCE + 1, [NodeTrouble(GONE + 20, 0, "outage", 10)], [], False),
        (ONCE + 1, [NodeTrouble(GONE + 20, 1, "stuck", 10)], [], False),
        (ONCE + 1, [], [Fault(GONE + 20, 10, "disk errors", SERVICE)], False),
        (TWICE - 1, [NodeTrouble(GONE + 20, 0, "cut", 10)], [], False),
        (TWICE + 1, [NodeTrouble(GONE + 20, 0, "cut", 10)], [], True),
        (TWICE + 1, [NodeTrouble(GONE + 20, 0, "cut", 100)], [], True),
        (ONCE + 1, [NodeTrouble(GONE - 20, 0, "outage", 10)], [], True),
        (ONCE + 1, [NodeTrouble(ONCE + 0.5, 0, "outage", 10)], [], True),
        (ONCE + 1, [NodeTrouble(GONE + 20, 0, "kill", 10)], [], True),
        (ONCE + 1, [], [Fault(GONE + 20, 10, "disk full", SERVICE)], True),
    ],
)
def test_trouble_of_the_storage_allows_one_more_check(
    until: float, troubles: Sequence[NodeTrouble], faults: Sequence[Fault], accused: bool
) -> None:
    """Seed 186 of the nodes: the keys' only check in 300 s fell into an outage."""
    connection = Connection(GONE - 9, 0)
    connection.until = until
    found = accusations(connection, SimpleNamespace(key_check=EVERY, faults=faults, troubles=troubles))
    assert bool(found) == accused


def accusations(connection: Connection, program: SimpleNamespace) -> list[str]:
    facts: Any = SimpleNamespace(
        revoked={"client": [GONE]}, connections={"client": [connection]}, ends=ENDS, program=program
    )
    return list(revoked(facts))
