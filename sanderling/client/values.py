"""`sanderling sources values`: the values on a source's page now and over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, Literal

import click

from sanderling.client.api import Client
from sanderling.client.naming import SOURCES, id_of
from sanderling.client.rendering import moment
from sanderling.client.speaking import asked
from sanderling.exits import Exit
from sanderling.json_lines import print_json
from storage.records.secrecy import plain

MOST_POINTS = 8
"""Maximum points shown per series, the newest."""
MOST_CURRENT = 30
"""Maximum current values shown."""
_ORDER = ("money", "availability", "percent", "version", "date", "number")


def show(client: Client, name: str, *, form: Literal["lines", "json", "csv"]) -> int:
    """Print a source's values over time."""

    async def act() -> Any:
        path = f"{SOURCES.path}/{await id_of(client, SOURCES, name)}/values"
        if form == "csv":
            return (await client.ask("GET", path, params={"format": "csv"})).text
        return (await client.ask("GET", path)).json()

    answer = asked(client, act)
    if form == "csv":
        click.echo(answer, nl=False)
    elif form == "json":
        print_json(answer)
    else:
        click.echo("\n".join(lines(answer)))
    return Exit.WELL


def lines(answer: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    """Yield current values, prices first, then each changed series with extremes and newest values."""
    yield from _current(answer, zone)
    changed = [one for one in answer["series"] if len(one["points"]) > 1 or one["points"][-1].get("until")]
    if not changed:
        yield f"No price, number, state, version or date has changed since {moment(answer['since'], zone)}."
    for series in changed:
        yield plain(series["path"] or series["label"] or series["type"])
        names = ("earliest", "latest") if series["type"] == "date" else ("lowest", "highest")
        ends = zip(names, (series["lowest"], series["highest"]), strict=True)
        said = [f"{name} {_with_unit(at, series)}, {moment(at['at'], zone)}" for name, at in ends if at is not None]
        if said:
            yield f"  {'; '.join(said)}"
        points = series["points"][::-1]
        for point in points[:MOST_POINTS]:
            gone = f", gone since {moment(point['until'], zone)}" if point.get("until") else ""
            yield f"  {moment(point['at'], zone)}  {_with_unit(point, series)}{gone}"
        if len(points) > MOST_POINTS:
            yield f"  and {len(points) - MOST_POINTS:,} before"


def _current(answer: Mapping[str, Any], zone: tzinfo | None) -> Iterator[str]:
    # An older service sends no `current`.
    ranked = sorted(answer.get("current", ()), key=lambda one: _ORDER.index(one["type"]))
    if ranked:
        yield "What the page says now:"
    for one in ranked[:MOST_CURRENT]:
        says = one["text"] if one["type"] == "availability" else _with_unit(one, one)
        yield plain(f"  {says}  {one['path'] or one['label'] or one['type']}, since {moment(one['since'], zone)}")
    if left := len(ranked[MOST_CURRENT:]) + answer.get("more", 0):
        yield f"  and {left:,} more"


def _with_unit(point: Mapping[str, Any], series: Mapping[str, Any]) -> str:
    says = point.get("text") if series["type"] == "availability" else point["value"]
    return plain(f"{says or point['value']} {series['unit']}".rstrip())
