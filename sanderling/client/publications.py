"""`sanderling publications`: its requests and output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from sanderling.client.api import Client
from sanderling.client.listing import for_a_person, print_list, short_ids
from sanderling.client.naming import ALERTS, PUBLICATIONS, SOURCES, id_of, record_of
from sanderling.client.speaking import agree, asked
from sanderling.environment import hinted
from sanderling.exits import Exit
from sanderling.json_lines import print_json
from storage.records.secrecy import plain

LOST = "not known to this service any more; `sanderling publications readdress` makes another"


def create(client: Client, title: str, *, channel: str | None = None, as_json: bool, **shown: Sequence[str]) -> int:
    """Publish `sources`, `tags`, `alerts` and `private` sources, as a person names them, and print the addresses."""

    async def act() -> dict[str, Any]:
        body: dict[str, Any] = {"title": title, "tags": list(shown.get("tags", ())), "channel": channel}
        named = {"sources": ("source_ids", SOURCES), "alerts": ("alert_ids", ALERTS)}
        for what, (field, noun) in (named | {"private": ("private_source_ids", SOURCES)}).items():
            body[field] = [await id_of(client, noun, name) for name in shown.get(what, ())]
        return dict((await client.ask("POST", PUBLICATIONS.path, json=body)).json())

    return _print(asked(client, act), as_json=as_json)


def list_publications(client: Client, *, as_json: bool) -> int:
    """Print all publications, oldest first."""

    async def act() -> None:
        found = [one async for one in client.every(PUBLICATIONS.path)]
        ids = short_ids([one["id"] for one in found])
        if not (found or as_json):
            click.echo(hinted("Nothing is published: `sanderling publications create TITLE`."), err=True)
        elif as_json or not for_a_person():
            for one in found:
                line = f"{one['id']}  {plain(one['title'])}  {plain(one['url'] or hinted(LOST))}"
                print_json(one) if as_json else click.echo(line)
        else:
            print_list(
                ("id", "title", "address"),
                [(ids[one["id"]], one["title"], one["url"] or hinted(LOST)) for one in found],
            )

    asked(client, act)
    return Exit.WELL


def show(client: Client, name: str, *, as_json: bool) -> int:
    async def act() -> dict[str, Any]:
        return await record_of(client, PUBLICATIONS, name)

    return _print(asked(client, act), as_json=as_json)


def readdress(client: Client, name: str, *, sure: bool) -> int:
    """Give a publication a new address after confirmation."""

    async def act() -> dict[str, Any]:
        one = await record_of(client, PUBLICATIONS, name)
        agree(f"Give {plain(one['title'])} another address? The present ones answer 404 then.", sure=sure)
        return dict((await client.ask("POST", f"{PUBLICATIONS.path}/{one['id']}/address")).json())

    return _print(asked(client, act), as_json=False)


def delete(client: Client, name: str, *, sure: bool) -> int:
    """Delete a publication after confirmation."""

    async def act() -> None:
        one = await record_of(client, PUBLICATIONS, name)
        agree(f"Delete the publication {plain(one['title'])}? Its addresses answer 404 then.", sure=sure)
        await client.ask("DELETE", f"{PUBLICATIONS.path}/{one['id']}")
        click.echo(f"Deleted {one['id']}.", err=True)

    asked(client, act)
    return Exit.WELL


def publication_page(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield a publication as lines: content and addresses."""
    yield f"{plain(one['title'])}  {one['id']}"
    for label, values in (("sources", one["source_ids"]), ("tags", one["tags"]), ("alerts", one["alert_ids"])):
        if values:
            yield f"  {label:<8}  {plain(', '.join(values))}"
    if one["channel"]:
        yield f"  channel   {plain(one['channel'])}"
    if one["private_source_ids"]:
        yield f"  private   {plain(', '.join(one['private_source_ids']))}: whoever has an address sees what they report"
    yield f"  page      {plain(one['url'] or hinted(LOST))}"
    for label, address in (one["feeds"] or {}).items():
        yield f"  {label:<8}  {plain(address)}"


def _print(one: Mapping[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(one)
    else:
        for line in publication_page(one):
            click.echo(line)
    return Exit.WELL
