"""Watch a running service: `sanderling status`, `health`, `events`, `tail` and `console`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import click
import msgspec

from actors.settings import Settings
from sanderling.client.lines import apart, by_state, pad, span
from sanderling.client.terminal import Audience, notify, print_json, print_page
from sanderling.commands.keys import SOURCES, with_client
from sanderling.environment import environ, on_terminal
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags, json_flag, settings_flags, with_settings
from sanderling_client.receiver.terminal import fit
from storage.records.identity import Millis, id_of, seconds_of, seq_at
from storage.records.source import PARTS

if TYPE_CHECKING:
    from sanderling.client.api import Client

TROUBLED: Final = ("quarantined", "backoff", "failing", "resting", "stopping", "ended", "starting")
WORST: Final = 10
PATH, STATE, HEALTH = 24, 12, 5
TOTALS: Final = ("looks", "events", "matches", "attempts", "http_requests")
WORDS: Final = {"http_requests": "API requests"}
"""Labels that replace API names. Checks are requests too, but outgoing ones."""
DURATION: Final = re.compile(r"\d{1,6}[smhd]")
FILTERS: Final = {
    "source": "this source: its id, name, URL or a part of these",
    "source_type": "this tier: push, feed or html",
    "tag": "events with this tag",
    "keyword": "events whose title or content has this word",
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The totals and the worst parts as one JSON object.")
@settings_flags()
@client_flags
def status(config: str | None, service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Show the running service on one screen: totals, and the worst parts."""
    import trio

    from sanderling.client.api import client_of, folder_here

    return trio.run(partial(show, client_of(folder_here(config), service, key_file, environ()), as_json=as_json))


async def show(client: Client, *, as_json: bool) -> int:
    async with client:
        overview = (await client.ask("GET", "/v1/admin/overview")).json()
        tree = (await client.ask("GET", "/v1/admin/tree", params={"limit": WORST})).json()
    poor = ("rotten", "degraded")
    worst = [row for row in tree["rows"] if row["state"] in TROUBLED or (row["state"] == "ok" and row["flag"] in poor)]
    width = shutil.get_terminal_size((100, 24)).columns
    print_page(overview | {"worst": worst}, lambda found: screen(found, found["worst"], width), as_json=as_json)
    return Exit.WELL if overview["ready"] else Exit.FAILED


def screen(overview: Mapping[str, Any], worst: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    at, ready = overview["at"], "ready" if overview["ready"] else "NOT READY"
    drained = ", drained" if overview["draining"] else ""
    yield f"Sanderling {overview['version']}  {ready}{drained}  up {span(apart(overview['started_at'], at))}"
    yield ""
    sources = overview["sources"]
    yield f"{'sources':<13} total {sources['total']:,}  {by_state(sources)}"
    yield _line("health", sources, ("ok", "degraded", "rotten"))
    yield _line("actors", sources, ("running", "backoff", "quarantined"))
    yield _line("destinations", overview["destinations"])
    yield from _lines("since start", overview["totals"], width, TOTALS)
    yield from _lines("waiting", overview["queues"], width)
    yield f"{'live':<13} {overview['streams']:,} streams  loop {overview['loop_lag_s'] * 1000:.0f} ms late"
    for node in overview.get("nodes", ()):
        yield _node(node)[:width]
        if gone := node.get("missing"):
            says = f"events from {gone['after']} to {gone['until']} were seen and are gone by a failover"
            yield fit(f"! {node['name'].rpartition('-')[0]}: {says}", width)
    if replica := overview.get("replica"):
        told, name = replica["told_at"], "! replica:" if replica["says"] else "replica"
        far = "nothing is in it yet" if told is None else f"{span(apart(told, at))} behind"
        yield f"{name:<13} {far}  {replica['says'] or replica['place']}"[:width]
    if late := overview.get("matching", {}).get("says"):
        yield fit(f"! matching: {late}", width)
    for part, says in overview["failing"].items():
        yield fit(f"! {part}: {says}", width)
    if passed := overview.get("looks", {}).get("says"):
        yield fit(f"! checks: {passed}", width)
    if worst:
        yield ""
        yield f"{'worst':<{PATH}} {'state':<{STATE}} {'hlth':<{HEALTH}} error"[:width]
    for row in worst:
        yield _row(row, width)


def _node(node: Mapping[str, Any]) -> str:
    name = node["name"].rpartition("-")[0] + (" (this)" if node["this"] else "")
    if not node["inside"]:
        return f"{'node':<13} {name}  not inside"
    if node.get("role") == "web":
        return f"{'node':<13} {name}  web only  streams {node['streams']:,}"
    return f"{'node':<13} {name}  sources {node['sources']:,}  overdue {node['overdue']:,}  streams {node['streams']:,}"


def _line(name: str, figures: Mapping[str, int], wanted: Sequence[str] = ()) -> str:
    shown = {key: figures[key] for key in wanted or figures if key in figures}
    return f"{name:<13} " + "  ".join(f"{key.replace('_', ' ')} {value:,}" for key, value in shown.items())


def _lines(name: str, figures: Mapping[str, int], width: int, wanted: Sequence[str] = ()) -> Iterator[str]:
    line = f"{name:<13}"
    for key in [key for key in wanted or figures if key in figures]:
        part = f"  {WORDS.get(key, key.replace('_', ' '))} {figures[key]:,}"
        if len(line) > 13 and len(line) + len(part) - 1 > width:
            yield line
            line = " " * 13
        line += part[1:] if len(line) == 13 else part
    yield line


def _row(row: Mapping[str, Any], width: int) -> str:
    kind, _, id = str(row["path"]).partition("/")
    path = f"{kind}/…{id[-6:]}" if id else kind
    health = "" if row["health"] is None else f"{row['health']:.2f}"
    says = "  ".join(part for part in (row.get("title") or row["name"], row["error"]) if part)
    left = width - PATH - STATE - HEALTH - 3
    state = PARTS[row["state"]].word
    return f"{pad(fit(path, PATH), PATH)} {state:<{STATE}} {health:<{HEALTH}} {fit(says, left)}".rstrip()


@click.command()
@with_settings("data")
@click.option("--url", metavar="URL", help="The service's address, instead of its admin socket.")
@json_flag
def health(settings: Settings, *, url: str | None, as_json: bool) -> int:
    """Check whether the service is ready: one line, exit code 0 or 1. For health checks; needs no key."""
    from sanderling.client.api import health as ask

    well, line = ask(settings.data, url)
    if as_json:
        print_json({"ready": well, "says": line})
    else:
        click.echo(line)
    return Exit.WELL if well else Exit.FAILED


class Past(msgspec.Struct):
    """A page of past events, each with the bytes that are signed."""

    events: list[msgspec.Raw]
    next_cursor: str | None = None


def filtered(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--json", "as_json", is_flag=True, help="The events in full, one a line.")(command)
    for name, says in reversed(FILTERS.items()):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, multiple=True, help=f"Only {says}; repeatable.")(command)
    return command


async def _filters(client: Client, asked: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    # Patterns pass unchanged, like full ids: they need no read scope.
    named = [name if name.endswith(".*") else await SOURCES.id_of(client, name) for name in asked["source"]]
    return [(name, value) for name in FILTERS for value in (named if name == "source" else asked[name])]


def position(since: str, now: Millis) -> str:
    """Return where to begin: a duration becomes the id of that moment; an id and `earliest` stay.

    >>> position("10m", Millis(600_001)), position("earliest", Millis(0))
    ('00000000-0001-7000-8000-000000000000', 'earliest')
    """
    if not DURATION.fullmatch(since):
        return since
    return id_of(seq_at(Millis(now - 1000 * seconds_of(since))), 0)


@click.command()
@filtered
@click.option("--since", default="earliest", help="Only events after this duration (10m, 2h, 1d) or event id.")
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="The newest N.")
@with_client
async def events(client: Client, *, since: str, as_json: bool, limit: int, **asked: Sequence[str]) -> None:
    """Print past events, oldest first, and stop. `sanderling tail` follows new ones."""
    from sanderling.real_world import now

    query = [("order", "desc"), ("limit", str(limit)), ("from", position(since, now()))]
    query += await _filters(client, asked)
    found, cursor = list[msgspec.Raw](), list[tuple[str, str]]()
    while len(found) < limit:
        answer = await client.ask("GET", "/v1/events", params=query + cursor)
        page = msgspec.json.decode(answer.content, type=Past)
        found += page.events
        if page.next_cursor is None:
            break
        cursor = [("cursor", page.next_cursor)]
    audience = Audience(environ(), None, as_json=as_json)
    for event in reversed(found[:limit]):
        audience.show(bytes(event).decode())
    if not found:
        notify("No events; `sanderling tail` waits for new ones.")


@click.command()
@filtered
@click.option("--since", help="First replay the events after this duration (10m, 2h, 1d) or event id; earliest: all.")
@click.option("--channel", help="Read this channel instead of the whole stream.")
@click.option("--count", type=click.IntRange(1), help="Stop after this many events.")
@with_client
async def tail(
    client: Client, *, since: str | None, channel: str | None, as_json: bool, count: int | None, **asked: Sequence[str]
) -> None:
    """Print events as they arrive, until Ctrl-C. After a disconnect it resumes at the last event."""
    from sanderling.real_world import now

    path = f"/v1/streams/{quote(channel, safe='')}" if channel else "/v1/stream"
    audience = Audience(environ(), count, as_json=as_json)
    with audience.scope:
        query = await _filters(client, asked)
        start = [("since", position(since, now()))] if since else []
        await client.follow(path, query + start, audience.take, tell=notify)


@click.command()
@click.option("--flat", is_flag=True, help="Begin with the list, worst first, instead of the tree.")
@settings_flags()
@client_flags
def console(config: str | None, service: str | None, key_file: str | None, *, flat: bool) -> int:
    """Watch and operate the running service on the whole terminal: `?` shows the keys."""
    if find_spec("textual") is None:
        raise CommandFailed("The console needs Textual: pip install textual==8.2.8", Exit.USAGE)
    if not (on_terminal(0) and on_terminal(1)):
        raise CommandFailed("The console needs a terminal; scripts can use `sanderling status`.", Exit.USAGE)
    import trio

    from sanderling import ADMIN_SOCKET
    from sanderling.client.api import client_of, folder_here
    from sanderling.console.app import run

    folder, variables = folder_here(config), environ()
    where = service or variables.get("SANDERLING_URL") or str(Path(folder) / ADMIN_SOCKET)

    async def ask_once() -> None:  # report a wrong address before taking over the screen
        async with client_of(folder, service, key_file, variables) as first:
            await first.ask("GET", "/healthz")

    trio.run(ask_once)
    return run(client_of(folder, service, key_file, variables), where, flat=flat)
