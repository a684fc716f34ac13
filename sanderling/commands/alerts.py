"""`sanderling alerts`: queries and the destinations of their matches, through the running service."""

from __future__ import annotations

from typing import Any

import click

from sanderling.exits import CommandFailed, Exit
from sanderling.flags import answer_to_old_names, client_flags

JSON_HELP = "The service's own records, one a line."
LANGUAGE_HELP = "Of the query: a code such as en or sv, or simple."
MATCH = click.Choice(["change", "added", "removed", "page"])
MATCH_HELP = "Of a watched page: what came and went, what came, what went, or the whole page."
SOURCES_HELP = "This source: its id, a name, its URL or a part of these; repeatable. Without any source or tag: all."
TAGS_HELP = "Sources with this tag, also those that get it later; repeatable, and beside --source."
PRIVATE = click.option(
    "--private",
    multiple=True,
    help="This private source, too: one that is checked with headers, or in an opened network; repeatable.",
)
ONCE = click.option(
    "--once-per-story/--every-event",
    default=None,
    help="Of sources that bring the same, only the first, or all. A new alert over several sources: the first.",
)


@click.group()
def alerts() -> None:
    """List, show, try, make, change, pause and delete alerts, and send their matches, through the running service.

    NAME is an alert's id, its name or a part of its name.
    """


@alerts.command("list")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@client_flags
def listed(service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """List the alerts, oldest first: its state, how many events it has met, its id, name and query."""
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    return acts.list_alerts(client_here(service, key_file), as_json=as_json)


@alerts.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The alert with its destinations, as one object.")
@client_flags
def show(name: str, service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Show one alert: what it asks, what it met, and how its destinations stand.

    \b
    sanderling alerts show prices
    """
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    return acts.show_alert(client_here(service, key_file), name, as_json=as_json)


@alerts.command("preview")
@click.argument("query")
@click.option("--language", default="en", show_default=True, help=LANGUAGE_HELP)
@click.option("--match", type=MATCH, default="change", show_default=True, help=MATCH_HELP)
@click.option("--source", "sources", multiple=True, help=SOURCES_HELP)
@click.option("--tag", "tags", multiple=True, help=TAGS_HELP)
@click.option("--last", type=click.IntRange(1, 2000), help="How many of the newest events to look at; else 2000.")
@click.option("--limit", type=click.IntRange(0, 100), default=10, show_default=True, help="How many matches to show.")
@click.option("--json", "as_json", is_flag=True, help="The service's own answer.")
@client_flags
def preview(service: str | None, key_file: str | None, **asked: Any) -> int:
    """Try a QUERY on the newest events: how it is understood, what it would have told, how much a day.

    \b
    sanderling alerts preview 'price OR "new plan" -careers'
    """
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    return acts.preview(client_here(service, key_file), **asked)


@alerts.command("create")
@click.argument("query")
@click.option("--name", help="What it is called; else its query.")
@click.option("--language", default="en", show_default=True, help=LANGUAGE_HELP)
@click.option("--match", type=MATCH, default="change", show_default=True, help=MATCH_HELP)
@click.option("--source", "sources", multiple=True, help=SOURCES_HELP)
@click.option("--tag", "tags", multiple=True, help=TAGS_HELP)
@PRIVATE
@click.option("--channel", help="Its matches are a stream of this name, too: sanderling tail --channel.")
@ONCE
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def create(service: str | None, key_file: str | None, **asked: Any) -> int:
    """Make an alert of a QUERY; an empty one ('') matches everything. The last line of the output is its id.

    \b
    sanderling alerts create 'price OR plan -careers' --name prices
    sanderling alerts create '"sold out"' --match added --tag shops
    sanderling alerts deliver prices https://hooks.example.org/in
    """
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    return acts.create(client_here(service, key_file), **asked)


@alerts.command("edit")
@click.argument("name")
@click.option("--name", "called", help="What it is called.")
@click.option("--query", help="What it asks; '' matches everything.")
@click.option("--language", help=LANGUAGE_HELP)
@click.option("--match", type=MATCH, help=MATCH_HELP)
@click.option("--source", "sources", multiple=True, help="These sources, and no others; repeatable.")
@click.option(
    "--tag", "tags", multiple=True, help="Sources with this tag, and no others; repeatable, and beside --source."
)
@click.option("--all-sources", "everywhere", is_flag=True, help="All sources there are and will be.")
@PRIVATE
@click.option("--channel", help="Its matches are a stream of this name, too; '' takes that away.")
@ONCE
@click.option("--active/--paused", default=None, help="Whether it matches what comes.")
@click.option("--enabled/--disabled", default=None, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def edit(name: str, service: str | None, key_file: str | None, *, as_json: bool, **given: Any) -> int:
    """Change an alert: only what is named here, and at once. Prints what it is then.

    \b
    sanderling alerts edit prices --query 'price OR plan' --match added
    sanderling alerts edit prices --name "Prices and plans" --source example.org/shop
    """
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    over = {option: given.pop(option) for option in ("sources", "tags", "private", "everywhere")}
    if (over["sources"] or over["tags"]) and over["everywhere"]:
        raise CommandFailed("--all-sources can't stand beside --source or --tag.", Exit.USAGE)
    active, enabled = given.pop("active"), given.pop("enabled")
    given["enabled"] = active if enabled is None else enabled
    fields = {"called": "name", "query": "filter_query"}
    changes = {fields.get(option, option): value for option, value in given.items() if value is not None}
    if "channel" in changes:
        changes["channel"] = changes["channel"] or None
    if not (changes or any(over.values())):
        raise CommandFailed("Nothing is named that is to change; --help shows what can be.", Exit.USAGE)
    return acts.edit(client_here(service, key_file), name, changes=changes, **over, as_json=as_json)


@alerts.command("deliver")
@click.argument("name")
@click.argument("target", metavar="[URL]", default="")
@click.option("--kind", default="webhook", show_default=True, help="How: `sanderling kinds list` shows them.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="What the kind asks for; repeatable.")
@click.option(
    "--mode",
    type=click.Choice(["instant", "15min", "hourly", "daily"]),
    default="instant",
    show_default=True,
    help="Each match at once, or those of a while together.",
)
@click.option(
    "--format",
    type=click.Choice(["event", "cloudevents"]),
    default="event",
    show_default=True,
    help="The event itself, or in an envelope of CloudEvents 1.0.2.",
)
@click.option("--json", "as_json", is_flag=True, help="The service's own record, with the secret.")
@client_flags
def deliver(name: str, service: str | None, key_file: str | None, *, as_json: bool, **wish: Any) -> int:
    """Send the matches of an alert to a URL, as signed POSTs, or to a chat or a phone. A signing secret is shown once:
    the last line. A value @FILE is read from a file, @- from the standard input, so that no history keeps it.

    \b
    sanderling alerts deliver prices https://hooks.example.org/in --mode hourly
    sanderling alerts deliver prices "$(sanderling bins create)"
    sanderling alerts deliver prices --kind ntfy --option topic=prices-k3f9x2
    """
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    wanted = acts.Wish(**wish | {"options": acts.values_of(wish["options"])})
    return acts.deliver(client_here(service, key_file), name, wanted, as_json=as_json)


@alerts.command("resume")
@click.argument("name")
@client_flags
def resume(name: str, service: str | None, key_file: str | None) -> int:
    """Resume an alert: it matches what comes from now on."""
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    return acts.switch(client_here(service, key_file), name, on=True)


@alerts.command("pause")
@click.argument("name")
@client_flags
def pause(name: str, service: str | None, key_file: str | None) -> int:
    """Pause an alert, and keep it with its destinations: it matches nothing until it is resumed."""
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    return acts.switch(client_here(service, key_file), name, on=False)


@alerts.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
@client_flags
def delete(name: str, service: str | None, key_file: str | None, *, yes: bool) -> int:
    """Delete an alert with its destinations and what waits for them."""
    from sanderling.client import alerts as acts
    from sanderling.client.running import client_here

    return acts.delete(client_here(service, key_file), name, sure=yes)


answer_to_old_names(alerts, {"enable": resume, "disable": pause})
