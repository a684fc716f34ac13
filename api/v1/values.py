"""Values over time: what a source's prices, numbers and shares were, as JSON or for a spreadsheet."""

from __future__ import annotations

from actors.series import Point, Series
from api.operations import values as operations
from api.operations.values import SourceValues, ends, written
from api.route import Answer, Call, Route
from api.schemas import values as wire
from api.streams.export import MEDIA
from api.streams.spreadsheet import cell
from storage.records.identity import Millis
from storage.records.times import rfc3339


def _point(point: Point) -> wire.ValuePoint:
    return wire.ValuePoint(at=rfc3339(Millis(point.at)), number=point.number, scale=point.scale, value=written(point))


def _series(series: Series) -> wire.ValueSeries:
    lowest, highest = ends(series)
    return wire.ValueSeries(
        type=series.type,
        label=series.label,
        path=series.path,
        unit=series.unit,
        lowest=_point(lowest),
        highest=_point(highest),
        points=tuple(map(_point, series.points)),
    )


def _spreadsheet(found: SourceValues) -> bytes:
    lines = ["at,label,path,type,value,unit"]
    for series in found.series:
        what = f"{cell(series.label)},{cell(series.path)},{series.type}"
        lines += (f"{rfc3339(Millis(at.at))},{what},{written(at)},{cell(series.unit)}" for at in series.points)
    return "".join(f"{line}\r\n" for line in lines).encode()


async def values(call: Call) -> Answer:
    """Return the values that a source told."""
    query: wire.ValuesQuery = call.query
    found = await operations.values(call, call.path["id"])
    if query.format == "csv":
        return Answer(_spreadsheet(found), media=MEDIA["csv"])
    return Answer(wire.Values(id=found.source, since=rfc3339(found.since), series=tuple(map(_series, found.series))))


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/values",
        scope="sources:read",
        run=values,
        says="Read what its prices and numbers were over time.",
        answers={200: wire.Values},
        query=wire.ValuesQuery,
        also=("text/csv",),
        refuses=("not-found",),
    ),
)
