"""`sanderling tail`, and adding and listing sources."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import click
import msgspec
import trio
from httpx_sse import ServerSentEvent

from sanderling.client.api import Client
from sanderling.client.listing import Cell, for_a_person, print_list, short_ids
from sanderling.client.naming import SOURCES as SOURCE
from sanderling.client.naming import called, id_of
from sanderling.client.rendering import Renderer, fit, pad
from sanderling.environment import hinted, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import echo_json, print_json
from storage.records.secrecy import plain
from storage.records.states import SOURCES
from storage.records.tiers import TIERS

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.I)
FILTERS = ("source", "source_type", "tag", "keyword")


class Audience:
    """Prints events for people or as JSON lines; cancels its scope after `wanted` events (None: never)."""

    def __init__(self, variables: Mapping[str, str], wanted: int | None, *, as_json: bool = False) -> None:
        self.scope = trio.CancelScope()
        self._left = wanted
        self._as_json = as_json
        width = shutil.get_terminal_size((100, 24)).columns
        self._renderer = Renderer(width=width, colour=wants_colour(variables))

    @property
    def content(self) -> bool:
        """Return whether all wanted events have been printed."""
        return not self._left

    def take(self, event: ServerSentEvent) -> None:
        """Print an event unless enough have been printed."""
        if self._left == 0:
            return
        if self._as_json:
            echo_json(event.data)
        else:
            for line in self._renderer.lines(msgspec.json.decode(event.data)):
                click.echo(line)
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self.scope.cancel()


def tail(
    client: Client,
    variables: Mapping[str, str],
    *,
    since: str | None,
    channel: str | None,
    as_json: bool,
    count: int | None,
    **filters: tuple[str, ...],
) -> int:
    """Print events live, until interrupted or after `count`."""
    since_then = [("since", since)] if since else []
    path = f"/v1/streams/{quote(channel, safe='')}" if channel else "/v1/stream"
    audience = Audience(variables, count, as_json=as_json)

    async def run() -> None:
        with audience.scope:
            async with client:
                named = filters | {"source": tuple([await _meant(client, name) for name in filters["source"]])}
                query = [(name, value) for name in FILTERS for value in named[name]]
                await client.follow(path, query + since_then, audience.take, tell=_tell)

    trio.run(run)
    return Exit.WELL


async def _meant(client: Client, name: str) -> str:
    """Return a named source's id; full ids and patterns pass unchanged and need no read scope."""
    return name if name.endswith(".*") else await id_of(client, SOURCE, name)


def _tell(words: str) -> None:
    click.echo(f"sanderling: {words}", err=True)


def completed(typed: str) -> str:
    """Add https:// to a URL without a scheme, like a browser."""
    url = typed.strip()
    return f"https://{url}" if url and not _SCHEME.match(url) else url


def add_sources(
    client: Client,
    urls: Sequence[str],
    *,
    kind: str | None,
    tags: tuple[str, ...],
    query: str | None,
    backfill: int | None,
    selector: str | None = None,
    ignore: tuple[str, ...] = (),
    headers: str | None = None,
    hours: str | None = None,
    follow: bool = False,
    follow_hosts: tuple[str, ...] = (),
    headers_for: tuple[str, ...] = (),
    own_only: tuple[str, ...] = (),
    render: str | None = None,
    wait_for: str | None = None,
    later: bool = False,
    as_json: bool = False,
) -> int:
    """Add URLs and print their detected types. With several, a refusal does not stop the others."""
    body: dict[str, Any] = {"type": kind} if kind else {}
    body |= {"tags": list(tags)} if tags else {}
    body |= {"filter": query} if query is not None else {}
    body |= {"backfill": backfill} if backfill is not None else {}
    body |= {"selector": selector} if selector else {}
    body |= {"ignore": list(ignore)} if ignore else {}
    body |= {"headers": headers.strip()} if headers and headers.strip() else {}
    body |= {"hours": hours} if hours else {}
    body |= {"follow": "new_links"} if follow else {}
    body |= {"follow_hosts": list(follow_hosts)} if follow_hosts else {}
    body |= {"headers_for": list(headers_for)} if headers_for else {}
    body |= {"own_only": list(own_only)} if own_only else {}
    body |= {"render": render} if render else {}
    body |= {"wait_for": wait_for} if wait_for else {}
    body |= {"verify": "later"} if later else {}
    refused = list[str]()

    async def run() -> None:
        async with client:
            for url in urls:
                try:
                    answer = await client.ask("POST", "/v1/sources", json={"url": completed(url)} | body)
                except CommandFailed as error:
                    if len(urls) == 1 or error.code is not Exit.FAILED:
                        raise
                    refused.append(url)
                    _tell(error.message if error.message.startswith(url) else f"{plain(url)}: {error.message}")
                else:
                    _show_added(answer.json(), created=answer.status_code == 201, as_json=as_json)

    trio.run(run)
    return Exit.FAILED if refused else Exit.WELL


def _show_added(source: Mapping[str, Any], *, created: bool, as_json: bool) -> None:
    if as_json:
        print_json(source)
        return
    click.echo("Added." if created else "It is watched already.", err=True)
    if "url" not in source:  # the key may not read sources
        click.echo(source["id"])
        return
    click.echo(f"{source['id']}  {source['type']}  {plain(source['url'])}")
    click.echo(f"  {plain(source['detection']['evidence'])}", err=True)


def list_sources(client: Client, *, as_json: bool) -> int:
    """Print all sources, worst health first."""

    kept: list[dict[str, Any]] | None = [] if for_a_person() and not as_json else None

    async def run() -> None:
        any_yet = as_json
        async with client:
            async for source in client.every("/v1/sources"):
                any_yet = True
                if kept is not None:
                    kept.append(source)
                else:
                    print_json(source) if as_json else click.echo(source_line(source))
        if not any_yet:
            click.echo(hinted("Nothing is watched yet: `sanderling add URL`."), err=True)

    trio.run(run)
    print_list(SOURCE_HEADS, source_rows(kept or ()))
    return Exit.WELL


SOURCE_HEADS = ("state", "health", "type", "id", "source", "why")


def source_rows(found: Sequence[Mapping[str, Any]]) -> list[Sequence[Cell | str]]:
    ids = short_ids([source["id"] for source in found])
    rows: list[Sequence[Cell | str]] = []
    for source in found:
        state, health = SOURCES[source["state"]], source["health"]
        bare = str(source["url"]).removeprefix("https://").removeprefix("http://")
        name = f"{called(source)}  {bare}" if called(source) else bare
        why = str(health["reason"]) if _to_be_said(source) else ""
        cells = Cell(state.word, state.mood), Cell(f"{health['score']:.2f}", right=True)
        rows.append((*cells, TIERS[source["type"]].noun, ids[source["id"]], name, why))
    return rows


def _to_be_said(source: Mapping[str, Any]) -> bool:
    return SOURCES[source["state"]].mood in ("bad", "warn") or source["health"]["flag"] != "ok"


def source_line(source: Mapping[str, Any]) -> str:
    """Return a source as one line: state, score, tier, id, URL, name, and the reason if it has a problem."""
    health, state = source["health"], SOURCES[source["state"]]
    why = "  " + fit(str(health["reason"]), 120) if _to_be_said(source) else ""
    name = f"  ({fit(called(source), 60)})" if called(source) else ""
    stands = f"{pad(state.word, 13)} {health['score']:4.2f}  {source['type']:<4}"
    return f"{stands}  {source['id']}  {plain(source['url'])}{name}{why}"
