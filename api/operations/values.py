"""The values of a source: what its page says now, and what its prices, numbers and shares were over time.

What it says now is read from the page as it was last told; what it was, from the source's events. Nothing is stored
for either, and nobody reads it but who asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from msgspec import Raw

from actors.messages.views import ToldPage
from actors.series import Point, Series, SeriesKey, delta_of, series_of, told_before
from actors.versions import Arrivals
from api.operations import sources
from api.operations.context import OperationContext
from storage.records.identity import Millis, SourceId
from storage.records.value import StandingValue, StandingValues, Value

_ORDER = ("money", "percent", "number")


class CurrentValue(NamedTuple):
    """A value that stands on the page, as it was last told. since: from when on it is known to stand there so."""

    value: Value
    label: str
    path: str
    since: Millis


class SourceValues(NamedTuple):
    """What the page of a source says now, and its series, prices first, then by their last change.

    since: from when on they are known. more: how many values the page has besides.
    """

    source: SourceId
    since: Millis
    current: Sequence[CurrentValue]
    more: int
    series: Sequence[Series]


async def values(call: OperationContext, id: str) -> SourceValues:
    """Return the values of a source. Raises NotFound, StorageError, Overloaded."""
    source = (await sources.view(call, id)).source
    page = await sources.told_page(call, source.id, values=True)
    standing = StandingValues() if page is None else page.standing
    arrivals = _arrivals(page)

    def see(at: int, delta: Raw) -> None:
        if not arrivals.done and at >= standing.began and (read := delta_of(delta)) is not None:
            arrivals.take_back(at, read)

    told, since = await told_before(call.context.storage.log, source.id, source.created_at, see)
    first = max(since, standing.began)
    current = [_current(one, arrivals, first) for one in standing.values]
    keys = {key for key, _, _ in _numbers(current)}
    series = _with_current(series_of(told, since, standing.began, keys), current)
    series.sort(key=lambda one: (_ORDER.index(one.type), -one.points[-1].at))
    in_order = sorted(zip(standing.values, current, strict=True), key=lambda one: one[0].block)
    return SourceValues(source.id, Millis(since), [one for _, one in in_order], standing.more, series)


def _arrivals(page: ToldPage | None) -> Arrivals:
    """Return what finds out since when the texts of a page stand there: of a whole one, else nobody can know."""
    return Arrivals(() if page is None or page.more else [block.text for block in page.blocks])


def _current(one: StandingValue, arrivals: Arrivals, first: int) -> CurrentValue:
    came = arrivals.at[one.block] if one.block < len(arrivals.at) else None
    return CurrentValue(one.value, one.label, one.path, Millis(first if came is None else came))


def _with_current(found: list[Series], current: Sequence[CurrentValue]) -> list[Series]:
    """Return the series of the past with those of what never changed, and each as far as what stands there now.

    Of several values that are called alike nobody can say which one a change was of: each begins by itself.
    """
    series = {one.key: one for one in found}
    standing = list(_numbers(current))
    named = Counter(key for key, _, _ in standing)
    for key, one, point in standing:
        before = series.get(key) if named[key] == 1 else None
        if before is None:
            found.append(Series(one.value.type, one.value.unit, one.label, one.path, [point]))  # type: ignore[arg-type]
        elif not before.points[-1].is_value(one.value):
            before.points.append(point._replace(at=max(point.at, before.points[-1].at)))
    return found


def _numbers(current: Sequence[CurrentValue]) -> Iterator[tuple[SeriesKey, CurrentValue, Point]]:
    for one in current:
        if one.value.type in _ORDER and isinstance(one.value.number, int):
            key = str(one.value.type), one.value.unit, one.path or one.label
            yield key, one, Point(one.since, one.value.number, one.value.scale)


def decimal_of(point: Point) -> Decimal:
    """Return a value as the number that it is."""
    return Decimal(point.number).scaleb(-point.scale)


def written(point: Point) -> str:
    """Return a value in digits, with a point before its decimals.

    >>> written(Point(0, 29950, 2)), written(Point(0, -5, 0))
    ('299.50', '-5')
    """
    return f"{decimal_of(point):f}"


def ends(series: Series) -> tuple[Point, Point]:
    """Return the lowest and the highest value of a series, the newest of those that are alike."""
    newest = series.points[::-1]
    return min(newest, key=decimal_of), max(newest, key=decimal_of)


def said(value: Value) -> str:
    """Return what a value says: the digits of a number, else the date, the version or the state.

    >>> said(Value("1.099,00 €", "money", 109900, 2, "EUR")), said(Value("1. Mai", "date", value="05-01"))
    ('1099.00', '05-01')
    """
    return written(Point(0, value.number, value.scale)) if isinstance(value.number, int) else value.value
