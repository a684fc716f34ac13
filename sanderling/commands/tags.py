"""`sanderling tags`: defaults that all sources with a tag inherit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, get_args
from urllib.parse import quote

import click

from actors.messages.requests import TagSettings
from sanderling.client.lines import Cell
from sanderling.client.terminal import Listing, print_page
from sanderling.commands.keys import given, record_flag, records_flag, sent, with_client
from sanderling.environment import hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import field_options
from storage.records.secrecy import plain
from storage.records.source import Inheritable, tag_of

if TYPE_CHECKING:
    from sanderling.client.api import Client

PATH: Final = "/v1/tags"
SETTINGS: Final = (*get_args(Inheritable), "destinations")


@click.group()
def tags() -> None:
    """Set how all sources with a tag are watched. A source's own settings take precedence."""


@tags.command("list")
@records_flag
@with_client
async def listed(client: Client, *, as_json: bool) -> None:
    """List the tags by name: how many sources have each, and the defaults that they inherit."""
    await TAG_LIST.show_each(client.every(PATH), as_json=as_json)


TAG_LIST = Listing[Mapping[str, Any]](
    ("sources", "tag", "defaults"),
    lambda tag: (Cell(f"{tag['sources']:,}", right=True), tag["tag"], _in_short(tag)),
    "No source has a tag: `sanderling sources tag TAG SOURCE` adds one.",
)


@tags.command("show")
@click.argument("tag")
@record_flag
@with_client
async def show(client: Client, *, tag: str, as_json: bool) -> None:
    """Show how many sources have a tag, and the defaults that they inherit."""
    print_page(await sent(client, "GET", _path(tag)), tag_page, as_json=as_json)


def tag_page(tag: Mapping[str, Any]) -> Iterator[str]:
    more = tag["sources_below"] - tag["sources"]
    yield f"{plain(tag['tag'])}  {tag['sources']:,} sources" + (f", and {more:,} below it" if more else "")
    if tag["defaults"] is None:
        yield hinted(f"  no defaults; `sanderling tags set {plain(tag['tag'])} --schedule 15m` sets one")
        return
    for name, value in _set(tag["defaults"]):
        yield f"  {name:<12}  {plain(value)}"


def _in_short(tag: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in _set(tag["defaults"] or {}))


def _set(defaults: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in SETTINGS:
        value = defaults.get(name)
        if value not in (None, []):
            yield name, ", ".join(value) if isinstance(value, list) else str(value)


@tags.command("set")
@click.argument("tag")
@field_options(TagSettings, new=False)
@click.option(
    "--destination",
    "destinations",
    multiple=True,
    metavar="ID",
    help="A destination of some alert; each new alert over the tag gets a copy of it; repeatable.",
)
@record_flag
@with_client
async def put(client: Client, *, tag: str, as_json: bool, **options: Any) -> None:
    """Set defaults of a tag. Options that you leave out stay as they are; '' removes a default."""
    if not (changes := given(options)):
        names = "--schedule, --hours, --bar, --selector, --ignore or --destination"
        raise CommandFailed(f"Name something to set: {names}.", Exit.USAGE)
    print_page(await _put(client, tag, changes), tag_page, as_json=as_json)


@tags.command("unset")
@click.argument("tag")
@click.argument("names", metavar="[SETTING]...", nargs=-1, type=click.Choice(SETTINGS))
@click.option("--json", "as_json", is_flag=True, help="The service's own record, if defaults are left.")
@with_client
async def unset(client: Client, *, tag: str, names: Sequence[str], as_json: bool) -> None:
    """Remove the named defaults of a tag, or all of them. The sources keep the tag."""
    kept, _ = await _kept(client, tag)
    if names and any(value for name, value in kept.items() if name not in names):
        print_page(await _put(client, tag, dict.fromkeys(names)), tag_page, as_json=as_json)
        return
    await client.ask("DELETE", _path(tag))
    click.echo(f"{plain(tag_of(tag))} has no defaults any more; its sources keep the tag.", err=True)


async def _put(client: Client, tag: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    kept, revision = await _kept(client, tag)
    body = {name: value for name, value in (kept | dict(changes)).items() if value not in (None, [])}
    return await sent(client, "PUT", _path(tag), json=body, headers={"If-Match": revision} if revision else {})


async def _kept(client: Client, tag: str) -> tuple[dict[str, Any], str]:
    wanted = tag_of(tag)
    if not any([tag["defaults"] async for tag in client.every(PATH) if tag["tag"] == wanted]):
        return {}, ""
    answer = await client.ask("GET", _path(tag))
    defaults = answer.json()["defaults"] or {}
    return {name: defaults[name] for name in SETTINGS if name in defaults}, answer.headers.get("ETag", "")


def _path(tag: str) -> str:
    if not tag.strip():
        raise CommandFailed("Which tag? `sanderling tags list` lists them all.", Exit.USAGE)
    return f"{PATH}/{quote(tag.strip(), safe='')}"
