"""The last checks along a time axis, and the next one. Pure.

The shapes are those of `ticks`, larger, and positions are to scale. So a slowing cadence, a rest after failures or a
night without checks is visible at a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from api.dashboard.sources.ticks import SHAPES, Sort, Tick, said, ticks
from storage.records.identity import Millis
from storage.records.trail import Row

WIDTH, HEIGHT, MARGIN = 640, 44, 8
SCALE: Final = 2
"""The scale relative to a tick in a list."""
FOOT: Final = 40
"""The baseline of the ticks, from the top."""


class Mark(NamedTuple):
    """A check: its position, its shape, and its tooltip."""

    x: float
    top: int
    length: int
    sort: Sort
    tick: Tick


class Timeline(NamedTuple):
    """The chart. now, following: the positions of these times; following is None without a next check."""

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
    """Return the chart of a source's last checks, or None before the first."""
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
