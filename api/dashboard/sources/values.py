"""The values of a source over time, as its page draws them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from actors.series import Point, Series
from api.dashboard.language.speaking import say
from api.dashboard.pictures import Steps, steps
from api.operations.values import SourceValues, decimal_of, ends, written
from storage.records.identity import Millis

MOST_SERIES = 8
_MOST_POINTS = 200
SIZE = 640, 48


class DrawnSeries(NamedTuple):
    """A series as the page shows it. title: what it is of. lowest, highest: with their moments; picture: its course."""

    title: str
    now: str
    before: str
    at: int
    lowest: tuple[str, int]
    highest: tuple[str, int]
    picture: Steps
    says: str


def drawn(found: SourceValues, now: Millis, moment: Callable[[int], str]) -> Sequence[DrawnSeries]:
    """Return the first series of a source. moment: writes a time for the reader."""
    return [_drawn(series, now, moment) for series in found.series[:MOST_SERIES]]


def _drawn(series: Series, now: Millis, moment: Callable[[int], str]) -> DrawnSeries:
    def shown(point: Point) -> str:
        return with_unit(written(point), series.unit)

    points = series.points[-_MOST_POINTS:]
    lowest, highest = ends(series)
    labels = [f"{moment(point.at)}: {shown(point)}" for point in points]
    picture = steps([float(decimal_of(point)) for point in points], [point.at for point in points], now, labels, SIZE)
    title = series.path or series.label or say("Value")
    says = say(
        "%(title)s: %(count)s values, from %(lowest)s to %(highest)s, now %(now)s",
        title=title,
        count=len(points),
        lowest=shown(lowest),
        highest=shown(highest),
        now=shown(points[-1]),
    )
    return DrawnSeries(
        title,
        shown(points[-1]),
        shown(points[-2]) if len(points) > 1 else "",
        points[-1].at,
        (shown(lowest), lowest.at),
        (shown(highest), highest.at),
        picture,
        says,
    )


def with_unit(digits: str, unit: str) -> str:
    """Return a value with its unit.

    >>> with_unit("12.50", "EUR"), with_unit("5", "%"), with_unit("3", "")
    ('12.50 EUR', '5 %', '3')
    """
    return f"{digits} {unit}" if unit else digits
