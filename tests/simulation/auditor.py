"""An auditor that requests coverage receipts at the end: of each source's whole time and of parts of it."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.simulation.clients import AddedSource
from tests.simulation.origins.texts import EPOCH

WINDOWS = 5
"""Parts of the time to request for each source."""
SHORTEST, LONGEST = 900.0, 6 * 3600.0
BEFORE = 3600.0
"""The earliest requested time, in seconds before the world's beginning."""


@dataclass(frozen=True, slots=True)
class Audited:
    """A receipt. url: of the source. at: time of the request, in seconds since the world began. text: its bytes."""

    url: str
    at: float
    receipt: Mapping[str, Any]
    size: int

    def span(self, what: Mapping[str, Any] | None = None) -> tuple[float, float]:
        """Return a time span in it, by the service's clock, in seconds since the world began."""
        span = self.receipt if what is None else what
        return moment(span["from"]), moment(span["to"])


def moment(text: str) -> float:
    """Return a moment in seconds since the world began."""
    return datetime.fromisoformat(text).timestamp() - EPOCH


async def audit(
    added: Mapping[str, AddedSource],
    learn: Callable[[str], Awaitable[Any]],
    dice: random.Random,
    wall: Callable[[], float],
    sizes: Callable[[Any], int],
) -> list[Audited]:
    """Request receipts and return them. wall: the service's clock, in seconds since the world began."""
    found: list[Audited] = []
    for url, source in added.items():
        for start, end in _windows(dice, wall()):
            query = f"from={_text(start)}&to={_text(end)}"
            receipt = await learn(f"/v1/sources/{source.id}/coverage?{query}")
            if receipt is not None:
                found.append(Audited(url, wall(), receipt, sizes(receipt)))
    return found


def _windows(dice: random.Random, now: float) -> Iterator[tuple[float, float]]:
    """Yield the whole time and parts of it, from before the world began: the clock may have been set back further."""
    first = min(0.0, now) - BEFORE
    yield first, now
    for _ in range(WINDOWS):
        start = dice.uniform(first, now - SHORTEST)
        yield start, start + dice.uniform(SHORTEST, LONGEST)


def _text(at: float) -> str:
    return datetime.fromtimestamp(EPOCH + at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
