"""`sanderling tags`: the tags of sources, and the defaults that their sources inherit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import click

from sanderling.client.api import Client
from sanderling.client.listing import Cell, for_a_person, print_list
from sanderling.client.speaking import asked
from sanderling.environment import hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json
from storage.records.secrecy import plain
from storage.records.source import tag_of

PATH: Final = "/v1/tags"
SETTINGS: Final = ("schedule", "hours", "bar", "selector", "ignore", "destinations")
_NONE: Final = hinted("No source has a tag: `sanderling sources tag TAG SOURCE` gives it one.")


def list_tags(client: Client, *, as_json: bool) -> int:
    """Print all tags by name with their source counts and defaults."""

    async def act() -> None:
        found = [one async for one in client.every(PATH)]
        if as_json:
            for one in found:
                print_json(one)
        elif not found:
            click.echo(_NONE, err=True)
        elif for_a_person():
            heads = ("sources", "tag", "defaults")
            print_list(heads, [(Cell(f"{one['sources']:,}", right=True), one["tag"], _in_short(one)) for one in found])
        else:
            for one in found:
                click.echo(f"{one['sources']}  {plain(one['tag'])}  {plain(_in_short(one))}".rstrip())

    asked(client, act)
    return Exit.WELL


def show(client: Client, tag: str, *, as_json: bool) -> int:
    async def act() -> dict[str, Any]:
        return dict((await client.ask("GET", _path(tag))).json())

    return _print(asked(client, act), as_json=as_json)


def put(client: Client, tag: str, changes: Mapping[str, Any], *, as_json: bool) -> int:
    """Set some defaults of a tag; the others stay. Raises CommandFailed if none is given."""
    if not changes:
        options = "--schedule, --hours, --bar, --selector, --ignore or --destination"
        raise CommandFailed(f"Say what to set: {options}.", Exit.USAGE)
    return _print(asked(client, lambda: _put(client, tag, changes)), as_json=as_json)


def unset(client: Client, tag: str, names: Sequence[str], *, as_json: bool) -> int:
    """Remove a tag's defaults, all of them if none is named."""
    path = _path(tag)

    async def act() -> dict[str, Any] | None:
        kept, _ = await _kept(client, tag)
        if not names or not any(value for name, value in kept.items() if name not in names):
            await client.ask("DELETE", path)
            return None
        return await _put(client, tag, dict.fromkeys(names))

    left = asked(client, act)
    if left is not None:
        return _print(left, as_json=as_json)
    click.echo(f"{plain(tag_of(tag))} has no defaults any more; its sources keep the tag.", err=True)
    return Exit.WELL


async def _put(client: Client, tag: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    kept, revision = await _kept(client, tag)
    body = {name: value for name, value in (kept | dict(changes)).items() if value not in (None, [])}
    headers = {"If-Match": revision} if revision else {}
    return dict((await client.ask("PUT", _path(tag), json=body, headers=headers)).json())


async def _kept(client: Client, tag: str) -> tuple[dict[str, Any], str]:
    """Return a tag's defaults and their revision; empty if it has none."""
    wanted = tag_of(tag)
    if not any([one["defaults"] async for one in client.every(PATH) if one["tag"] == wanted]):
        return {}, ""
    answer = await client.ask("GET", _path(tag))
    defaults = answer.json()["defaults"] or {}
    return {name: defaults[name] for name in SETTINGS if name in defaults}, answer.headers.get("ETag", "")


def tag_page(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield a tag as lines: source count and defaults."""
    more = one["sources_below"] - one["sources"]
    yield f"{plain(one['tag'])}  {one['sources']:,} sources" + (f", and {more:,} below it" if more else "")
    if one["defaults"] is None:
        yield hinted(f"  no defaults; `sanderling tags set {plain(one['tag'])} --schedule 15m` sets one")
        return
    for name, value in _set(one["defaults"]):
        yield f"  {name:<12}  {plain(value)}"


def _in_short(one: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in _set(one["defaults"] or {}))


def _set(defaults: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in SETTINGS:
        value = defaults.get(name)
        if value not in (None, []):
            yield name, ", ".join(value) if isinstance(value, list) else str(value)


def _path(tag: str) -> str:
    if not tag.strip():
        raise CommandFailed("Which tag? `sanderling tags list` shows them all.", Exit.USAGE)
    return f"{PATH}/{quote(tag.strip(), safe='')}"


def _print(one: Mapping[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(one)
    else:
        for line in tag_page(one):
            click.echo(line)
    return Exit.WELL
