"""The oracle of deleted keys: what it holds against a client, and what it does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.simulation.clients import Connection
from tests.simulation.oracle.streams import CUT_WITHIN, revoked

ENDS, GONE = 1_000.0, 400.0


@pytest.mark.parametrize(
    ("key", "at", "until", "says"),
    [
        (0, GONE + CUT_WITHIN + 1, ENDS, "has opened a stream 6 s after"),
        (0, GONE - 9, ENDS, "goes on although its key was deleted"),
        (0, GONE - 9, GONE + 1, ""),
        (1, GONE + 100, ENDS, ""),
        (1, ENDS + 18, ENDS + 30, ""),
    ],
)
def test_only_a_deleted_key_is_held_against_a_client(key: int, at: float, until: float, says: str) -> None:
    """A client that came back with a good key after the end of a world was once told to have a deleted one."""
    connection = Connection(at, key)
    connection.until = until
    facts: Any = SimpleNamespace(
        revoked={"client": [GONE]},
        connections={"client": [connection]},
        ends=ENDS,
        program=SimpleNamespace(key_check=1.0),
    )
    found = list(revoked(facts))
    assert len(found) == bool(says) and says in "".join(found)
