"""Values: a source's current values and their history, as JSON or for a spreadsheet."""

from __future__ import annotations

from actors.series import Point, Series
from api.operations import values as operations
from api.operations.values import CurrentValue, SourceValues, ends, said, written
from api.route import Answer, Call, Route
from api.schemas import values as wire
from api.streams.export import MEDIA, cell
from storage.records.identity import Millis, rfc3339


def _point(point: Point) -> wire.ValuePoint:
    return wire.ValuePoint(
        at=rfc3339(Millis(point.at)),
        number=point.number,
        scale=point.scale,
        value=written(point),
        text=point.text,
        until=None if point.until is None else rfc3339(Millis(point.until)),
    )


def _series(series: Series) -> wire.ValueSeries:
    extremes = ends(series)
    lowest, highest = (None, None) if extremes is None else map(_point, extremes)
    return wire.ValueSeries(
        type=series.type,
        label=series.label,
        path=series.path,
        unit=series.unit,
        lowest=lowest,
        highest=highest,
        points=tuple(map(_point, series.points)),
    )


def _current(one: CurrentValue) -> wire.CurrentValue:
    value = one.value
    return wire.CurrentValue(
        type=value.type,  # type: ignore[arg-type]  # a value that was read has a type
        text=value.text,
        value=said(value),
        label=one.label,
        path=one.path,
        unit=value.unit,
        since=rfc3339(one.since),
        number=value.number if isinstance(value.number, int) else None,
        scale=value.scale,
    )


def _spreadsheet(found: SourceValues) -> bytes:
    lines = ["at,label,path,type,value,unit,until"]
    for series in found.series:
        what = f"{cell(series.label)},{cell(series.path)},{series.type}"
        for at in series.points:
            until = "" if at.until is None else rfc3339(Millis(at.until))
            value = cell(at.value) if at.number is None else written(at)
            lines.append(f"{rfc3339(Millis(at.at))},{what},{value},{cell(series.unit)},{until}")
    return "".join(f"{line}\r\n" for line in lines).encode()


async def values(call: Call) -> Answer:
    query: wire.ValuesQuery = call.query
    found = await operations.values(call, call.path["id"])
    if query.format == "csv":
        return Answer(_spreadsheet(found), media=MEDIA["csv"])
    answer = wire.Values(
        id=found.source,
        since=rfc3339(found.since),
        current=tuple(map(_current, found.current)),
        more=found.more,
        series=tuple(map(_series, found.series)),
    )
    return Answer(answer)


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/values",
        scope="sources:read",
        run=values,
        says="Read a source's prices, numbers, states, versions and dates, and their history.",
        answers={200: wire.Values},
        query=wire.ValuesQuery,
        also=("text/csv",),
        refuses=("not-found",),
    ),
)
