"""`sanderling sources versions` and `compare`: stored versions of a page, and their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, Final

import click

from sanderling.client.api import Client
from sanderling.client.listing import for_a_person, print_list
from sanderling.client.naming import SOURCES, id_of
from sanderling.client.rendering import moment, undirected, where_of
from sanderling.client.speaking import asked
from sanderling.environment import environ, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json
from storage.records.secrecy import plain

KEPT: Final = {"whole": "whole", "main_text": "main text", "part": "a part"}
LEAST: Final = 4
"""Minimum letters from an end of a version's id that identify it."""
_COLOURS: Final = {"+": "32", "-": "31"}


def list_versions(client: Client, name: str, *, as_json: bool) -> int:
    """Print the stored versions, newest first."""

    async def act() -> dict[str, Any]:
        path = f"{SOURCES.path}/{await id_of(client, SOURCES, name)}/versions"
        return dict((await client.ask("GET", path)).json())

    found = asked(client, act)["versions"]
    if as_json:
        for one in found:
            print_json(one)
        return Exit.WELL
    if not found:
        click.echo("No version is kept: it is no page, or it has not been looked at yet.", err=True)
        return Exit.WELL
    rows = [(shown(one["version"]), when(one), KEPT[one["kept"]], one["says"]) for one in found]
    if for_a_person():
        print_list(("version", "at", "kept", "what changed"), rows)
    else:
        for one, (_, at, kept, says) in zip(found, rows, strict=True):
            click.echo(f"{one['version']}  {one['at'] or at}  {kept}  {plain(undirected(says))}")
    return Exit.WELL


def compare(client: Client, name: str, earlier: str, later: str, *, whole: bool, as_json: bool) -> int:
    """Print the differences between two versions, each given by id, part of it, `start` or `now`."""

    async def act() -> dict[str, Any]:
        path = f"{SOURCES.path}/{await id_of(client, SOURCES, name)}"
        query = {"show": "text" if whole else "changes"}
        if earlier or later:
            known = [one["version"] for one in (await client.ask("GET", f"{path}/versions")).json()["versions"]]
            query |= {to: named(known, word) for to, word in (("from", earlier), ("to", later)) if word}
        return dict((await client.ask("GET", f"{path}/compare", params=query)).json())

    found = asked(client, act)
    if as_json:
        print_json(found)
        return Exit.WELL
    for line in lines(found, colour=for_a_person() and wants_colour(environ())):
        click.echo(line)
    return Exit.WELL


def named(known: list[str], word: str) -> str:
    """Return the version for a word; `now` is the newest. known: newest first. Raises CommandFailed.

    >>> named(["now", "019db0a4-6a10", "start"], "6a10"), named(["019db0a4-6a10", "start"], "now")
    ('019db0a4-6a10', '019db0a4-6a10')
    """
    if word == "now" and known:
        return known[0]
    found = [id for id in known if id == word] or [
        id for id in known if len(word) >= LEAST and (id.startswith(word) or id.endswith(word))
    ]
    if len(found) == 1:
        return found[0]
    says = "No version is" if not found else f"{len(found)} versions are"
    raise CommandFailed(f"{says} called {plain(word[:40])!r}; `sanderling sources versions` shows them.", Exit.USAGE)


def shown(version: str) -> str:
    """Shorten a version's id to its end.

    >>> shown("019db0a4-6a10-7000-8000-0000000000a7"), shown("start")
    ('000000a7', 'start')
    """
    return version[-8:]


def when(version: Mapping[str, Any], zone: tzinfo | None = None) -> str:
    """Return the time a version was reported; "-" before the first report."""
    return moment(version["at"], zone) if version["at"] else "-"


def lines(found: Mapping[str, Any], *, colour: bool = False, zone: tzinfo | None = None) -> Iterator[str]:
    """Yield a comparison as lines: both versions, then each step with its sign."""
    earlier, later = found["from"], found["to"]
    yield f"{shown(earlier['version'])} ({when(earlier, zone)}) → {shown(later['version'])} ({when(later, zone)})"
    if found["partial"]:
        yield "(of the main text only: more is not kept of one of them)"
    for step in found["steps"]:
        where = where_of(step.get("context"))
        for sign, text in (("-", step.get("before")), ("+", step.get("after"))):
            if text is None or (sign == "-" and step["op"] == "keep"):
                continue
            mark = " " if step["op"] == "keep" else sign
            line = f"{mark} {plain(undirected(where + text))}"
            yield f"\x1b[{_COLOURS[mark]}m{line}\x1b[0m" if colour and mark in _COLOURS else line
    if not found["steps"]:
        yield "Nothing differs."
    if found["truncated"]:
        yield "… and more: --json has as much as the service gives"
