"""`sanderling sources values`: what a source's prices and numbers were over time."""

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
from storage.records.plain import plain

MOST_POINTS = 8
"""Values of a series that are shown, the newest."""


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
    """Yield each series: what it is of, its extremes, and its newest values, the newest first."""
    if not answer["series"]:
        yield f"Nothing yet: no price or number has changed since {moment(answer['since'], zone)}."
    for series in answer["series"]:
        yield plain(series["path"] or series["label"] or series["type"])
        ends = ((end, series[end]) for end in ("lowest", "highest"))
        said = (f"{name} {_with_unit(at, series)}, {moment(at['at'], zone)}" for name, at in ends)
        yield f"  {'; '.join(said)}"
        points = series["points"][::-1]
        for point in points[:MOST_POINTS]:
            yield f"  {moment(point['at'], zone)}  {_with_unit(point, series)}"
        if len(points) > MOST_POINTS:
            yield f"  and {len(points) - MOST_POINTS:,} before"


def _with_unit(point: Mapping[str, Any], series: Mapping[str, Any]) -> str:
    return plain(f"{point['value']} {series['unit']}".rstrip())
