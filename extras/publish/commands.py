"""`sanderling publications`: events without a key, at a secret address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from api.fields.publications import NewPublication
from sanderling.client.terminal import Listing, print_page
from sanderling.commands import keys
from sanderling.environment import hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import field_options
from storage.records.identity import rfc3339
from storage.records.secrecy import plain
from storage.records.source import distinct_names, tag_of

if TYPE_CHECKING:
    from sanderling.client.api import Client

PUBLICATIONS: Final = keys.Sort("/v1/publications", "publication", "publications", ("title", "url"), "publications")
MOST_NAMED: Final = 10


@click.group()
def publications() -> None:
    """Publish events as Atom, RSS and JSON Feed, and as a page, at addresses that cannot be guessed.

    PUBLICATION is its id, its title or a part of that, or a part of its address.
    """


@publications.command("create")
@click.argument("title")
@click.option("--source", "sources", multiple=True, help="Events of this watched URL; repeatable.")
@click.option("--tag", "tags", multiple=True, help="Events with this tag; repeatable.")
@click.option("--alert", "alerts", multiple=True, help="Matches of this alert; repeatable.")
@click.option("--channel", help="Events of the stream with this name.")
@click.option("--private", multiple=True, help="Include this private source; repeatable.")
@field_options(NewPublication)
@keys.record_flag
@keys.with_client
async def create(
    client: Client, *, title: str, channel: str | None, ends_on: str | None, as_json: bool, **shown: Sequence[str]
) -> None:
    """Publish events under a TITLE, and print the addresses. Without options it shows all sources but private ones:
    those that are checked with headers, or in an opened network.

    \b
    sanderling publications create Prices --tag prices
    sanderling publications create "The ferry" --source ferry --ends-on 2026-12-31
    """
    body: dict[str, Any] = {
        "title": title,
        "tags": list(shown["tags"]),
        "channel": channel,
        "source_ids": await keys.SOURCES.ids_of(client, shown["sources"]),
        "alert_ids": await keys.ALERTS.ids_of(client, shown["alerts"]),
        "private_source_ids": await keys.SOURCES.ids_of(client, shown["private"]),
        "ends_on": ends_on,
    }
    print_page(await keys.sent(client, "POST", PUBLICATIONS.path, json=body), publication_page, as_json=as_json)
    await keys.report_new_tags(client, shown["tags"])
    tags, named = set(map(tag_of, shown["tags"])), {*body["source_ids"], *body["private_source_ids"]}
    is_wide = (not body["source_ids"] and not tags) or shown["alerts"] or channel
    private = [one async for one in client.every(keys.SOURCES.path) if one["private"]]
    _name("Anyone with an address sees these private sources: {}.", [one for one in private if one["id"] in named])
    left_out = [one for one in private if one["id"] not in named and (is_wide or tags.intersection(one["tags"]))]
    _name("Left out, as they are private: {}. To publish one, name it with --private.", left_out)


def _name(says: str, sources: Sequence[Mapping[str, Any]]) -> None:
    names = distinct_names(
        (source["id"], plain(keys.called(source) or source["url"]), plain(source["url"])) for source in sources
    )
    more = len(sources) - MOST_NAMED
    if sources:
        click.echo(
            says.format("; ".join([*names.values()][:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")),
            err=True,
        )


@publications.command("list")
@keys.records_flag
@keys.with_client
async def listed(client: Client, *, as_json: bool) -> None:
    """List the publications, oldest first: id, title, address of the page."""
    await PUBLICATION_LIST.show_each(client.every(PUBLICATIONS.path), as_json=as_json)


def _address(one: Mapping[str, Any]) -> str:
    return one["url"] or hinted("not known to this service any more; `sanderling publications readdress` makes another")


PUBLICATION_LIST = Listing[Mapping[str, Any]](
    ("id", "title", "address"),
    lambda one: (one["id"], one["title"], _address(one)),
    "Nothing is published yet: `sanderling publications create TITLE`.",
)


@publications.command("show")
@click.argument("name", metavar="PUBLICATION")
@keys.record_flag
@keys.with_client
async def show(client: Client, *, name: str, as_json: bool) -> None:
    """Show a publication's content and its addresses."""
    print_page(await PUBLICATIONS.record_of(client, name), publication_page, as_json=as_json)


def publication_page(one: Mapping[str, Any]) -> Iterator[str]:
    yield f"{plain(one['title'])}  {one['id']}"
    for label, values in (("sources", one["source_ids"]), ("tags", one["tags"]), ("alerts", one["alert_ids"])):
        if values:
            yield f"  {label:<8}  {plain(', '.join(values))}"
    if one["channel"]:
        yield f"  channel   {plain(one['channel'])}"
    if one["private_source_ids"]:
        yield f"  private   {plain(', '.join(one['private_source_ids']))}: anyone with an address sees their events"
    if one["ends_on"]:
        from sanderling.real_world import now

        yield f"  {'ended' if one['ends_on'] < rfc3339(now())[:10] else 'until':<8}  {one['ends_on']} (UTC), then 410"
    yield f"  page      {plain(_address(one))}"
    for label, address in (one["feeds"] or {}).items():
        yield f"  {label:<8}  {plain(address)}"


@publications.command("edit")
@click.argument("name", metavar="PUBLICATION")
@click.option("--title", help="Its new title.")
@click.option("--private", multiple=True, help="Include this private source and no other; repeatable. '' for none.")
@field_options(NewPublication, new=False)
@keys.record_flag
@keys.with_client
async def edit(client: Client, *, name: str, as_json: bool, private: Sequence[str], **options: Any) -> None:
    """Change a publication's title, private sources or last day; --ends-on '' removes the day.

    \b
    sanderling publications edit Prices --ends-on 2026-12-31
    """
    body = keys.given(options)
    if private:
        body["private_source_ids"] = await keys.SOURCES.ids_of(client, list(filter(None, private)))
    if not body:
        raise CommandFailed("Name at least one option to change; --help lists them.", Exit.USAGE)
    path = await PUBLICATIONS.path_of(client, name)
    print_page(await keys.sent(client, "PATCH", path, json=body), publication_page, as_json=as_json)


@publications.command("readdress")
@click.argument("name", metavar="PUBLICATION")
@keys.yes_flag
@keys.with_client
async def readdress(client: Client, *, name: str, sure: bool) -> None:
    """Give a publication new addresses. The old ones then answer 404."""
    one = await PUBLICATIONS.record_of(client, name)
    keys.agree(f"Give {plain(one['title'])} new addresses? The present ones will answer 404.", sure=sure)
    made = await keys.sent(client, "POST", f"{PUBLICATIONS.path}/{one['id']}/address")
    print_page(made, publication_page, as_json=False)


@publications.command("delete")
@click.argument("name", metavar="PUBLICATION")
@keys.yes_flag
@keys.with_client
async def delete(client: Client, *, name: str, sure: bool) -> None:
    """Delete a publication: its addresses answer 404. The events stay."""
    one = await PUBLICATIONS.removed(client, name, "Delete the publication {}? Its addresses answer 404.", sure=sure)
    click.echo(f"Deleted {one['id']}.", err=True)
