"""A world of small limits: mailboxes, pages, the ring of the newest events, the log's retention, and the bytes under
way to a client.

Events that take a user ten thousand events happen here every few minutes: a reader falls behind the ring and is
overtaken by retention, a batch finds the matcher's mailbox full, a page ends in the middle of a request.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from actors import matcher as matching
from actors import parts
from actors.recorder import pruner
from api.streams import reader
from extras.publish import newest
from storage.records.identity import Millis
from storage.retention import Keep
from storage.tail import Tail
from supervision import Mailbox
from tests.simulation import wire

KEPT = 40
"""Events that the log keeps."""
_BOUND, _RING, _PAGE = 2, 16, 5


@contextmanager
def keeping(events: int) -> Iterator[None]:
    """Within the block, let the log keep so many events, and prune it each minute."""

    def little(age: Millis, most: int, size: int | None) -> Keep:
        return Keep(age, min(most, events), size)

    with patch.object(pruner, "Keep", little), patch.object(pruner, "ROUND", 60.0):
        yield


@contextmanager
def paging() -> Iterator[None]:
    """Within the block, let a publication's page have few events."""
    with patch.object(newest, "MOST", _PAGE):
        yield


@contextmanager
def tightness() -> Iterator[None]:
    """Make everything small for the length of the block."""
    with ExitStack() as stack:
        for room, name, value in (
            (parts, "Mailbox", _small),
            (pruner, "Keep", _little),
            (pruner, "ROUND", 60.0),
            (matching, "PAGE", _PAGE),
            (matching, "MOST_EVENTS", _PAGE),
            (matching, "MOST_ROWS", 1),
            (reader, "PAGE", _PAGE),
            (reader, "MOST", _PAGE),
            (reader, "FEWEST", _PAGE),
            (wire, "ROOM", 4 << 10),
            (Tail.__init__, "__kwdefaults__", {"most": _RING, "most_bytes": 64 << 20}),
        ):
            stack.enter_context(patch.object(room, name, value))
        yield


def _little(age: Millis, events: int, size: int | None) -> Keep:
    return Keep(age, min(events, KEPT), size)


def _small(name: str, bound: int) -> Mailbox[Any]:
    return Mailbox(name, min(bound, _BOUND))
