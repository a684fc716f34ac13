"""`sanderling alerts`: queries, and the destinations of their matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from api.fields.alerts import NewAlert
from api.fields.destinations import NewDestination
from sanderling.client.lines import Cell, alert_lines, moment, state_of
from sanderling.client.terminal import Listing, age_of, alert_page, print_json, print_made, print_page
from sanderling.commands import keys
from sanderling.commands.keys import ALERTS, SOURCES, record_flag, records_flag, sent, with_client, yes_flag
from sanderling.environment import hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import field_options
from sanderling.keyring import Names
from sanderling_client.receiver.terminal import fit
from storage.records.secrecy import plain

if TYPE_CHECKING:
    from sanderling.client.api import Client

WIDTH: Final = 120
SOURCES_HELP = "This source: its id, a name, its URL or a part of these; repeatable. Without any source or tag: all."
TAGS_HELP = "All sources with this tag, now and later; repeatable, and can be combined with --source."
PRIVATE = click.option(
    "--private",
    multiple=True,
    help="Include this private source: one that is checked with headers, or in an opened network; repeatable.",
)


@click.group()
def alerts() -> None:
    """List, show, preview, create, edit, pause and delete alerts, and deliver their matches."""


@alerts.command("list")
@records_flag
@with_client
async def listed(client: Client, *, as_json: bool) -> None:
    """List the alerts, oldest first: state, number of matches, id, name and query."""
    await ALERT_LIST.show_each(client.every(ALERTS.path), as_json=as_json)


def alert_row(alert: Mapping[str, Any]) -> Sequence[Cell | str]:
    state = state_of(alert)
    query = "" if alert["name"] == alert["filter_query"] else alert["filter_query"] or "everything"
    count = Cell(f"{alert['match_count']:,}", right=True)
    return Cell(state.word, state.mood), count, age_of(alert["last_match_at"]), alert["id"], alert["name"], query


ALERT_LIST = Listing(
    ("state", "matches", "last", "id", "name", "query"),
    alert_row,
    "There is no alert yet: `sanderling alerts create QUERY`.",
)


@alerts.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The alert with its destinations, as one object.")
@with_client
async def show(client: Client, *, name: str, as_json: bool) -> None:
    """Show one alert: its query, its matches, and the state of its destinations."""
    alert = await ALERTS.record_of(client, name)
    destinations = [destination async for destination in client.every(f"{ALERTS.path}/{alert['id']}/destinations")]
    for destination in destinations:
        newest = (
            await client.ask("GET", f"{keys.DESTINATIONS.path}/{destination['id']}/deliveries", params={"limit": 1})
        ).json()
        destination["last_attempt"] = next(iter(newest), None)
    print_page(alert | {"destinations": destinations}, lambda alert: alert_page(alert, destinations), as_json=as_json)


@alerts.command("preview")
@click.argument("query")
@field_options(NewAlert, "language", "match")
@click.option("--source", "sources", multiple=True, help=SOURCES_HELP)
@click.option("--tag", "tags", multiple=True, help=TAGS_HELP)
@click.option("--last", type=click.IntRange(1, 2000), help="How many of the newest events to search; by default 2000.")
@click.option("--limit", type=click.IntRange(0, 100), default=10, show_default=True, help="How many matches to show.")
@click.option("--json", "as_json", is_flag=True, help="The service's own answer.")
@with_client
async def preview(
    client: Client, *, query: str, sources: Names, tags: Names, last: int | None, as_json: bool, **fields: Any
) -> None:
    """Try a QUERY on the newest events: its parsed form, its matches, how many events a day."""
    body = {"filter_query": query, "source_ids": await SOURCES.ids_of(client, sources)} | fields
    body |= ({"tags": list(tags)} if tags else {}) | ({"last": last} if last else {})
    print_page(await sent(client, "POST", f"{ALERTS.path}/preview", json=body), preview_page, as_json=as_json)


def true_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the current values that meet an alert already, as they explain its silence."""
    for value in found["true_now"]:
        said = plain(": ".join(filter(None, (value["source"], value["label"], value["text"]))))
        yield f"  True already: {said}. It matches once this changes again."


def preview_page(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{plain(found['query']) or 'everything'}  ({found['language']})"
    for warning in found["warnings"]:
        yield f"  ! {plain(warning)}"
    since = f" since {moment(found['looked_from'])}" if found["looked_from"] else ""
    yield f"  {found['matches_found']:,} of the newest {found['looked_at']:,} events{since}" + (
        "" if found["per_day"] is None else f"; about {found['per_day']:g} a day"
    )
    yield from true_lines(found)
    for term in found["terms"]:
        yield f"  {term['events']:>7,}  {plain(term['text'])}"
    for match in found["matches"]:
        parts = sorted(match["highlights"]["diff"], key=lambda part: part["part"] in ("before", "removed"))
        said = "".join(f": {part['text']}" for part in parts[:1])
        yield f"{moment(match['emitted_at'])}  {fit((match['title'] or match['url']) + said, WIDTH)}"


@alerts.command("create")
@click.argument("query")
@field_options(NewAlert)
@click.option("--source", "sources", multiple=True, help=SOURCES_HELP)
@click.option("--tag", "tags", multiple=True, help=TAGS_HELP)
@PRIVATE
@record_flag
@with_client
async def create(
    client: Client, *, query: str, sources: Names, tags: Names, private: Names, as_json: bool, **fields: Any
) -> None:
    """Create an alert from a QUERY; an empty one ('') matches everything. The last line of output is its id."""
    body = {"filter_query": query, "source_ids": await SOURCES.ids_of(client, sources)}
    body |= {name: value for name, value in fields.items() if value not in (None, "")}
    body |= {"tags": list(tags)} if tags else {}
    body |= {"private_source_ids": await SOURCES.ids_of(client, private)} if private else {}
    made = await sent(client, "POST", ALERTS.path, json=body)
    inherited = (await client.ask("GET", f"{ALERTS.path}/{made['id']}/destinations")).json() if tags else ()
    if as_json:
        print_json(made)
        return
    labels = plain(", ".join(destination["label"] for destination in inherited))
    to = f"It has no destination: `sanderling alerts deliver {made['id']} URL`."
    to = f"It delivers to {labels}, from its tags." if labels else to
    click.echo(hinted(f"Created {plain(made['name'])}. {to}"), err=True)
    await keys.report_new_tags(client, tags)
    for line in true_lines(made):
        click.echo(line, err=True)
    click.echo(made["id"])


@alerts.command("edit")
@click.argument("alert", metavar="NAME")
@click.option("--query", "filter_query", help="Its new query; '' matches everything.")
@field_options(NewAlert, new=False)
@click.option("--source", "sources", multiple=True, help="These sources, and no others; repeatable.")
@click.option("--tag", "tags", multiple=True, help="These tags, and no others; repeatable.")
@click.option("--all-sources", "every", is_flag=True, help="All sources, now and later.")
@PRIVATE
@click.option("--active/--paused", "enabled", default=None, help="Whether it matches new events.")
@record_flag
@with_client
async def edit(
    client: Client, *, alert: str, sources: Names, tags: Names, private: Names, every: bool, as_json: bool, **given: Any
) -> None:
    """Change an alert: only the named options, and at once. Prints the result."""
    if (sources or tags) and every:
        raise CommandFailed("--all-sources excludes --source and --tag.", Exit.USAGE)
    body = {field: value for field, value in given.items() if value is not None}
    if body.get("channel") == "":
        body["channel"] = None
    if not (body or sources or tags or private or every):
        raise CommandFailed("Name at least one option to change; --help lists them.", Exit.USAGE)
    if sources or tags or every:
        body |= {"source_ids": await SOURCES.ids_of(client, sources), "tags": list(tags)}
    if private:
        body["private_source_ids"] = await SOURCES.ids_of(client, private)
    changed = await sent(client, "PATCH", await ALERTS.path_of(client, alert), json=body)
    print_page(changed, alert_lines, as_json=as_json)


@alerts.command("deliver")
@click.argument("name")
@click.argument("target", metavar="[URL]", default="")
@click.option("--kind", default="webhook", show_default=True, help="How: `sanderling kinds list` lists the kinds.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="A value for the kind; repeatable.")
@field_options(NewDestination)
@click.option("--json", "as_json", is_flag=True, help="The service's own record, with the secret.")
@with_client
async def deliver(
    client: Client, *, name: str, target: str, kind: str, options: Names, as_json: bool, **fields: Any
) -> None:
    """Deliver an alert's matches to a URL, as signed POSTs, or to a chat or a phone. A signing secret is shown once:
    the last line. To keep a value out of the shell history, read it from a file (@FILE) or standard input (@-).
    """
    values = values_of(options)
    if fields["format"] == "event":
        del fields["format"]
    body = fields | ({"url": keys.value_of(target, "URL")} if target else {})
    body |= {"kind": kind, "options": values} if kind != "webhook" or values else {}
    made = await sent(client, "POST", f"{await ALERTS.path_of(client, name)}/destinations", json=body)
    secret = made.get("secret") or ""
    where = f"Matches now go to {plain(made['label'])}, {plain(made['url'])} ({made['id']})."
    print_made(made, f"{where} The signing secret, shown only now:" if secret else where, secret, as_json=as_json)


def values_of(options: Sequence[str]) -> dict[str, str]:
    """Parse NAME=VALUE options. Raises CommandFailed."""
    found = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not name or not equals:
            raise CommandFailed(f"{plain(option)}: write NAME=VALUE.", Exit.USAGE)
        found[name] = keys.value_of(value, name)
    return found


def _switch(verb: str, says: str, *, on: bool) -> click.Command:
    @alerts.command(verb, help=says)
    @click.argument("name")
    @with_client
    async def switch(client: Client, *, name: str) -> None:
        alert = await sent(client, "PATCH", await ALERTS.path_of(client, name), json={"enabled": on})
        click.echo(f"{plain(alert['name'])} is {'active' if on else 'paused'}.", err=True)

    return switch


resume = _switch("resume", "Resume an alert: it matches new events again.", on=True)
pause = _switch(
    "pause", "Pause an alert, and keep it with its destinations: it matches nothing until you resume it.", on=False
)


@alerts.command("delete")
@click.argument("name")
@yes_flag
@with_client
async def delete(client: Client, *, name: str, sure: bool) -> None:
    """Delete an alert with its destinations and their pending deliveries."""
    alert = await ALERTS.removed(client, name, "Delete the alert {} with its destinations?", sure=sure)
    click.echo(f"Deleted {plain(alert['name'])}.", err=True)
