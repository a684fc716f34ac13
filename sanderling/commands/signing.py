"""`sanderling keys signing`, `rotate-signing`, `master`, `rotate-master`: signing keys and the master key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from sanderling.exits import Exit
from sanderling.flags import json_flag, loaded, settings_flags

if TYPE_CHECKING:
    from sanderling.client.listing import Cell
    from storage.records.states import Mood


@click.command("signing")
@click.option("--jwks", "as_jwks", is_flag=True, help="Their public halves, as /.well-known/jwks.json has them.")
@click.option("--forget", metavar="KEY_ID", help="Publish this key of another instance no more.")
@json_flag
@settings_flags("data")
def listed(config: str | None, as_jwks: bool, forget: str | None, *, as_json: bool, **flags: str | None) -> int:
    """List the keys that sign events, the active one first. Retired ones stay published.

    Keys of other instances, which came with an import, are published too, until they are forgotten: what they have
    signed can then no longer be verified here.

    \b
    sanderling keys signing --jwks > jwks.json
    """
    from sanderling import keyring
    from sanderling.client.listing import for_a_person, print_list
    from sanderling.json_lines import print_json
    from sanderling.keyring import signing_lines, signing_records
    from sanderling.real_world import wall

    settings = loaded(config, flags).settings
    if forget is not None:
        keyring.forget_signing(settings, forget)
        click.echo(f"{forget}: is published no more.", err=True)
        return Exit.WELL
    if as_json:
        for record in signing_records(keyring.signing(settings), keyring.foreign(settings)):
            print_json(record)
        return Exit.WELL
    if for_a_person() and not as_jwks:
        records = signing_records(keyring.signing(settings), keyring.foreign(settings))
        print_list(HEADS, signing_rows(records, datetime.fromtimestamp(wall(), UTC)))
        return Exit.WELL
    if as_jwks:
        lines = [keyring.published(settings).decode()]
    else:
        lines = signing_lines(keyring.signing(settings), keyring.foreign(settings))
    for line in lines:
        click.echo(line)
    return Exit.WELL


HEADS: Final = ("key", "state", "made")


def signing_rows(records: Sequence[Mapping[str, str]], now: datetime) -> list[Sequence[Cell | str]]:
    """Return signing keys for a terminal. Ids are complete, as in events."""
    from sanderling.client.listing import Cell, ago

    moods: dict[str, Mood] = {"active": "good", "foreign": "calm"}
    return [
        (one["key_id"], Cell(one["state"], moods.get(one["state"])), ago(one["created_at"], now)) for one in records
    ]


@click.command("rotate-signing")
@settings_flags("data")
def rotate(config: str | None, **flags: str | None) -> int:
    """Make a new key sign all events from now on, also those of a running service.

    The old key stays published, so that what it has signed goes on verifying. A receiver that keeps a copy of the key
    set must fetch it again when it meets a key_id that it does not know.
    """
    from sanderling import keyring

    key = keyring.rotate_signing(loaded(config, flags).settings)
    click.echo("Events are signed with this key from now on:", err=True)
    click.echo(key.key_id)
    return Exit.WELL


@click.command("master")
def master() -> int:
    """Make a master key, for SANDERLING_MASTER_KEY_FILE: it seals the secrets in the database and in backups.

    It is kept nowhere but where you put it.

    \b
    (umask 077; sanderling keys master > master.key)
    """
    from sanderling.real_world import entropy
    from storage.secrets.vault import written

    click.echo(written(entropy(32)))
    return Exit.WELL


@click.command("rotate-master")
@click.option(
    "--to", type=click.Path(path_type=Path), help="A file with the new key.  [default: a new one of the folder]"
)
@click.option("--lost", is_flag=True, help="The old key is lost: give up what it sealed.")
@settings_flags("data")
def rotate_master(config: str | None, to: Path | None, *, lost: bool, **flags: str | None) -> int:
    """Seal all secrets of the data folder with another master key. The service must be stopped.

    With --to: the key in a file of yours, which the service must be given from then on. Without: a new one that is kept
    in the data folder. The old one is found as the service finds it. It is one transaction: whenever this is cut off,
    the old key opens everything, or the new one does.

    \b
    sanderling keys rotate-master --to /etc/sanderling/master.key
    """
    from sanderling import keyring

    done = keyring.rotate_master(loaded(config, flags).settings, to, lost=lost)
    if done.lost is None:
        click.echo(f"{done.boxes} secrets are sealed with the new master key.", err=True)
    else:
        click.echo(
            f"Given up: {done.lost.keys} signing keys, the secrets of {done.lost.destinations} destinations and "
            f"{done.lost.sources} sources, which are paused: give each a new one, and resume it. Events will be "
            "signed with a new key.",
            err=True,
        )
    if not done.scrubbed:
        click.echo("There was no room to write the database anew; the next start tries that again.", err=True)
    if to is not None:
        click.echo(f"Name {to} in SANDERLING_MASTER_KEY_FILE, or as the unit's credential, from now on.", err=True)
    return Exit.WELL
