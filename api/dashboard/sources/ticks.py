"""The last checks as a row of ticks, each shaped by its result. Pure.

The shape carries the meaning; the colour repeats it. Unchanged is a low tick, an event a high one, an unreported change
one between them. A failure hangs from above. A check that politeness or our own connection prevented floats in the
middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from api.dashboard.language.speaking import noted, say, say_many
from storage.records.identity import Millis
from storage.records.trail import Row, Verdict

Sort = Literal["same", "untold", "news", "fail", "wait"]
SORTS: Final[dict[Verdict, Sort]] = {
    Verdict.UNCHANGED: "same",
    Verdict.CHANGED: "news",
    Verdict.NOTHING_TO_TELL: "untold",
    Verdict.REMOTE_TRANSIENT: "fail",
    Verdict.THROTTLED: "wait",
    Verdict.REMOTE_PERMANENT: "fail",
    Verdict.CONTENT: "fail",
    Verdict.LOCAL: "wait",
}
SHOWN: Final = 30
STEP, HEIGHT = 4, 16
SHAPES: Final[dict[Sort, tuple[int, int]]] = {
    "same": (11, 5),
    "untold": (6, 10),
    "news": (0, 16),
    "fail": (0, 9),
    "wait": (6, 4),
}
"""A tick's distance from the top, and its length."""
_WORDS: Final[dict[Sort, str]] = {
    "same": noted("%(count)s without news"),
    "untold": noted("%(count)s changed and not told"),
    "news": noted("%(count)s with news"),
    "fail": noted("%(count)s failed"),
    "wait": noted("%(count)s waited"),
}


class Tick(NamedTuple):
    """One check."""

    at: Millis
    sort: Sort
    row: Row


class Strip(NamedTuple):
    """Ticks as one path per result, and the sentence that says the same."""

    paths: tuple[tuple[Sort, str], ...]
    says: str
    width: int = SHOWN * STEP
    height: int = HEIGHT


def ticks(rows: Sequence[Row], count: int = SHOWN) -> list[Tick]:
    """Return the last checks, oldest first. Only the first and last of a row have exact times."""
    found: list[Tick] = []
    for row in reversed(rows):
        found += reversed(list(_each(row, count - len(found))))
        if len(found) >= count:
            break
    return found[::-1]


def _each(row: Row, most: int) -> Iterator[Tick]:
    """Yield a row's last checks, oldest first, spread evenly over its period."""
    step = (row.last_at - row.first_at) / max(1, row.looks - 1)
    for number in range(max(0, row.looks - most), row.looks):
        yield Tick(Millis(round(row.first_at + number * step)), SORTS[row.verdict], row)


def strip(rows: Sequence[Row]) -> Strip:
    """Return the last checks for a table's row, the newest at the right."""
    shown = ticks(rows)
    paths: dict[Sort, str] = {}
    for place, tick in enumerate(shown, SHOWN - len(shown)):
        top, length = SHAPES[tick.sort]
        paths[tick.sort] = f"{paths.get(tick.sort, '')}M{place * STEP + 1.5:g} {top}v{length}"
    return Strip(tuple(paths.items()), said(shown))


def said(shown: Sequence[Tick]) -> str:
    """Return a sentence that counts the checks by result."""
    if not shown:
        return say("No look yet")
    counts = ((sum(tick.sort == sort for tick in shown), words) for sort, words in _WORDS.items())
    parts = ", ".join(say(words, count=count) for count, words in counts if count)
    return say_many("The last look: %(parts)s", "The last %(count)s looks: %(parts)s", len(shown), parts=parts)
