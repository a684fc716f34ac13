"""`sanderling backup`, `restore`, `migrate`, `check` and `doctor`: maintain an instance."""

from __future__ import annotations

from pathlib import Path

import click

from sanderling.environment import environ, typed
from sanderling.exits import Exit
from sanderling.flags import loaded, settings_flags


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--verify", "only_verify", is_flag=True, help="Make none: read this one through, and say whether it is whole."
)
@click.option("--without-secrets", is_flag=True, help="Leave out signing keys, webhook secrets and the password.")
@click.option("--json", "as_json", is_flag=True, help="What is in it, as JSON.")
@settings_flags("data", "templates")
def backup(
    config: str | None, file: Path, *, only_verify: bool, without_secrets: bool, as_json: bool, **flags: str | None
) -> int:
    """Write everything of this instance to one FILE: database, signing keys, settings, templates.

    The service may run. Secrets are sealed with the master key (SANDERLING_MASTER_KEY_FILE); `sanderling keys master`
    makes one. An older backup of the same name is replaced once the new one is whole.

    \b
    sanderling backup /mnt/backups/sanderling.tar
    sanderling backup --verify /mnt/backups/sanderling.tar
    """
    from sanderling.data_folder import find_master_key
    from sanderling.engines import BACKUPS, refuse_postgres
    from sanderling.operations.backup import archive
    from sanderling.operations.backup.making import make_backup

    if only_verify:
        manifest = archive.verify(file)
    else:
        settings = loaded(config, flags).settings
        refuse_postgres(settings, BACKUPS)
        manifest = make_backup(settings, file, environ(), secrets=not without_secrets)
    standing = manifest.standing(find_master_key(environ()))
    if as_json:
        from sanderling.json_lines import print_json

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
@click.option("--replace", is_flag=True, help="Put what is in the data folder aside, and restore into it.")
@click.option("--with-settings", is_flag=True, help="Take over the settings (sanderling.toml) that are in it, too.")
@click.option("--unverified", is_flag=True, help="Take one without a MAC although a master key is named.")
@click.option("--data", metavar="FOLDER", help="The data folder.  [SANDERLING_DATA; default: data]")
def restore(file: Path, data: str | None, *, replace: bool, with_settings: bool, unverified: bool) -> int:
    """Restore a backup FILE, or a database that an upgrade has kept, into the data folder.

    The service must be stopped. Nothing is changed before the whole backup has been read and checked.

    \b
    sanderling restore /mnt/backups/sanderling.tar --data /var/lib/sanderling
    """
    from actors.settings import Settings
    from sanderling.operations.backup.restoring import restore as put_back
    from sanderling.operations.backup.restoring import taken_over
    from sanderling.real_world import entropy, now

    variables = environ()
    folder = Path(data or variables.get("SANDERLING_DATA") or Settings().data)
    done = put_back(
        file,
        folder,
        variables,
        replace=replace,
        at=now(),
        entropy=entropy,
        settings=with_settings,
        unverified=unverified,
    )
    click.echo(f"{folder}: restored: {done.content.events} events, schema {done.content.schema}.", err=True)
    for sentence in taken_over(done):
        click.echo(sentence, err=True)
    if done.aside is not None:
        click.echo(f"What was there is in {done.aside}; delete it when all is well.", err=True)
    if done.templates is not None:
        click.echo(f"Templates are in {done.templates}: set `templates` to it, or move them.", err=True)
    if done.lost.destinations:
        click.echo(
            f"{done.lost.destinations} destinations have no secret any more, and are paused: rotate each one's "
            "secret, give it to its receiver, resume it. Events are signed with a new key.",
            err=True,
        )
    if done.lost.sources:
        click.echo(f"{done.lost.sources} sources do not know what to say any more, and are paused.", err=True)
    if done.named:
        click.echo("The service needs the master key that you have named here, too.", err=True)
    click.echo(f"Start it: {typed('serve', str(folder))}", err=True)
    return Exit.WELL


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be done; the service may run.")
@click.option("--json", "as_json", is_flag=True, help="As JSON: what the database lacks, or had lacked.")
@settings_flags("data")
def migrate(config: str | None, *, dry_run: bool, as_json: bool, **flags: str | None) -> int:
    """Bring the data to this program's schema without serving; the first start would do the same.

    The service must be stopped. A copy of the database as it was is kept. Exit code: 0 done, or nothing to do.

    \b
    sanderling migrate --dry-run
    """
    from msgspec import to_builtins

    from sanderling.engines import refuse_postgres
    from sanderling.operations.backup import upkeep as migrating

    settings = loaded(config, flags).settings
    refuse_postgres(settings, "The first start of a newer program brings the tables up to date.")
    folder = Path(settings.data)
    found = migrating.need(folder) if dry_run else migrating.migrate(folder)
    if as_json:
        from sanderling.json_lines import print_json

        print_json(to_builtins(found))
        return Exit.WELL
    for sentence in migrating.sentences(found):
        click.echo(sentence, err=not dry_run)
    if not dry_run and not found.nothing:
        click.echo("Done.", err=True)
    return Exit.WELL


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The findings as one JSON object.")
def check(*, as_json: bool) -> int:
    """Test this build: imports, pages, templates, certificates, time zones, database, signatures, a worker.

    Needs no network, no data folder and no settings. Exit code: 0 complete, 1 not.
    """
    from sanderling.operations.self_test import check as look

    return look(environ(), as_json=as_json)


@click.command()
@click.option("--offline", is_flag=True, help="Ask nothing of the network.")
@click.option("--json", "as_json", is_flag=True, help="The findings as one JSON object.")
@settings_flags("host", "port", "data", "base_url", "tls_cert", "tls_key")
def doctor(config: str | None, *, offline: bool, as_json: bool, **flags: str | None) -> int:
    """Look over this installation, and say what to do: settings, folder, disk, database, clock, worker, network, TLS.

    Changes nothing; works beside a running service, whose settings it asks for, and on a broken folder. Run it as the
    service's user. Exit code: 0 well or only warnings, 1 something must be mended.

    \b
    sanderling doctor --data /var/lib/sanderling
    """
    from sanderling.operations.doctor.checks import doctor as look

    named = {name: text for name, text in flags.items() if text is not None}
    return look(named, environ(), config, offline=offline, as_json=as_json)


@click.command("sizes")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many, the heaviest first.")
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
@settings_flags("data")
def sizes(config: str | None, *, limit: int, as_json: bool, **flags: str | None) -> int:
    """Show what each source's events weigh in the log, the heaviest first. Reads the data folder; needs no key.

    \b
    sanderling sources sizes --limit 5
    """
    from sanderling.engines import refuse_postgres
    from sanderling.operations.backup import upkeep as weighing

    settings = loaded(config, flags).settings
    refuse_postgres(settings, "GET /v1/sources/{id}/status says what each source's events weigh.")
    found = weighing.sizes(Path(settings.data))
    return weighing.tell(found, limit, as_json=as_json)
