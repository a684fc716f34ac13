"""Commands that ask a running service: its client, its records by name, and confirmation.

A person names a record by its id, the beginning or end of its id, or part of its names or URL.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import click

from sanderling.environment import on_terminal
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags
from storage.records import source as names
from storage.records.secrecy import plain

if TYPE_CHECKING:
    from sanderling.client.api import Client

NAMED = 5
record_flag = click.option("--json", "as_json", is_flag=True, help="The service's own record.")
records_flag = click.option("--json", "as_json", is_flag=True, help="The service's own records, one a line.")
yes_flag = click.option("--yes", "sure", is_flag=True, help="Don't ask.")


def with_client(act: Callable[..., Awaitable[int | None]]) -> Callable[..., int]:
    """Add the flags of a service and a key, and run the command with a client; its exit code is 0 by default."""

    @wraps(act)
    def run(*, service: str | None, key_file: str | None, **options: Any) -> int:
        import trio

        from sanderling.client import api

        client = api.client_here(service, key_file)

        async def with_it() -> int | None:
            async with client:
                return await act(client, **options)

        return trio.run(with_it) or Exit.WELL

    return client_flags(run)


async def sent(client: Client, method: str, path: str, **request: Any) -> dict[str, Any]:
    return dict((await client.ask(method, path, **request)).json())


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given; empty text clears a field. Raises CommandFailed."""
    found: dict[str, Any] = {
        name: [each for each in value if each] if isinstance(value, tuple) else value or None
        for name, value in options.items()
        if value not in (None, ())
    }
    try:
        return found | ({"bar": float(found["bar"])} if found.get("bar") else {})
    except ValueError:
        raise CommandFailed(f"--bar = {found['bar']!r}: must be a number from 0.2 to 0.9.", Exit.USAGE) from None


def agree(question: str, *, sure: bool) -> None:
    """Ask for confirmation unless sure. Raises CommandFailed for a no, or without a terminal."""
    if sure:
        return
    if not on_terminal(0):
        raise CommandFailed(f"{question} No terminal is there to confirm it: add --yes.", Exit.USAGE)
    if not click.confirm(question, err=True):
        raise CommandFailed("Nothing was deleted.")


class Sort(NamedTuple):
    """A kind of record: list path, singular, plural, the fields to search (the first is shown), the command."""

    path: str
    one: str
    many: str
    known_by: tuple[str, ...]
    command: str

    async def id_of(self, client: Client, name: str) -> str:
        """Return the id of the record; a full id passes, "" never matches (an unset variable). Raises CommandFailed."""
        if not name.strip():
            raise CommandFailed(f"Which {self.one}? `sanderling {self.command} list` shows them all.", Exit.USAGE)
        try:
            return str(UUID(name))
        except ValueError:
            return str((await self._found(client, name))["id"])

    async def ids_of(self, client: Client, wanted: Sequence[str]) -> list[str]:
        return [await self.id_of(client, name) for name in wanted]

    async def path_of(self, client: Client, name: str) -> str:
        return f"{self.path}/{await self.id_of(client, name)}"

    async def record_of(self, client: Client, name: str) -> dict[str, Any]:
        """Return the matching record. Raises CommandFailed if it is unclear or missing."""
        return await sent(client, "GET", await self.path_of(client, name))

    async def removed(self, client: Client, name: str, question: str, *, sure: bool) -> dict[str, Any]:
        """Delete the matching record once the question about it, by its first field, is answered; return it."""
        one = await self.record_of(client, name)
        agree(question.format(plain(one[self.known_by[0]])), sure=sure)
        await client.ask("DELETE", f"{self.path}/{one['id']}")
        return one

    async def _found(self, client: Client, name: str) -> dict[str, Any]:
        async with aclosing(client.every(self.path)) as every:
            found = [one async for one in every if self._matches(one, name)]
        found = [one for one in found if name in self._known_by(one)] or found
        if len(found) == 1:
            return found[0]
        if not found:
            raise CommandFailed(f"No {self.one} has {name!r} in it; `sanderling {self.command} list` shows them all.")
        lines = "".join(f"\n  {one['id']}  {plain(one[self.known_by[0]])}" for one in found[:NAMED])
        more = f"\n  and {len(found) - NAMED} more" if len(found) > NAMED else ""
        raise CommandFailed(f"{len(found)} {self.many} have {name!r} in them:{lines}{more}", Exit.USAGE)

    def _matches(self, one: Mapping[str, Any], name: str) -> bool:
        id = str(one["id"])
        return id.startswith(name) or id.endswith(name) or any(name in text for text in self._known_by(one))

    def _known_by(self, one: Mapping[str, Any]) -> Sequence[str]:
        return [str(one[field]) for field in self.known_by if one.get(field)]


SOURCES = Sort("/v1/sources", "watched URL", "watched URLs", ("url", "title", "found_title"), "sources")
ALERTS = Sort("/v1/alerts", "alert", "alerts", ("name",), "alerts")
DESTINATIONS = Sort("/v1/destinations", "destination", "destinations", ("label", "url"), "destinations")


def called(source: Mapping[str, Any]) -> str:
    """Return the user's name for a source, else its own title, else ""."""
    return names.called(str(source.get("title", "")), str(source.get("found_title", "")))
