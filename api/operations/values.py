"""The values of a source over time: what its prices, numbers and shares were, as its events told them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from actors.series import Point, Series, series_of, told_before
from api.operations import sources
from api.operations.context import OperationContext
from storage.records.identity import Millis, SourceId

_ORDER = ("money", "percent", "number")


class SourceValues(NamedTuple):
    """The series of a source, prices first, then by their last change. since: from when on they are known."""

    source: SourceId
    since: Millis
    series: Sequence[Series]


async def values(call: OperationContext, id: str) -> SourceValues:
    """Return the values that a source told. Raises NotFound, StorageError."""
    view = await sources.view(call, id)
    source = view.source
    told, since = await told_before(call.context.storage.log, source.id, source.created_at)
    found = sorted(series_of(told, since), key=lambda one: (_ORDER.index(one.type), -one.points[-1].at))
    return SourceValues(source.id, Millis(since), found)


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
