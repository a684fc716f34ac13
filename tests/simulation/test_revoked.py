"""The oracle of deleted keys: its accusations against a client, and their limits."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tests.simulation.clients import Connection
from tests.simulation.oracle.streams import CUT_WITHIN, revoked
from tests.simulation.program import SERVICE, Fault

ENDS, GONE = 1_000.0, 400.0


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
    facts: Any = SimpleNamespace(
        revoked={"client": [GONE]},
        connections={"client": [connection]},
        ends=ENDS,
        program=SimpleNamespace(key_check=1.0, faults=faults),
    )
    found = list(revoked(facts))
    assert len(found) == bool(says) and says in "".join(found)
