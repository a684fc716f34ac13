"""`sanderling sources`: the watched URLs, through the running service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import click

from sanderling.commands.backup import sizes
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import answer_to_old_names, client_flags, json_flag
from storage.records.source import Inheritable, Render
from storage.records.tiers import TIERS


def headers_in(file: str | None) -> str | None:
    """Return a file's text, or stdin's for "-". Raises CommandFailed."""
    try:
        if file is None:
            return None
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise CommandFailed(f"--headers-file {file}: {error}", Exit.USAGE) from None


headers_file = click.option(
    "--headers-file",
    metavar="FILE",
    help="A file with headers for a page that asks who you are, `Name: value` a line; - reads them from here. With a "
    "first line POST, what follows an empty line is posted. An empty file forgets them.",
)

render_option = click.option(
    "--render",
    type=click.Choice(get_args(Render)),
    help="Whether a browser shows a page before it is read: auto (as a new source has it) only where it is empty "
    "without its scripts. A rendered look costs 100 plain ones.",
)


@click.group()
def sources() -> None:
    """Add, list, show, edit, tag, pause and delete watched URLs, through the running service."""


@sources.command("add")
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--type", "kind", type=click.Choice(list(TIERS)), help="Overrides detection.")
@click.option("--tag", "tags", multiple=True, help="A tag for its events; repeatable.")
@click.option("--selector", help="The part that is watched: CSS, XPath (//h2), JSONPath ($.plans[*].price), or a path.")
@click.option("--ignore", multiple=True, help="A part that is left out, written as a selector; repeatable.")
@click.option("--hours", help="When it is looked at, as 'weekdays 08-18 Europe/Stockholm'.")
@render_option
@click.option("--wait-for", help="A CSS selector that must be there before a rendered page is read.")
@click.option("--filter", "query", help="For a WebSocket: which frames become events; '' lets all pass.")
@click.option("--backfill", type=click.IntRange(0, 50), help="Emit the newest N entries that are there already.")
@click.option("--follow", is_flag=True, help="Tell each new item of its list, or entry, with the text of its page.")
@click.option(
    "--follow-host", "follow_hosts", multiple=True, help="Also fetch pages of this host ('*': all); repeatable."
)
@headers_file
@click.option("--headers-for", multiple=True, help="Send the headers for other sources at this host, too; repeatable.")
@click.option(
    "--own-only",
    multiple=True,
    type=click.Choice(get_args(Inheritable)),
    help="This setting follows no tag: without a value of its own the source has none; repeatable.",
)
@click.option("--later", is_flag=True, help="Add it also when it can't be reached now.")
@click.option("--json", "as_json", is_flag=True, help="The service's own records, one a line.")
@client_flags
def add(urls: tuple[str, ...], service: str | None, key_file: str | None, **asked: Any) -> int:
    """Watch a URL, or several. The type of each is detected, and the evidence shown. `sanderling add` is short for it.

    Exit code: 0 all are watched, 1 at least one is not.

    \b
    sanderling add https://example.org/news
    sanderling add example.org/prices example.org/terms --tag shop
    """
    from sanderling.client import terminal
    from sanderling.client.running import client_here

    headers = headers_in(asked.pop("headers_file"))
    return terminal.add_sources(client_here(service, key_file), urls, headers=headers, **asked)


@sources.command("list")
@click.option("--json", "as_json", is_flag=True, help="The service's own records, one a line.")
@client_flags
def sources_list(service: str | None, key_file: str | None, as_json: bool) -> int:
    """List the watched URLs, worst health first. On a terminal with heads and ends of ids, elsewhere with whole ids."""
    from sanderling.client import terminal
    from sanderling.client.running import client_here

    return terminal.list_sources(client_here(service, key_file), as_json=as_json)


sources.add_command(sizes)


@sources.command("show")
@click.argument("name", metavar="SOURCE")
@click.option("--json", "as_json", is_flag=True, help="The service's own record, with its status.")
@client_flags
def show(name: str, service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Show one source: what it is, how it does and why, when it is looked at. By id, a name, URL or a part of these.

    \b
    sanderling sources show example.org/news
    """
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.show(client_here(service, key_file), name, as_json=as_json)


@sources.command("values")
@click.argument("name", metavar="SOURCE")
@click.option("--csv", "as_csv", is_flag=True, help="Every value on a line of its own, for a spreadsheet.")
@click.option("--json", "as_json", is_flag=True, help="The service's own answer, with all values.")
@client_flags
def values(name: str, service: str | None, key_file: str | None, *, as_csv: bool, as_json: bool) -> int:
    """Show what a source's page says now, in values, and what they were over time.

    \b
    sanderling sources values example.org/shop
    sanderling sources values example.org/shop --csv > prices.csv
    """
    from sanderling.client import values as acts
    from sanderling.client.running import client_here

    if as_csv and as_json:
        raise click.UsageError("--csv and --json are two forms of the same: choose one")
    return acts.show(client_here(service, key_file), name, form="csv" if as_csv else "json" if as_json else "lines")


@click.command()
@click.argument("name", metavar="SOURCE")
@click.option("--since", default="7d", show_default=True, help="From when on: so long ago, as 12h or 7d, or a time.")
@click.option("--until", help="Until when, written as --since.  [default: now]")
@click.option("--json", "as_json", is_flag=True, help="The signed receipt, which `sanderling verify` checks.")
@client_flags
def coverage(name: str, service: str | None, key_file: str | None, *, as_json: bool, **time: Any) -> int:
    """Say how often a source was looked at, the longest time without a look, and of which time nothing is known.

    Looks are counted by the hour: the time is widened to whole hours.

    \b
    sanderling coverage example.org/news
    sanderling coverage example.org/news --since 2026-04-01T00:00:00Z --json > receipt.json
    sanderling verify receipt.json --jwks http://127.0.0.1:8080
    """
    from sanderling.client import coverage as acts
    from sanderling.client.running import client_here
    from sanderling.real_world import now

    client = client_here(service, key_file)
    return acts.show(client, name, **time, now=now(), as_json=as_json)


@sources.command("check")
@click.argument("name", metavar="SOURCE")
@client_flags
def check(name: str, service: str | None, key_file: str | None) -> int:
    """Look at a source now, within what politeness allows."""
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.check(client_here(service, key_file), name)


@sources.command("edit")
@click.argument("name", metavar="SOURCE")
@click.option("--title", help="What you call it; '' leaves it to the source.")
@click.option("--schedule", help="How often it is looked at, as 10m or 1d; '' lets its pace decide.")
@click.option("--hours", help="When it is looked at, as 'weekdays 08-18 Europe/Stockholm'; '' for always.")
@click.option("--selector", help="The part that is watched: CSS, XPath, JSONPath or a path; '' for all.")
@click.option("--ignore", multiple=True, help="A part that is left out, written as a selector; repeatable.")
@render_option
@click.option("--wait-for", help="A CSS selector that must be there before a rendered page is read; '' for none.")
@click.option("--bar", help="For a page: how heavy a change must be to be told, from 0 to 1; '' as the service has it.")
@click.option("--follow/--no-follow", default=None, help="Tell each new item of its list with the text of its page.")
@click.option("--follow-host", "follow_hosts", multiple=True, help="Also fetch pages of this host; '' for no other.")
@headers_file
@click.option("--headers-for", multiple=True, help="Send the headers for other sources at this host; '' for none.")
@click.option(
    "--own-only",
    multiple=True,
    type=click.Choice((*get_args(Inheritable), "")),
    help="This setting follows no tag; '' lets all follow; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def edit(name: str, service: str | None, key_file: str | None, *, as_json: bool, **asked: Any) -> int:
    """Change how a source is watched. What is not named stays.

    \b
    sanderling sources edit example.org/news --schedule 10m
    """
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    headers = headers_in(asked.pop("headers_file"))
    changes = changes_of(**asked, headers=headers)
    return acts.edit(client_here(service, key_file), name, changes, as_json=as_json)


def changes_of(
    *,
    title: str | None,
    schedule: str | None,
    hours: str | None,
    selector: str | None,
    ignore: tuple[str, ...],
    bar: str | None,
    headers: str | None,
    follow: bool | None = None,
    follow_hosts: tuple[str, ...] = (),
    headers_for: tuple[str, ...] = (),
    own_only: tuple[str, ...] = (),
    render: str | None = None,
    wait_for: str | None = None,
) -> dict[str, Any]:
    """Return the body for PATCH from the given options; empty text clears a field. Raises CommandFailed."""
    found: dict[str, Any] = {"title": title} if title is not None else {}
    found |= {"render": render} if render is not None else {}
    empties = {"schedule": schedule, "hours": hours, "selector": selector, "wait_for": wait_for}
    empties["headers"] = headers if headers is None else headers.strip()
    found |= {name: text or None for name, text in empties.items() if text is not None}
    if follow is not None:
        found["follow"] = "new_links" if follow else "none"
    lists = {"follow_hosts": follow_hosts, "headers_for": headers_for, "own_only": own_only}
    found |= {name: [each for each in given if each] for name, given in lists.items() if given}
    if ignore:
        found["ignore"] = [part for part in ignore if part]
    if bar is not None:
        try:
            found["bar"] = float(bar) if bar else None
        except ValueError:
            raise CommandFailed(f"--bar = {bar!r}: must be a number from 0 to 1.", Exit.USAGE) from None
    return found


@sources.command("rename")
@click.argument("name", metavar="SOURCE")
@click.argument("title")
@client_flags
def rename(name: str, title: str, service: str | None, key_file: str | None) -> int:
    """Call a source by a name of yours; '' leaves it to the source.

    \b
    sanderling sources rename example.org/news "Our news"
    """
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.edit(client_here(service, key_file), name, {"title": title}, as_json=False)


@sources.command("tag")
@click.argument("tag")
@click.argument("names", metavar="SOURCE...", nargs=-1, required=True)
@client_flags
def tag(tag: str, names: tuple[str, ...], service: str | None, key_file: str | None) -> int:
    """Give sources a tag; a bare word is a label. Exit code: 0 all have it, 1 at least one has not.

    \b
    sanderling sources tag shop example.org/prices example.org/terms
    """
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.mark(client_here(service, key_file), names, tag, on=True)


@sources.command("untag")
@click.argument("tag")
@click.argument("names", metavar="SOURCE...", nargs=-1, required=True)
@client_flags
def untag(tag: str, names: tuple[str, ...], service: str | None, key_file: str | None) -> int:
    """Take a tag from sources."""
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.mark(client_here(service, key_file), names, tag, on=False)


@sources.command("resume")
@click.argument("name", metavar="SOURCE")
@client_flags
def resume(name: str, service: str | None, key_file: str | None) -> int:
    """Resume a source: it is watched again."""
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.switch(client_here(service, key_file), name, on=True)


@sources.command("pause")
@click.argument("name", metavar="SOURCE")
@client_flags
def pause(name: str, service: str | None, key_file: str | None) -> int:
    """Pause a source: it is kept, and not watched until it is resumed."""
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.switch(client_here(service, key_file), name, on=False)


@sources.command("delete")
@click.argument("name", metavar="SOURCE")
@click.option("--yes", is_flag=True, help="Don't ask.")
@client_flags
def delete(name: str, service: str | None, key_file: str | None, *, yes: bool) -> int:
    """Forget a source; its events stay in the log."""
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.delete(client_here(service, key_file), name, sure=yes)


@sources.command("restore")
@click.argument("id", metavar="ID")
@client_flags
def restore(id: str, service: str | None, key_file: str | None) -> int:
    """Have a deleted source back, within ten minutes, with all that was learned about it. `delete` prints its ID."""
    from sanderling.client import sources as acts
    from sanderling.client.running import client_here

    return acts.restore(client_here(service, key_file), id)


@sources.command("versions")
@click.argument("name", metavar="SOURCE")
@json_flag
@client_flags
def versions(name: str, service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """List the versions of a page that are kept, the newest first.

    \b
    sanderling sources versions example.org/pricing
    """
    from sanderling.client import versions as acts
    from sanderling.client.running import client_here

    return acts.list_versions(client_here(service, key_file), name, as_json=as_json)


@sources.command("compare")
@click.argument("name", metavar="SOURCE")
@click.argument("earlier", metavar="[VERSION]", default="")
@click.argument("later", metavar="[VERSION]", default="")
@click.option("--text", "whole", is_flag=True, help="The whole text with the changes in it, not only the changes.")
@json_flag
@client_flags
def compare(
    name: str, earlier: str, later: str, service: str | None, key_file: str | None, *, whole: bool, as_json: bool
) -> int:
    """Show what differs between two versions of a page: the newest two, one and the newest, or any two.

    A version is named by its id, the end of it, `start` or `now`, as `versions` shows them.

    \b
    sanderling sources compare example.org/pricing
    sanderling sources compare example.org/pricing start 000000a7
    """
    from sanderling.client import versions as acts
    from sanderling.client.running import client_here

    return acts.compare(client_here(service, key_file), name, earlier, later, whole=whole, as_json=as_json)


answer_to_old_names(sources, {"enable": resume, "disable": pause})
