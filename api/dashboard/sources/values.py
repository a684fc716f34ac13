"""The values of a source as its page shows them: what the watched page says now, and what changed over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from actors.series import Point, Series
from api.dashboard.language.speaking import say
from api.dashboard.pictures import Steps, steps
from api.operations.values import CurrentValue, SourceValues, decimal_of, ends, said, written
from storage.records.identity import Millis

MOST_SERIES = 8
SHOWN, MOST_SHOWN = 12, 200
"""Values of now that are shown at once, and that can be unfolded."""
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


class ListedValue(NamedTuple):
    """A value of now. title: what it is of. says: with its unit; of a state, the page's own words."""

    title: str
    says: str
    since: Millis


class ListedValues(NamedTuple):
    """The values of now, those that one looks for first. more: how many there are besides."""

    first: Sequence[ListedValue]
    rest: Sequence[ListedValue]
    more: int


def listed(found: SourceValues) -> ListedValues:
    """Return what the page says now: prices and states first, then figures, in the order of the page."""
    order = ("money", "availability", "percent", "version", "date", "number")
    ranked = sorted(found.current, key=lambda one: order.index(str(one.value.type)))
    rows = [_listed(one) for one in ranked[:MOST_SHOWN]]
    return ListedValues(rows[:SHOWN], rows[SHOWN:], len(ranked) - len(rows) + found.more)


def _listed(one: CurrentValue) -> ListedValue:
    value = one.value
    says = value.text if value.type == "availability" else with_unit(said(value), value.unit)
    return ListedValue(one.path or one.label or say("Value"), says, one.since)


def drawn(found: SourceValues, now: Millis, moment: Callable[[int], str]) -> Sequence[DrawnSeries]:
    """Return the first series of a source that have changed. moment: writes a time for the reader."""
    changed = [series for series in found.series if len(series.points) > 1]
    return [_drawn(series, now, moment) for series in changed[:MOST_SERIES]]


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
