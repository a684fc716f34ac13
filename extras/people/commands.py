"""`sanderling people`: people with access, and their roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from sanderling.client.lines import piped
from sanderling.client.terminal import Listing, print_made
from sanderling.commands.keys import Sort, record_flag, records_flag, sent, with_client, yes_flag

if TYPE_CHECKING:
    from sanderling.client.api import Client

PEOPLE: Final = Sort("/v1/people", "person", "people", ("name", "email"), "people")
ROLE: Final = click.Choice(("reader", "editor", "owner"))


@click.group()
def people() -> None:
    """List people, invite them, and change their roles.

    PERSON is an id, a name or a part of it, or a part of an e-mail address.
    """


@people.command("list")
@records_flag
@with_client
async def listed(client: Client, *, as_json: bool) -> None:
    """List the people with access, oldest first: id, name, e-mail address, role."""
    await PEOPLE_LIST.show_each(client.every(PEOPLE.path), as_json=as_json)


PEOPLE_LIST = Listing[Mapping[str, Any]](
    ("id", "name", "e-mail", "role"),
    lambda one: (one["id"], one["name"], one["email"], f"{one['role']}{', disabled' if one['disabled'] else ''}"),
    "Nobody but the service's own password: `sanderling people invite`.",
)


@people.command("invite")
@click.option("--role", type=ROLE, default="reader", show_default=True, help="What the person may do.")
@click.option("--email", default="", help="Only this address may use the link.")
@record_flag
@with_client
async def invite(client: Client, *, role: str, email: str, as_json: bool) -> None:
    """Make a link that lets one person join. It is shown once, and works once, for 7 days. Nothing is sent.

    \b
    sanderling people invite --role editor --email anna@example.com
    """
    made = await sent(client, "POST", "/v1/invitations", json={"role": role, "email": email})
    says = f"Send this link to the person. It makes one {role}, and ends {made['expires_at']}:"
    print_made(made, says, made["url"], as_json=as_json)


@people.command("role")
@click.argument("name", metavar="PERSON")
@click.argument("role", type=ROLE)
@with_client
async def give_role(client: Client, *, name: str, role: str) -> None:
    """Give a person another role. Sessions end; keys keep only the scopes that the role has, too."""
    await _change(client, name, {"role": role})


@people.command("disable")
@click.argument("name", metavar="PERSON")
@with_client
async def disable(client: Client, *, name: str) -> None:
    """Keep a person out: sessions end, keys stop working. `enable` undoes it."""
    await _change(client, name, {"disabled": True})


@people.command("enable")
@click.argument("name", metavar="PERSON")
@with_client
async def enable(client: Client, *, name: str) -> None:
    """Let a disabled person sign in again. Keys work again."""
    await _change(client, name, {"disabled": False})


async def _change(client: Client, name: str, change: Mapping[str, Any]) -> None:
    one = await PEOPLE.record_of(client, name)
    click.echo(piped(PEOPLE_LIST.row(await sent(client, "PATCH", f"{PEOPLE.path}/{one['id']}", json=change))))


@people.command("remove")
@click.argument("name", metavar="PERSON")
@yes_flag
@with_client
async def remove(client: Client, *, name: str, sure: bool) -> None:
    """Remove a person, with all sessions and keys."""
    one = await PEOPLE.removed(client, name, "Remove {}, with all sessions and keys?", sure=sure)
    click.echo(f"Removed {one['id']}.", err=True)
