"""`sanderling tags`: defaults for all sources with a tag, through the running service."""

from __future__ import annotations

from typing import Any

import click

from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags

SETTINGS = ("schedule", "hours", "bar", "selector", "ignore", "destinations")


@click.group()
def tags() -> None:
    """Set once how all sources with a tag are watched. A source's own settings go first.

    TAG is <namespace>:<word>; a bare word is a label. To tag a source: `sanderling sources tag`.
    """


@tags.command("list")
@click.option("--json", "as_json", is_flag=True, help="The service's own records, one a line.")
@client_flags
def listed(service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """List the tags by name: how many sources have each, and what these inherit."""
    from sanderling.client import tags as acts
    from sanderling.client.running import client_here

    return acts.list_tags(client_here(service, key_file), as_json=as_json)


@tags.command("show")
@click.argument("tag")
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def show(tag: str, service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Show how many sources have a tag, and what they inherit."""
    from sanderling.client import tags as acts
    from sanderling.client.running import client_here

    return acts.show(client_here(service, key_file), tag, as_json=as_json)


@tags.command("set")
@click.argument("tag")
@click.option("--schedule", help="How often they are looked at, as 15m or 1d.")
@click.option("--hours", help="When they are looked at, as 'weekdays 08-18 Europe/Stockholm'.")
@click.option("--bar", help="For pages: how heavy a change must be to be told, from 0.2 to 0.9.")
@click.option("--selector", help="The part of pages that is watched: CSS, XPath, JSONPath or a path.")
@click.option("--ignore", multiple=True, help="A part that is left out, written as a selector; repeatable.")
@click.option(
    "--destination",
    "destinations",
    multiple=True,
    metavar="ID",
    help="A destination of some alert, of which each new alert over the tag gets a copy; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="The service's own record.")
@client_flags
def put(tag: str, service: str | None, key_file: str | None, *, as_json: bool, **asked: Any) -> int:
    """Set defaults of a tag. What is not named stays; '' takes it away.

    \b
    sanderling tags set prices --schedule 15m --hours "weekdays 08-18 Europe/Stockholm" --bar 0.4
    """
    from sanderling.client import tags as acts
    from sanderling.client.running import client_here

    return acts.put(client_here(service, key_file), tag, changes_of(**asked), as_json=as_json)


def changes_of(bar: str | None, **asked: Any) -> dict[str, Any]:
    """Return the given options; empty text becomes None. Raises CommandFailed."""
    found: dict[str, Any] = {}
    for name, value in asked.items():
        if isinstance(value, tuple):
            found |= {name: [each for each in value if each]} if value else {}
        elif value is not None:
            found[name] = value or None
    if bar is not None:
        try:
            found["bar"] = float(bar) if bar else None
        except ValueError:
            raise CommandFailed(f"--bar = {bar!r}: must be a number from 0.2 to 0.9.", Exit.USAGE) from None
    return found


@tags.command("unset")
@click.argument("tag")
@click.argument("names", metavar="[SETTING]...", nargs=-1, type=click.Choice(SETTINGS))
@click.option("--json", "as_json", is_flag=True, help="The service's own record, if defaults are left.")
@client_flags
def unset(tag: str, names: tuple[str, ...], service: str | None, key_file: str | None, *, as_json: bool) -> int:
    """Take defaults of a tag away: those that are named, else all. The sources keep the tag.

    \b
    sanderling tags unset prices selector ignore
    """
    from sanderling.client import tags as acts
    from sanderling.client.running import client_here

    return acts.unset(client_here(service, key_file), tag, names, as_json=as_json)
