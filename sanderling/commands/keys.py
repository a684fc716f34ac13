"""`sanderling keys`: API keys, signing keys and the master key, on the machine itself.

The API cannot make keys: the holder of one could then make another that outlives it.

Commands that ask a running service: its client, its records by name, and confirmation. A person names a record by its
id, the beginning or end of its id, or part of its names or URL.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from copy import copy
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import click

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.lines import Cell
from sanderling.client.terminal import Listing, age_of, print_made
from sanderling.environment import on_terminal
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags, json_flag, with_settings
from sanderling.keyring import Names
from storage.records import source as names
from storage.records.secrecy import plain
from storage.records.source import Mood, tag_of

if TYPE_CHECKING:
    from sanderling.client.api import Client


@click.group()
def keys() -> None:
    """Create, list and revoke API keys; rotate the key that signs events, and the key that seals secrets."""


@keys.command("create")
@click.option("--name", required=True, help="What will use the key.")
@click.option("--scope", "scopes", required=True, multiple=True, help="A scope; repeatable.")
@click.option("--rate", type=int, default=600, show_default=True, help="Requests a minute.")
@click.option("--burst", type=int, default=100, show_default=True, help="Requests at once.")
@click.option("--person", default="", help="E-mail address or id of its person: it never exceeds that role.")
@click.option("--expires", "days", type=click.IntRange(1, 3650), metavar="DAYS", help="Days until it expires.")
@json_flag
@with_settings("data")
def create(
    settings: Settings, *, name: str, scopes: Names, rate: int, burst: int, person: str, days: int | None, as_json: bool
) -> None:
    """Create a key. It is shown once: the last line of the output is the key alone.

    Scopes: sources:read, sources:write, stream:read, stream:read:CHANNEL, alerts:read, alerts:write, bins:read,
    bins:write, publications:read, publications:write, admin.

    A request that sends texts out also needs the scope that reads them. To add or change an alert or a destination, to
    replay, or to use a template takes alerts:write and stream:read (a template also sources:write); to try a query on
    past events takes alerts:read and stream:read; to preview a watched page takes sources:write and sources:read;
    to rotate a signing secret takes alerts:write and alerts:read;
    to try a template takes alerts:read and sources:read; to publish events takes publications:write and stream:read.

    \b
    sanderling keys create --name reader --scope stream:read
    sanderling keys create --name me --scope sources:read --scope sources:write --scope stream:read | tail -n 1 > key
    sanderling keys create --name wall --scope stream:read:pricing --rate 60 --burst 10
    sanderling keys create --name anna --scope stream:read --person anna@example.com --expires 90
    sanderling keys create --name alerting --scope alerts:read --scope alerts:write --scope stream:read
    """
    created, plaintext = keyring.create(settings, name, scopes, rate=rate, burst=burst, person=person, days=days)
    says = f"Key {created.name!r} ({created.id}) may: {', '.join(created.scopes)}. It is shown only now:"
    print_made(keyring.key_document(created) | {"key": plaintext}, says, plaintext, as_json=as_json)


@keys.command("list")
@json_flag
@with_settings("data")
def listed(settings: Settings, *, as_json: bool) -> None:
    """List all keys: their beginnings, names, scopes, rates and last use."""
    KEY_LIST.show([keyring.key_document(key) for key in keyring.every(settings)], as_json=as_json)


KEY_LIST = Listing[Mapping[str, Any]](
    ("key", "id", "name", "a minute", "made", "used", "expires", "scopes"),
    lambda key: (
        f"{key['prefix']}...",
        key["id"],
        key["name"],
        str(key["rate_per_minute"]),
        age_of(key["created_at"]),
        age_of(key["last_used_at"]),
        Cell(key["expires_at"] or "never", short=(key["expires_at"] or "never")[:10]),
        ", ".join(key["scopes"]),
    ),
    "There is no key yet: `sanderling keys create --name me --scope stream:read`.",
)


@keys.command("revoke")
@click.argument("key")
@json_flag
@with_settings("data")
def revoke(settings: Settings, *, key: str, as_json: bool) -> None:
    """Revoke a KEY, named by its id, its name or its beginning.

    The next request with it gets 401, and its open streams end within a second.
    """
    revoked = keyring.revoke(settings, key)
    print_made(keyring.key_document(revoked), f"Revoked {revoked.name!r} ({revoked.prefix}...).", as_json=as_json)


delete = copy(revoke)  # hidden synonym, named like the command of all other nouns
delete.name, delete.hidden = "delete", True
keys.add_command(delete)


@keys.command("signing")
@click.option("--jwks", "as_jwks", is_flag=True, help="Their public halves, as in /.well-known/jwks.json.")
@click.option("--forget", metavar="KEY_ID", help="Stop publishing this key of another instance.")
@json_flag
@with_settings("data")
def signing(settings: Settings, *, as_jwks: bool, forget: str | None, as_json: bool) -> None:
    """List the keys that sign events, the active one first. Retired ones stay published.

    Keys of other instances that came with an import are published, too, until you forget them: this service can then
    no longer verify their signatures.

    \b
    sanderling keys signing --jwks > jwks.json
    """
    if forget is not None:
        keyring.forget_signing(settings, forget)
        click.echo(f"{forget}: no longer published.", err=True)
        return
    if as_jwks and not as_json:
        click.echo(keyring.published(settings).decode())
        return
    SIGNING_LIST.show(keyring.signing_records(settings), as_json=as_json)


_MOODS: Mapping[str, Mood] = {"active": "good", "foreign": "calm"}
SIGNING_LIST = Listing[Mapping[str, str]](
    ("key", "state", "made"),
    lambda key: (key["key_id"], Cell(key["state"], _MOODS.get(key["state"])), age_of(key["created_at"])),
)


@keys.command("rotate-signing")
@with_settings("data")
def rotate(settings: Settings) -> None:
    """Make a new key that signs all events from now on, also in a running service.

    The old key stays published, so that its signatures still verify. A receiver that keeps a copy of the key set must
    fetch it again when it meets an unknown key_id.
    """
    key = keyring.rotate_signing(settings)
    click.echo("This key signs all events from now on:", err=True)
    click.echo(key.key_id)


@keys.command("master")
def master() -> None:
    """Make a master key, for SANDERLING_MASTER_KEY_FILE: it seals the secrets in the database and in backups.

    Nothing keeps a copy of it: store it yourself.

    \b
    (umask 077; sanderling keys master > master.key)
    """
    from sanderling.real_world import entropy
    from storage.secrets import written

    click.echo(written(entropy(32)))


@keys.command("rotate-master")
@click.option(
    "--to", type=click.Path(path_type=Path), help="A file with the new key.  [default: a new one in the folder]"
)
@click.option("--lost", is_flag=True, help="The old key is lost: give up the secrets it sealed.")
@with_settings("data")
def rotate_master(settings: Settings, *, to: Path | None, lost: bool) -> None:
    """Seal all secrets of the data folder with another master key. The service must be stopped.

    With --to, the new key is in your file, which you must give the service from then on. Without it, a new key is kept
    in the data folder. It finds the old key as the service does. The change is one transaction: if it is
    interrupted, either the old key or the new one opens everything.

    \b
    sanderling keys rotate-master --to /etc/sanderling/master.key
    """
    done = keyring.rotate_master(settings, to, lost=lost)
    if done.lost is None:
        click.echo(f"{done.boxes} secrets are sealed with the new master key.", err=True)
    else:
        click.echo(
            f"Given up: {done.lost.keys} signing keys, and the secrets of {done.lost.destinations} destinations and "
            f"{done.lost.sources} sources, which are paused: give each a new one, and resume it. A new key will sign "
            "events.",
            err=True,
        )
    if not done.scrubbed:
        click.echo("There was no room to rewrite the database; the next start tries again.", err=True)
    if to is not None:
        click.echo(f"Name {to} in SANDERLING_MASTER_KEY_FILE, or as the unit's credential, from now on.", err=True)


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


def value_of(text: str, name: str) -> str:
    """Return a value, or the content of @FILE or of standard input (@-). Raises CommandFailed."""
    try:
        if text == "@-":
            return sys.stdin.read().rstrip("\n")
        return Path(text[1:]).read_text("utf-8").rstrip("\n") if text.startswith("@") else text
    except (OSError, ValueError) as error:
        raise CommandFailed(f"Could not read the value of {plain(name)}: {error}.", Exit.USAGE) from None


async def report_new_tags(client: Client, tags: Names) -> None:
    """Name the labels that no source has: each may be a typo. A key that may not read tags finds none."""
    with suppress(CommandFailed):
        known = {tag["tag"] async for tag in client.every("/v1/tags")} if tags else ()
        if new := [plain(tag) for tag in tags if (whole := tag_of(tag)).startswith("label:") and whole not in known]:
            click.echo(f"No source has the tag {', '.join(new)} yet.", err=True)


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

    async def ids_of(self, client: Client, wanted: Names) -> list[str]:
        return [await self.id_of(client, name) for name in wanted]

    async def path_of(self, client: Client, name: str) -> str:
        return f"{self.path}/{await self.id_of(client, name)}"

    async def record_of(self, client: Client, name: str) -> dict[str, Any]:
        """Return the matching record. Raises CommandFailed if it is unclear or missing."""
        return await sent(client, "GET", await self.path_of(client, name))

    async def removed(self, client: Client, name: str, question: str, *, sure: bool) -> dict[str, Any]:
        """Delete the matching record once the question about it, by its first field, is answered; return it."""
        record = await self.record_of(client, name)
        agree(question.format(plain(record[self.known_by[0]])), sure=sure)
        await client.ask("DELETE", f"{self.path}/{record['id']}")
        return record

    async def _found(self, client: Client, name: str) -> dict[str, Any]:
        async with aclosing(client.every(self.path)) as every:
            found = [record async for record in every if self._matches(record, name)]
        found = [record for record in found if name in self._known_by(record)] or found
        if len(found) == 1:
            return found[0]
        if not found:
            raise CommandFailed(f"No {self.one} has {name!r} in it; `sanderling {self.command} list` shows them all.")
        lines = "".join(f"\n  {record['id']}  {plain(record[self.known_by[0]])}" for record in found[:NAMED])
        more = f"\n  and {len(found) - NAMED} more" if len(found) > NAMED else ""
        raise CommandFailed(f"{len(found)} {self.many} have {name!r} in them:{lines}{more}", Exit.USAGE)

    def _matches(self, record: Mapping[str, Any], name: str) -> bool:
        id = str(record["id"])
        return id.startswith(name) or id.endswith(name) or any(name in text for text in self._known_by(record))

    def _known_by(self, record: Mapping[str, Any]) -> Sequence[str]:
        return [str(record[field]) for field in self.known_by if record.get(field)]


SOURCES = Sort("/v1/sources", "watched URL", "watched URLs", ("url", "title", "found_title"), "sources")
ALERTS = Sort("/v1/alerts", "alert", "alerts", ("name",), "alerts")
DESTINATIONS = Sort("/v1/destinations", "destination", "destinations", ("label", "url"), "destinations")


def called(source: Mapping[str, Any]) -> str:
    """Return the user's name for a source, else its own title, else ""."""
    return names.called(str(source.get("title", "")), str(source.get("found_title", "")))
