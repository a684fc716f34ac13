"""Maintain an instance: `sanderling backup`, `restore`, `migrate`, `check`, `doctor`, `sources sizes`."""

from __future__ import annotations

from pathlib import Path

import click

from actors.settings import Settings
from sanderling.client.terminal import print_json
from sanderling.environment import environ, typed
from sanderling.exits import Exit
from sanderling.flags import loaded, settings_flags, with_settings

BACKUPS = (
    "Back it up with PostgreSQL's own tools (pg_dump, base backups), and keep the file of the master key beside it, "
    "but not in the same place; `sanderling export` moves an instance."
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--verify", "only_verify", is_flag=True, help="Write nothing; check that this backup is whole.")
@click.option("--without-secrets", is_flag=True, help="Leave out signing keys, webhook secrets and the password.")
@click.option("--json", "as_json", is_flag=True, help="Its content, as JSON.")
@settings_flags("data", "templates")
def backup(
    config: str | None, file: Path, *, only_verify: bool, without_secrets: bool, as_json: bool, **flags: str | None
) -> int:
    """Write everything of this instance to one FILE: database, signing keys, settings, templates."""
    from sanderling.data_folder import find_master_key
    from sanderling.engines import engine_of
    from sanderling.operations import backup as archive
    from sanderling.operations.backup import make_backup

    if only_verify:
        manifest = archive.verify(file)
    else:
        settings = loaded(config, flags).settings
        engine_of(settings).refuse(BACKUPS)
        manifest = make_backup(settings, file, environ(), secrets=not without_secrets)
    standing = manifest.standing(find_master_key(environ()))
    if as_json:
        print_json({**archive.summary(manifest), "mac": standing})
    else:
        kept = "secrets sealed" if manifest.secrets == "sealed" else "without secrets"
        done = "is whole" if only_verify else "written"
        held = manifest.database
        click.echo(
            f"{file}: {done}: of {manifest.made_at}, {held.events} events, schema {held.schema}, {kept}; "
            f"{archive.VOUCHED[standing]}.",
            err=True,
        )
    return Exit.BAD_DATA if standing == "fails" else Exit.WELL


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Put the data folder's content aside, and restore into it.")
@click.option("--with-settings", "settings", is_flag=True, help="Restore its settings (sanderling.toml), too.")
@click.option("--unverified", is_flag=True, help="Accept a backup without a MAC although a master key is set.")
@click.option("--data", metavar="FOLDER", help="The data folder.  [SANDERLING_DATA; default: data]")
def restore(file: Path, data: str | None, *, replace: bool, settings: bool, unverified: bool) -> int:
    """Restore a backup FILE, or a database that an upgrade kept, into the data folder."""
    from sanderling.operations import backup as restoring
    from sanderling.real_world import entropy, now

    variables = environ()
    folder = Path(data or variables.get("SANDERLING_DATA") or Settings().data)
    how = {"replace": replace, "settings": settings, "unverified": unverified}
    done = restoring.restore(file, folder, variables, at=now(), entropy=entropy, **how)
    sentences = [f"{folder}: restored: {done.content.events} events, schema {done.content.schema}."]
    sentences += restoring.taken_over(done)
    if done.aside is not None:
        sentences.append(f"Its earlier content is in {done.aside}; delete it when all is well.")
    if done.templates is not None:
        sentences.append(f"Templates are in {done.templates}: set `templates` to it, or move them.")
    if done.lost.destinations:
        sentences.append(
            f"{done.lost.destinations} destinations have lost their secrets, and are paused: rotate each one's "
            "secret, give it to its receiver, resume it. A new key signs events."
        )
    if done.lost.sources:
        sentences.append(f"{done.lost.sources} sources have lost their request headers, and are paused.")
    if done.named:
        sentences.append("The service needs the master key that you named here, too.")
    click.echo("\n".join([*sentences, f"Start it: {typed('serve', str(folder))}"]), err=True)
    return Exit.WELL


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would change; the service may run.")
@click.option("--json", "as_json", is_flag=True, help="As JSON: the missing parts of the database.")
@with_settings("data")
def migrate(settings: Settings, *, dry_run: bool, as_json: bool) -> None:
    """Upgrade the data to this program's schema without serving; the first start would do the same."""
    from msgspec import to_builtins

    from sanderling.engines import engine_of
    from sanderling.operations import backup as upkeep

    engine_of(settings).refuse("The first start of a newer program upgrades the tables.")
    folder = Path(settings.data)
    found = upkeep.need(folder) if dry_run else upkeep.migrate(folder)
    if as_json:
        print_json(to_builtins(found))
        return
    for sentence in upkeep.sentences(found):
        click.echo(sentence, err=not dry_run)
    if not dry_run and not found.nothing:
        click.echo("Done.", err=True)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The findings as one JSON object.")
def check(*, as_json: bool) -> int:
    """Test this build: imports, pages, templates, certificates, time zones, database, signatures, a worker."""
    from sanderling.operations import self_test

    return self_test.check(environ(), as_json=as_json)


@click.command()
@click.option("--offline", is_flag=True, help="Make no network requests.")
@click.option("--json", "as_json", is_flag=True, help="The findings as one JSON object.")
@settings_flags("host", "port", "data", "base_url", "tls_cert", "tls_key")
def doctor(config: str | None, *, offline: bool, as_json: bool, **flags: str | None) -> int:
    """Check this installation, and say what to do: settings, folder, disk, database, clock, worker, network, TLS."""
    from sanderling.operations import doctor as checks

    named = {name: text for name, text in flags.items() if text is not None}
    return checks.doctor(named, environ(), config, offline=offline, as_json=as_json)


@click.command("sizes")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many, the largest first.")
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
@with_settings("data")
def sizes(settings: Settings, *, limit: int, as_json: bool) -> int:
    """Show the size of each source's events in the log, the largest first. Reads the data folder; needs no key."""
    from sanderling.engines import engine_of
    from sanderling.operations import backup as upkeep

    engine_of(settings).refuse("GET /v1/sources/{id}/status has the size of each source's events.")
    return upkeep.tell(upkeep.sizes(Path(settings.data)), limit, as_json=as_json)
