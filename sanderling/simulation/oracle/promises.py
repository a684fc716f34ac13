"""All promises by name, and the verdict on a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sanderling.simulation.facts import Facts
from sanderling.simulation.oracle import delivering, log, streams, watching


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise."""

    promise: str
    what: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.what}"


def judge(facts: Facts) -> list[Violation]:
    """Return every promise that was broken, with a sentence each."""
    return [Violation(promise, what) for promise, check in PROMISES.items() for what in check(facts)]


def _stuck(facts: Facts) -> Iterator[str]:
    yield from facts.overdue
    yield from facts.deaf


PROMISES: dict[str, Callable[[Facts], Iterator[str]]] = {
    "nobody is stuck": _stuck,
    "nothing is emitted twice": log.twice,
    "nothing is invented": log.invented,
    "ids increase in commit order": log.order,
    "every event verifies": log.signed,
    "a cursor never misses": streams.cursors,
    "a page's event tells a change": watching.pages,
    "what is delivered is what is in the log": delivering.deliveries,
    "politeness": watching.politeness,
    "never hours": watching.cadence,
    "quiet is healthy": watching.health,
}
