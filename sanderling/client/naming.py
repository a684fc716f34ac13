"""Find a record by its id, the beginning or end of its id, or part of its names or URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sanderling.client.api import Client
from sanderling.exits import CommandFailed, Exit
from storage.records import source as names
from storage.records.secrecy import plain

NAMED = 5
"""Maximum candidates listed for an ambiguous name."""


class Sort(NamedTuple):
    """A kind of record: list path, singular, plural, the fields to search (the first is shown), the command."""

    path: str
    one: str
    many: str
    known_by: tuple[str, ...]
    command: str


SOURCES = Sort("/v1/sources", "watched URL", "watched URLs", ("url", "title", "found_title"), "sources")
ALERTS = Sort("/v1/alerts", "alert", "alerts", ("name",), "alerts")
PUBLICATIONS = Sort("/v1/publications", "publication", "publications", ("title", "url"), "publications")
BINS = Sort("/v1/webhook-bins", "bin", "bins", ("url",), "bins")


def called(source: Mapping[str, Any]) -> str:
    """Return the user's name for a source, else its own title, else ""."""
    return names.called(str(source.get("title", "")), str(source.get("found_title", "")))


async def id_of(client: Client, sort: Sort, name: str) -> str:
    """Return the id of the matching record; a full id is not checked. Raises CommandFailed if unclear.

    An empty name matches nothing: an unset variable in a script would otherwise pick the only record.
    """
    if not name.strip():
        raise CommandFailed(f"Which {sort.one}? `sanderling {sort.command} list` shows them all.", Exit.USAGE)
    try:
        return str(UUID(name))
    except ValueError:
        return str((await _found(client, sort, name))["id"])


async def record_of(client: Client, sort: Sort, name: str) -> dict[str, Any]:
    """Return the matching record. Raises CommandFailed if it is unclear or missing."""
    return dict((await client.ask("GET", f"{sort.path}/{await id_of(client, sort, name)}")).json())


async def _found(client: Client, sort: Sort, name: str) -> dict[str, Any]:
    found = [
        one
        async for one in client.every(sort.path)
        if one["id"].startswith(name) or one["id"].endswith(name) or any(name in text for text in _known_by(sort, one))
    ]
    found = [one for one in found if name in _known_by(sort, one)] or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise CommandFailed(f"No {sort.one} has {name!r} in it; `sanderling {sort.command} list` shows them all.")
    names = "".join(f"\n  {one['id']}  {plain(one[sort.known_by[0]])}" for one in found[:NAMED])
    more = f"\n  and {len(found) - NAMED} more" if len(found) > NAMED else ""
    raise CommandFailed(f"{len(found)} {sort.many} have {name!r} in them:{names}{more}", Exit.USAGE)


def _known_by(sort: Sort, one: Mapping[str, Any]) -> Sequence[str]:
    return [str(one[field]) for field in sort.known_by if one.get(field)]
