"""`sanderling keys signing`, `rotate-signing`, `master`: the keys that sign events, and the one that seals secrets."""

from __future__ import annotations

import click

from sanderling.exits import Exit
from sanderling.flags import loaded, settings_flags


@click.command("signing")
@click.option("--jwks", "as_jwks", is_flag=True, help="Their public halves, as /.well-known/jwks.json has them.")
@settings_flags("data")
def listed(config: str | None, as_jwks: bool, **flags: str | None) -> int:
    """List the keys that sign events, the active one first. Retired ones stay published.

    \b
    sanderling keys signing --jwks > jwks.json
    """
    from sanderling import keyring
    from sanderling.keys import signing_lines

    settings = loaded(config, flags).settings
    lines = [keyring.published(settings).decode()] if as_jwks else signing_lines(keyring.signing(settings))
    for line in lines:
        click.echo(line)
    return Exit.WELL


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
    """Make a master key, for SANDERLING_MASTER_KEY_FILE: it seals the secrets in backups. It is kept nowhere.

    \b
    (umask 077; sanderling keys master > master.key)
    """
    from sanderling.keeping.seal import written
    from sanderling.real_world import entropy

    click.echo(written(entropy(32)))
    return Exit.WELL
