"""The readable timeline of a simulation and its running hash: two runs are the same when their hashes are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import trio

DAY = 86_400.0


@dataclass(slots=True)
class Trace:
    """Lines of (virtual time, who, what).

    sink: gets every line as it is written. keep: how many of the newest lines to keep for printing.
    """

    sink: Callable[[str], None] | None = None
    keep: int = 200_000
    lines: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    written: int = 0
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    def note(self, who: str, what: str, **details: object) -> None:
        """Write a line. `what` is a short phrase that is also counted; details follow it."""
        now = trio.current_time()
        shown = "".join(f" {key}={value}" for key, value in details.items())
        line = f"{_clock(now)} {who:<14} {what}{shown}"
        self._hash.update(line.encode() + b"\n")
        self.counts[what] = self.counts.get(what, 0) + 1
        self.written += 1
        self.lines.append(line)
        if len(self.lines) > 2 * self.keep:
            del self.lines[: self.keep]
        if self.sink is not None:
            self.sink(line)

    @property
    def digest(self) -> str:
        """The SHA-256 of all lines so far, in hex."""
        return self._hash.hexdigest()


def _clock(now: float) -> str:
    """Show virtual seconds as day and time of day.

    >>> _clock(90061.5)
    'd01 01:01:01.500000'
    """
    day, rest = divmod(now, DAY)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"d{int(day):02d} {int(hours):02d}:{int(minutes):02d}:{seconds:09.6f}"
