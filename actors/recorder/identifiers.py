"""Positions and UUIDv7s, strictly increasing in commit order, across restarts and backward clock steps.

RFC 9562 section 6.2, method 1: milliseconds, then a counter of 15 bits. The time part never decreases, whatever the
wall clock shows; a full counter borrows the next millisecond. A new millisecond starts its counter low, but not at
zero, so that ids cannot be guessed from their time. `storage.records.identity` has the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

from storage.records.identity import COUNTER_BITS, START, Millis, Seq, id_of

_TAIL_BITS = 59
_FRESH_BITS = 8


class Identifiers:
    """Mints positions and ids; `bits(n)` gives n random bits.

    Called only inside the engine's transaction, so the order of minting is the order of commit.
    """

    def __init__(self, now: Callable[[], Millis], bits: Callable[[int], int]) -> None:
        self._now = now
        self._bits = bits
        self._last: Seq = START

    def raise_floor(self, floor: Seq) -> None:
        """Mint only above `floor` from now on."""
        self._last = max(self._last, floor)

    def mint(self) -> tuple[Seq, str]:
        """Return the next position and its id."""
        now = self._now()
        if now > self._last >> COUNTER_BITS:
            self._last = Seq(now << COUNTER_BITS | self._bits(_FRESH_BITS))
        else:
            self._last = Seq(self._last + 1)
        return self._last, id_of(self._last, self._bits(_TAIL_BITS))

    def __repr__(self) -> str:
        return f"Identifiers(last={self._last})"
