"""The last looks along a line of time, and where the next one is. Pure.

The same shapes as in `ticks`, larger. What lies far apart in time lies far apart here, so a cadence that slows down, a
rest after failures or a night without looks is seen at a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from api.dashboard.sources.ticks import SHAPES, Sort, Tick, said, ticks
from storage.records.identity import Millis
from storage.records.trail import Row

WIDTH, HEIGHT, MARGIN = 640, 44, 8
SCALE: Final = 2
"""Times the size of a tick in a list."""
FOOT: Final = 40
"""Where the ticks stand, from above."""


class Mark(NamedTuple):
    """A look: where it stands, its shape, and what is said of it on hover."""

    x: float
    top: int
    length: int
    sort: Sort
    tick: Tick


class Timeline(NamedTuple):
    """The picture. now, following: where these moments are; following None: there is no next look."""

    marks: tuple[Mark, ...]
    begins: Millis
    ends: Millis
    now: float
    following: float | None
    says: str
    width: int = WIDTH
    height: int = HEIGHT
    foot: int = FOOT


def timeline(rows: Sequence[Row], now: Millis, following: Millis | None) -> Timeline | None:
    """Return the picture of a source's last looks; None before the first."""
    shown = ticks(rows)
    if not shown:
        return None
    begins, ends = shown[0].at, max(now, following or now, shown[-1].at)
    room = max(1, ends - begins)

    def place(at: Millis) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (at - begins) / room, 1)

    marks = tuple(_mark(place(tick.at), tick) for tick in shown)
    due = None if following is None else place(max(following, begins))
    return Timeline(marks, begins, ends, place(min(max(now, begins), ends)), due, said(shown))


def _mark(x: float, tick: Tick) -> Mark:
    top, length = SHAPES[tick.sort]
    return Mark(x, FOOT - SCALE * (16 - top), SCALE * length, tick.sort, tick)
