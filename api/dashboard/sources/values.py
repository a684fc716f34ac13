"""The values of a source on its page: the current ones, and their history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from actors.series import Point, Series
from api.dashboard.language.speaking import say
from api.dashboard.pictures import Steps, steps
from api.operations.values import CurrentValue, SourceValues, decimal_of, ends, place, said, written
from storage.records.identity import Millis

MOST_SERIES = 8
SHOWN, MOST_SHOWN = 12, 200
"""Current values shown at once, and the most that can be unfolded."""
_MOST_POINTS = 200
SIZE = 640, 48


class DrawnSeries(NamedTuple):
    """A series as the page shows it. title: its subject. gone: when it left the page, if it did. now: the current or
    last value. lowest, highest: with their times; None for states. levels: of states, from the lowest up. picture: the
    chart.
    """

    title: str
    is_date: bool
    now: str
    gone: int | None
    before: str
    at: int
    lowest: tuple[str, int] | None
    highest: tuple[str, int] | None
    levels: Sequence[str]
    picture: Steps
    says: str


class ListedValue(NamedTuple):
    """A current value. title: its subject. says: with its unit; for states, the page's own words."""

    title: str
    says: str
    since: Millis


class ListedValues(NamedTuple):
    """The current values, the most wanted ones first. more: how many are left out."""

    first: Sequence[ListedValue]
    rest: Sequence[ListedValue]
    more: int


def listed(found: SourceValues) -> ListedValues:
    """Return the current values: prices and states first, then figures, in page order."""
    order = ("money", "availability", "percent", "version", "date", "number")
    ranked = sorted(found.current, key=lambda one: order.index(str(one.value.type)))
    rows = [_listed(one) for one in ranked[:MOST_SHOWN]]
    return ListedValues(rows[:SHOWN], rows[SHOWN:], len(ranked) - len(rows) + found.more)


def _listed(one: CurrentValue) -> ListedValue:
    value = one.value
    says = value.text if value.type == "availability" else with_unit(said(value), value.unit)
    return ListedValue(one.path or one.label or say("Value"), says, one.since)


def drawn(found: SourceValues, now: Millis, moment: Callable[[int], str]) -> Sequence[DrawnSeries]:
    """Return the first series that have changed or ended. moment: formats a time for the reader."""
    changed = [one for one in found.series if len(one.points) > 1 or one.points[-1].until is not None]
    return [_drawn(series, now, moment) for series in changed[:MOST_SERIES]]


def _drawn(series: Series, now: Millis, moment: Callable[[int], str]) -> DrawnSeries:
    def shown(point: Point) -> str:
        return point.text if series.type == "availability" and point.text else with_unit(written(point), series.unit)

    points = series.points[-_MOST_POINTS:]
    labels = [f"{moment(point.at)}: {shown(point)}" for point in points]
    gone = {number: point.until for number, point in enumerate(points) if point.until is not None}
    picture = steps(_heights(series, points), [point.at for point in points], now, labels, SIZE, gone=gone)
    title, last = series.path or series.label or say("Value"), points[-1]
    extremes = ends(series)
    lowest, highest = (None, None) if extremes is None else ((shown(one), one.at) for one in extremes)
    by_state = {point.value: shown(point) for point in sorted(points, key=lambda at: place(series.type, at))}
    return DrawnSeries(
        title,
        series.type == "date",
        shown(last),
        last.until,
        shown(points[-2]) if len(points) > 1 else "",
        last.at,
        lowest,
        highest,
        list(by_state.values()) if extremes is None else [],
        picture,
        _says(
            title,
            [*map(shown, points)],
            None if lowest is None or highest is None else (lowest[0], highest[0]),
            "" if last.until is None else moment(last.until),
        ),
    )


def _says(title: str, values: Sequence[str], ends: tuple[str, str] | None, gone: str) -> str:
    """Return a series as a sentence, for readers who cannot see the chart."""
    said = {"title": title, "count": len(values), "last": values[-1]}
    if gone:
        return say("%(title)s: %(count)s values, the last %(last)s, gone since %(gone)s", **said, gone=gone)
    if ends is None:
        return say("%(title)s: %(count)s values, now %(last)s", **said)
    lowest, highest = ends
    return say(
        "%(title)s: %(count)s values, from %(lowest)s to %(highest)s, now %(last)s",
        **said,
        lowest=lowest,
        highest=highest,
    )


def _heights(series: Series, points: Sequence[Point]) -> list[float]:
    """Return the height of each value: numbers by value, dates by day, others by rank."""
    if points[0].number is not None:
        return [float(decimal_of(point)) for point in points]
    places = [place(series.type, point) for point in points]
    if series.type == "date":
        weights = (372, 31, 1)
        return [float(sum(part * by for part, by in zip(each, weights, strict=False))) for each in places]
    levels = sorted({*places})
    return [float(levels.index(each)) for each in places]


def with_unit(digits: str, unit: str) -> str:
    """Return a value with its unit.

    >>> with_unit("12.50", "EUR"), with_unit("5", "%"), with_unit("3", "")
    ('12.50 EUR', '5 %', '3')
    """
    return f"{digits} {unit}" if unit else digits
