"""`sanderling sources`: show, check, pause, edit, tag, delete and restore one source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any
from uuid import UUID

import click

from sanderling.client.api import Client
from sanderling.client.naming import SOURCES, called, id_of, record_of
from sanderling.client.rendering import moment
from sanderling.client.speaking import agree, asked
from sanderling.environment import hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json
from storage.records.secrecy import plain
from storage.records.source import tag_of


def show(client: Client, name: str, *, as_json: bool) -> int:
    """Print a source and its current status."""

    async def act() -> tuple[dict[str, Any], dict[str, Any]]:
        source = await record_of(client, SOURCES, name)
        return source, dict((await client.ask("GET", f"{SOURCES.path}/{source['id']}/status")).json())

    source, status = asked(client, act)
    if as_json:
        print_json(source | {"status": status})
    else:
        click.echo("\n".join(source_page(source, status)))
    return Exit.WELL


def source_page(source: Mapping[str, Any], status: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    """Yield a source as lines: identity, evidence, health, schedule, last check, totals."""

    def when(text: str | None) -> str:
        return moment(text, zone) if text else "never"

    yield f"{source['type']}  {plain(source['url'])}  {source['id']}"
    if name := called(source):
        yield f"  called      {plain(name)}"
    yield f"  found out   {plain(source['detection']['evidence'])}"
    health = source["health"]
    yield f"  health      {health['flag']} {health['score']:.2f}: {plain(health['reason'])}"
    if source["rendered"] or source["render"] == "always":
        yield f"  rendered    {source['render']}: a browser shows it, and a look costs 100 plain ones"
    if source["tags"]:
        yield f"  tags        {plain(', '.join(source['tags']))}"
    for setting, tags in source["inherited"].items():
        value = source["effective"][setting]
        shown = ", ".join(value) if isinstance(value, list) else value
        yield f"  {setting:<10}  {plain(str(shown))}, from the tag {plain(', '.join(tags))}"
    if source["own_only"]:
        yield f"  own only    {', '.join(source['own_only'])}: of these it has nothing of its tags"
    if status["state"] == "disabled":
        yield hinted("  state       paused; `sanderling sources resume` watches it again")
    else:
        yield f"  next look   {when(status['next_fetch_at'])}, every {status['interval_s']:,.0f} s at its present pace"
    yield f"  last look   {when(status['last_fetch_at'])}; well {when(status['last_success_at'])}"
    if status["last_error"]:
        yield f"  last error  {plain(status['last_error'])}"
    since = f", the last {status['unchanged']:,} without news" if status["unchanged"] else ""
    told = f"{status['looks']:,} looks{since}; {status['events']:,} events"
    held = status["held"]
    yield f"  in the log  {held['events']:,} events, about {held['bytes'] / 1024:,.1f} KiB"
    yield f"  so far      {told}, the newest {when(status['last_event_at'])}"


def check(client: Client, name: str) -> int:
    """Check a source as soon as politeness allows."""

    async def act() -> dict[str, Any]:
        path = f"{SOURCES.path}/{await id_of(client, SOURCES, name)}/check"
        return dict((await client.ask("POST", path)).json())

    click.echo(f"The next look is due {moment(asked(client, act)['next_fetch_at'])}.", err=True)
    return Exit.WELL


def switch(client: Client, name: str, *, on: bool) -> int:
    async def act() -> dict[str, Any]:
        path = f"{SOURCES.path}/{await id_of(client, SOURCES, name)}/{'enable' if on else 'disable'}"
        return dict((await client.ask("POST", path)).json())

    source = asked(client, act)
    click.echo(f"{plain(source['url'])} is {'watched' if on else 'paused'}.", err=True)
    return Exit.WELL


def edit(client: Client, name: str, changes: Mapping[str, Any], *, as_json: bool) -> int:
    """Change a source and print it. Raises CommandFailed without a change."""
    if not changes:
        raise CommandFailed("Say what to change: --title, --schedule, --selector, --ignore or --bar.", Exit.USAGE)

    async def act() -> dict[str, Any]:
        path = f"{SOURCES.path}/{await id_of(client, SOURCES, name)}"
        return dict((await client.ask("PATCH", path, json=dict(changes))).json())

    source = asked(client, act)
    if as_json:
        print_json(source)
    else:
        click.echo(f"{plain(called(source) or source['url'])} is changed.", err=True)
    return Exit.WELL


def mark(client: Client, names: Sequence[str], tag: str, *, on: bool) -> int:
    """Add or remove a tag. With several sources, a refusal does not stop the others."""
    refused = list[str]()

    async def act() -> None:
        for name in names:
            try:
                await _mark(client, name, tag_of(tag), on=on)
            except CommandFailed as error:
                if len(names) == 1 or error.code in (Exit.UNREACHABLE, Exit.TRY_AGAIN):
                    raise
                refused.append(name)
                click.echo(hinted(f"sanderling: {plain(name)}: {error.message}"), err=True)

    asked(client, act)
    return Exit.FAILED if refused else Exit.WELL


async def _mark(client: Client, name: str, tag: str, *, on: bool) -> None:
    source = await record_of(client, SOURCES, name)
    tags = [each for each in source["tags"] if each != tag] + [tag] * on
    if on == (tag in source["tags"]):
        click.echo(f"{plain(source['url'])} {'has' if on else 'has no'} {plain(tag)} already.", err=True)
        return
    await client.ask("PATCH", f"{SOURCES.path}/{source['id']}", json={"tags": tags})
    click.echo(f"{plain(source['url'])} {'has' if on else 'has no longer'} {plain(tag)}.", err=True)


def delete(client: Client, name: str, *, sure: bool) -> int:
    """Delete a source after confirmation."""

    async def act() -> None:
        source = await record_of(client, SOURCES, name)
        agree(f"Forget {plain(source['url'])}? Its events stay.", sure=sure)
        await client.ask("DELETE", f"{SOURCES.path}/{source['id']}")
        click.echo(f"Deleted {plain(source['url'])}.", err=True)
        again = hinted(f"For ten minutes it can be had back: `sanderling sources restore {source['id']}`.")
        click.echo(again, err=True)

    asked(client, act)
    return Exit.WELL


def restore(client: Client, id: str) -> int:
    """Restore a deleted source by its id; no list shows it any more."""

    async def act() -> dict[str, Any]:
        try:
            known = UUID(id)
        except ValueError:
            says = "Name it by its whole id, which `sanderling sources delete` printed."
            raise CommandFailed(hinted(says), Exit.USAGE) from None
        return dict((await client.ask("POST", f"{SOURCES.path}/{known}/restore")).json())

    source = asked(client, act)
    click.echo(f"{plain(called(source) or source['url'])} is back.", err=True)
    return Exit.WELL
