"""`sanderling keys create`, `list` and `revoke`: API keys, made and ended on the machine itself.

The API cannot make keys: the holder of one could then make another that outlives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime

import click

from sanderling.environment import hinted
from sanderling.exits import Exit
from sanderling.flags import loaded, settings_flags
from storage.records.key import ApiKey
from storage.records.times import rfc3339

JSON_HELP = "As JSON, for programs."


@click.command("create")
@click.option("--name", required=True, help="What will use the key.")
@click.option("--scope", "scopes", required=True, multiple=True, help="What it may do; repeatable.")
@click.option("--rate", type=int, default=600, show_default=True, help="Requests a minute.")
@click.option("--burst", type=int, default=100, show_default=True, help="Requests at once.")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@settings_flags("data")
def create(
    config: str | None, *, name: str, scopes: tuple[str, ...], rate: int, burst: int, as_json: bool, **flags: str | None
) -> int:
    """Make a key. It is shown once: the last line of the output is the key alone.

    Scopes: sources:read, sources:write, stream:read, stream:read:CHANNEL, alerts:read, alerts:write, bins:read,
    bins:write, publications:read, publications:write, admin.

    What lets texts out wants the scope that reads them too. To add or change an alert or a destination, to replay, or
    to use a template takes alerts:write and stream:read (a template sources:write besides); to try a query on past
    events takes alerts:read and stream:read; to preview a watched page takes sources:write and sources:read;
    to rotate a signing secret takes alerts:write and alerts:read;
    to try a template takes alerts:read and sources:read; to publish events takes publications:write and stream:read.

    \b
    sanderling keys create --name reader --scope stream:read
    sanderling keys create --name me --scope sources:read --scope sources:write --scope stream:read | tail -n 1 > key
    sanderling keys create --name wall --scope stream:read:pricing --rate 60 --burst 10
    sanderling keys create --name alerting --scope alerts:read --scope alerts:write --scope stream:read
    """
    from sanderling import keyring
    from sanderling.json_lines import print_json
    from sanderling.keyring import key_document

    created, plaintext = keyring.create(loaded(config, flags).settings, name, scopes, rate=rate, burst=burst)
    if as_json:
        print_json(key_document(created) | {"key": plaintext})
        return Exit.WELL
    click.echo(f"Key {created.name!r} ({created.id}) may: {', '.join(created.scopes)}. It is shown only now:", err=True)
    click.echo(plaintext)
    return Exit.WELL


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@settings_flags("data")
def listed(config: str | None, as_json: bool, **flags: str | None) -> int:
    """List all keys: their beginnings, names, scopes, rates and last use."""
    from sanderling import keyring
    from sanderling.client.listing import for_a_person, print_list
    from sanderling.json_lines import print_json
    from sanderling.keyring import key_document, key_lines
    from sanderling.real_world import wall

    found = keyring.every(loaded(config, flags).settings)
    for key in found if as_json else ():
        print_json(key_document(key))
    if for_a_person() and not as_json:
        print_list(HEADS, key_rows(found, datetime.fromtimestamp(wall(), UTC)))
        return Exit.WELL if found else _none()
    for line in () if as_json else key_lines(found):
        click.echo(line)
    return Exit.WELL if found or as_json else _none()


HEADS = ("key", "id", "name", "a minute", "made", "used", "scopes")


def key_rows(keys: Sequence[ApiKey], now: datetime) -> list[Sequence[str]]:
    """Return keys for a terminal: shortened ids, ages."""
    from sanderling.client.listing import ago, short_ids

    ids = short_ids([key.id for key in keys])
    return [
        (
            f"{key.prefix}...",
            ids[key.id],
            key.name,
            str(key.rate_per_minute),
            ago(rfc3339(key.created_at), now),
            ago(None if key.last_used_at is None else rfc3339(key.last_used_at), now),
            ", ".join(key.scopes),
        )
        for key in keys
    ]


def _none() -> int:
    click.echo(hinted("There is no key yet: `sanderling keys create --name me --scope stream:read`."), err=True)
    return Exit.WELL


@click.command("revoke")
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
@settings_flags("data")
def revoke(config: str | None, key: str, as_json: bool, **flags: str | None) -> int:
    """Revoke a KEY, named by its id, its name or its beginning.

    The very next request with it gets 401, and its open streams end within a second.
    """
    from sanderling import keyring
    from sanderling.json_lines import print_json
    from sanderling.keyring import key_document

    revoked = keyring.revoke(loaded(config, flags).settings, key)
    if as_json:
        print_json(key_document(revoked))
    else:
        click.echo(f"Revoked {revoked.name!r} ({revoked.prefix}...).", err=True)
    return Exit.WELL


delete = copy(revoke)
"""Hidden synonym, named like the command of all other nouns."""
delete.name, delete.hidden = "delete", True
