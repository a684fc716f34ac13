"""The values of a source: the current ones, and the history of its prices, figures, states, versions and dates.

The current values come from the page as last reported, the history from the source's events. Neither is stored; both
are computed on request, as JSON or for a spreadsheet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from msgspec import Raw, Struct

from actors.messages.declaring import Declared, Time, made_of, record_of
from actors.series import Point, Series, SeriesKey, delta_of, point_of, reported_changes, series_of
from actors.versions import Arrivals
from api.nouns import sources
from api.nouns.context import OperationContext
from api.route import Answer, Call, Routes
from api.streams.export import MEDIA, cell
from storage.records.event import AVAILABILITIES, StandingValues, Value, ValueType
from storage.records.identity import Millis, SourceId, rfc3339


class ValuesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of the answer."""

    format: Literal["json", "csv"] = "json"


class ValuePoint(Struct, frozen=True, kw_only=True):
    """A value from `at` on."""

    at: Time
    number: int | None
    scale: int
    value: str
    text: str = ""
    until: Time | None = None


@record_of(Series, "type label path unit")
class ValueSeries(Declared, frozen=True, kw_only=True):
    """The values of one item, oldest first."""

    lowest: ValuePoint | None
    highest: ValuePoint | None
    points: tuple[ValuePoint, ...]


class CurrentValue(Struct, frozen=True, kw_only=True):
    """A value on the page, as last reported."""

    type: ValueType
    text: str
    value: str
    label: str
    path: str
    unit: str
    since: Time
    number: int | None = None
    scale: int = 0


class Values(Struct, frozen=True, kw_only=True):
    """The values of a source."""

    id: str
    since: Time
    current: tuple[CurrentValue, ...]
    more: int
    series: tuple[ValueSeries, ...]


_ORDER = ("money", "availability", "percent", "number", "version", "date")


class PresentValue(NamedTuple):
    """A value on the page as last reported. since: when it is first known to be there."""

    value: Value
    label: str
    path: str
    since: Millis


class SourceValues(NamedTuple):
    """Current values, and series: prices first, then by last change. since: when first known. more: values not read."""

    source: SourceId
    since: Millis
    current: Sequence[PresentValue]
    more: int
    series: Sequence[Series]


async def values(call: OperationContext, id: str) -> SourceValues:
    """Return the values of a source. Raises NotFound, StorageError, Overloaded."""
    source = (await sources.view(call, id)).source
    page = await sources.reported_page(call, source.id, values=True)
    standing = StandingValues() if page is None else page.standing
    # A partial page shows no arrivals.
    arrivals = Arrivals(() if page is None or page.more else [block.text for block in page.blocks])

    def see(at: int, delta: Raw) -> None:
        if not arrivals.is_done and at >= standing.began and (read := delta_of(delta)) is not None:
            arrivals.undo(at, read)

    told, since = await reported_changes(call.context.storage.log, source.id, source.created_at, see)
    first = max(since, standing.began)
    current = []
    for listed in standing.values:
        came = arrivals.at[listed.block] if listed.block < len(arrivals.at) else None
        current.append(PresentValue(listed.value, listed.label, listed.path, Millis(first if came is None else came)))
    keys = {key for key, _, _ in _points(current)}
    found = series_of(told, since, standing.began, keys)
    if page is not None and standing.began and not standing.more:
        at = max(standing.began, told[-1][0] if told else 0)
        for old in found:  # gone without an event, by the newest event or the first check of another part
            if old.key not in keys and old.points[-1].at < at:
                old.end(at)
    series = _with_current(found, current)
    series.sort(key=lambda each: (_ORDER.index(each.type), -each.points[-1].at))
    in_order = sorted(zip(standing.values, current, strict=True), key=lambda pair: pair[0].block)
    return SourceValues(source.id, Millis(since), [value for _, value in in_order], standing.more, series)


def _with_current(found: list[Series], current: Sequence[PresentValue]) -> list[Series]:
    """Extend the series to the current values. A label that several values share fits none, so each starts its own."""
    series = {each.key: each for each in found}
    standing = list(_points(current))
    named = Counter(key for key, _, _ in standing)
    for key, present, point in standing:
        before = series.get(key) if named[key] == 1 else None
        if before is None:
            found.append(Series(present.value.type, present.value.unit, present.label, present.path, [point]))  # type: ignore[arg-type]
        elif (last := before.points[-1]).until is not None or not last.is_value(present.value):
            before.points.append(point._replace(at=max(point.at, last.at, last.until or 0)))
    return found


def _points(current: Sequence[PresentValue]) -> Iterator[tuple[SeriesKey, PresentValue, Point]]:
    for present in current:
        if (point := point_of(present.value)) is not None:
            key = str(present.value.type), present.value.unit, present.path or present.label
            yield key, present, point._replace(at=present.since)


def decimal_of(point: Point) -> Decimal:
    return Decimal(point.number or 0).scaleb(-point.scale)


def written(point: Point) -> str:
    """Return a number in digits with a decimal point, or the text of a value that is no number.

    >>> written(Point(0, 29950, 2)), written(Point(0, -5, 0)), written(Point(0, None, 0, "2.10"))
    ('299.50', '-5', '2.10')
    """
    return point.value if point.number is None else f"{decimal_of(point):f}"


def place(type: ValueType, point: Point) -> tuple[Decimal | int, ...]:
    """Return a sort key among values of one type: the better state, later date or higher version is larger.

    >>> place("version", Point(0, None, 0, "2.10")) > place("version", Point(0, None, 0, "2.9"))
    True
    >>> place("availability", Point(0, None, 0, "in_stock")) > place("availability", Point(0, None, 0, "out_of_stock"))
    True
    """
    if point.number is not None:
        return (decimal_of(point),)
    if type == "availability":
        return (-AVAILABILITIES.index(point.value),) if point.value in AVAILABILITIES else (-len(AVAILABILITIES),)
    parts = tuple(int(part) for part in re.findall(r"[0-9]{1,18}", point.value))
    return (0, *parts) if type == "date" and len(point.value) == len("MM-DD") else parts


def ends(series: Series) -> tuple[Point, Point] | None:
    """Return the lowest and highest value of a series (of equal ones the newest); None for states."""
    if series.type == "availability":
        return None
    newest = series.points[::-1]
    return min(newest, key=lambda at: place(series.type, at)), max(newest, key=lambda at: place(series.type, at))


def _point(point: Point) -> ValuePoint:
    return made_of(ValuePoint, point, value=written(point))


def _series(series: Series) -> ValueSeries:
    extremes = ends(series)
    lowest, highest = (None, None) if extremes is None else map(_point, extremes)
    return made_of(ValueSeries, series, lowest=lowest, highest=highest, points=tuple(map(_point, series.points)))


def _shown(present: PresentValue) -> CurrentValue:
    number = present.value.number if isinstance(present.value.number, int) else None
    return made_of(CurrentValue, present.value, present, value=present.value.digits, number=number)


def _spreadsheet(found: SourceValues) -> bytes:
    lines = ["at,label,path,type,value,unit,until"]
    for series in found.series:
        what = f"{cell(series.label)},{cell(series.path)},{series.type}"
        for at in series.points:
            until = "" if at.until is None else rfc3339(Millis(at.until))
            value = cell(at.value) if at.number is None else written(at)
            lines.append(f"{rfc3339(Millis(at.at))},{what},{value},{cell(series.unit)},{until}")
    return "".join(f"{line}\r\n" for line in lines).encode()


ROUTES = Routes("/v1/sources", "sources")


@ROUTES("GET", "/{id}/values", {200: Values}, query=ValuesQuery, also=("text/csv",))
async def _values(call: Call) -> Answer:
    """Read a source's prices, numbers, states, versions and dates, and their history."""
    found = await values(call, call.path["id"])
    if call.query.format == "csv":
        return Answer(_spreadsheet(found), media=MEDIA["csv"])
    current, series = tuple(map(_shown, found.current)), tuple(map(_series, found.series))
    return Answer(made_of(Values, found, id=found.source, current=current, series=series))
