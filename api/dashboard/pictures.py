"""Small charts as numbers, for the macros that draw them in SVG. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Figure = float | int


class Line(NamedTuple):
    """A line chart: its points in SVG syntax."""

    points: str
    width: int
    height: int


class Steps(NamedTuple):
    """A step chart: its path in SVG syntax, and the start and label of each value."""

    path: str
    marks: Sequence[tuple[float, float, str]]
    width: int
    height: int


class Bar(NamedTuple):
    """A bar with its label, in the chart's own units."""

    x: float
    y: float
    width: float
    height: float
    label: str


def line(values: Sequence[Figure], width: int = 96, height: int = 20) -> Line:
    """Return a line through values from left to right, the largest at the top and 0 at the bottom.

    >>> line([0, 5, 10], 10, 4).points
    '0.0,3.0 5.0,2.0 10.0,1.0'
    """
    top, room = max([*values, 1]), height - 2
    step = width / max(1, len(values) - 1)
    points = (f"{at * step:.1f},{height - 1 - room * value / top:.1f}" for at, value in enumerate(values))
    return Line(" ".join(points), width, height)


def steps(
    values: Sequence[Figure],
    starts: Sequence[Figure],
    end: Figure,
    labels: Sequence[str],
    size: tuple[int, int],
    *,
    gone: Mapping[int, Figure] = {},
) -> Steps:
    """Return steps that hold from their starts on, the last until `end`, the lowest at the bottom. gone: by a value's
    index, where it ends before the next one begins.

    >>> steps([1, 3], [0, 5], 10, ["a", "b"], (100, 12)).path
    'M0 11H50V1H100'
    >>> steps([1, 3], [0, 5], 10, ["a", "b"], (100, 12), gone={0: 2, 1: 6}).path
    'M0 11H20M50 1H60'
    """
    low, high, first, (width, height) = min(values), max(values), starts[0], size
    across = width / max(1, end - first)
    up = (height - 2) / (high - low) if high > low else 0
    placed = [
        (round((start - first) * across, 1), round(height - 1 - (value - low) * up, 1) if up else height / 2)
        for value, start in zip(values, starts, strict=True)
    ]
    path = f"M{placed[0][0]:g} {placed[0][1]:g}"
    for number, (x, y) in enumerate(placed[1:]):
        over = gone.get(number)
        path += f"H{x:g}V{y:g}" if over is None else f"H{round((over - first) * across, 1):g}M{x:g} {y:g}"
    last = gone.get(len(placed) - 1)
    path += f"H{width}" if last is None else f"H{round((last - first) * across, 1):g}"
    return Steps(path, [(*at, label) for at, label in zip(placed, labels, strict=True)], width, height)


def bars(
    values: Sequence[Figure], labels: Sequence[str] = (), width: int = 480, height: int = 64, most: Figure = 0
) -> list[Bar]:
    """Return a bar for each value; non-zero values are at least one unit high. most: the value of a full bar; if 0, the
    largest.
    """
    top, step = most or max([*values, 1]), width / max(1, len(values))
    found = []
    for at, value in enumerate(values):
        tall = max(1.0, round(height * value / top, 1)) if value else 0.0
        label = labels[at] if at < len(labels) else ""
        found.append(Bar(round(at * step, 1), round(height - tall, 1), round(max(1.0, step - 2), 1), tall, label))
    return found
