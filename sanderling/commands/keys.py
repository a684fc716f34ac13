"""`sanderling keys`: API keys, signing keys and the master key, on the machine itself.

The API cannot make keys: the holder of one could then make another that outlives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import click

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.lines import Cell
from sanderling.client.terminal import Listing, age_of, print_made
from sanderling.flags import json_flag, with_settings
from storage.records.states import Mood

json_option = click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")


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
@json_option
@with_settings("data")
def create(
    settings: Settings,
    *,
    name: str,
    scopes: tuple[str, ...],
    rate: int,
    burst: int,
    person: str,
    days: int | None,
    as_json: bool,
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
@json_option
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
@json_option
@with_settings("data")
def revoke(settings: Settings, *, key: str, as_json: bool) -> None:
    """Revoke a KEY, named by its id, its name or its beginning.

    The next request with it gets 401, and its open streams end within a second.
    """
    revoked = keyring.revoke(settings, key)
    print_made(keyring.key_document(revoked), f"Revoked {revoked.name!r} ({revoked.prefix}...).", as_json=as_json)


delete = copy(revoke)
"""Hidden synonym, named like the command of all other nouns."""
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
    lambda one: (one["key_id"], Cell(one["state"], _MOODS.get(one["state"])), age_of(one["created_at"])),
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
    from storage.secrets.vault import written

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
