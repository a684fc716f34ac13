"""`sanderling install` and `sanderling uninstall`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.installing.layout import PACKAGED, SYSTEM, Layout, of_user

RUNNING_SYSTEMD = Path("/run/systemd/system")


@click.command()
@click.option("--user", "for_user", is_flag=True, help="For yourself only, without root: below ~/.local.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("--no-start", is_flag=True, help="Lay everything out, but neither enable nor start the service.")
@click.option("--prefix", metavar="FOLDER", default="/", help="Below this folder instead of /: an image's root.")
def install(*, for_user: bool, dry_run: bool, no_start: bool, prefix: str) -> int:
    """Install this program as a service that starts with the machine.

    Again is an upgrade, or nothing. What you have edited is never overwritten.

    \b
    sudo ./sanderling install
    ./sanderling install --user --dry-run
    """
    from sanderling.operations.installing.carrying_out import Hand, look, set_up_link
    from sanderling.operations.installing.plan import installing

    layout, version, live = _layout(for_user), _version(), prefix == "/"
    _refuse_packaged()
    managed = live and (for_user or RUNNING_SYSTEMD.is_dir())
    found = look(layout, Path(prefix))
    plan = installing(layout, version, found, live=live, start=managed and not no_start)
    _tell([act.says for act in plan], dry_run=dry_run)
    if dry_run:
        return Exit.WELL
    _refuse_without_rights(for_user, live)
    try:
        Hand(Path(prefix), environ()).do(plan)
    except CommandFailed as failed:
        raise CommandFailed(failed.message + _way_back(layout, Path(prefix), version), failed.code) from None
    if not managed or no_start:
        click.echo("Installed, not started: " + _by_hand(layout, live=live, no_start=no_start))
        return Exit.WELL
    first = not found.data or found.owed == "first start"
    _tell_next(layout, set_up_link(layout, environ()) if first else "")
    return Exit.WELL


@click.command()
@click.option("--user", "for_user", is_flag=True, help="What `install --user` has made.")
@click.option("--purge", is_flag=True, help="The data, the settings and the account too. There is no way back.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
@click.option("--prefix", metavar="FOLDER", default="/", help="Below this folder instead of /.")
def uninstall(*, for_user: bool, purge: bool, dry_run: bool, prefix: str) -> int:
    """Stop and remove what `install` has made; the data stay unless you say --purge."""
    from sanderling.operations.installing.carrying_out import Hand, look
    from sanderling.operations.installing.plan import removing

    layout, live = _layout(for_user), prefix == "/"
    plan = removing(layout, look(layout, Path(prefix)), purge=purge, live=live)
    _tell([act.says for act in plan] or ["nothing: it is not installed"], dry_run=dry_run)
    if not dry_run:
        _refuse_without_rights(for_user, live)
        Hand(Path(prefix), environ()).do(plan)
    return Exit.WELL


def _layout(for_user: bool) -> Layout:
    return of_user(environ(), os.path.expanduser("~")) if for_user else SYSTEM


def _version() -> str:
    from actors.build import BUILD
    from sanderling import __version__

    return f"{__version__}-{BUILD}"


def _refuse_packaged() -> None:
    if Path(sys.executable).is_relative_to(PACKAGED):
        raise CommandFailed("This program came as a package, which has installed it already.", Exit.USAGE)


def _refuse_without_rights(for_user: bool, live: bool) -> None:
    if live and not for_user and os.geteuid() != 0:
        raise CommandFailed("This needs root: say sudo, or --user to do it for yourself only.", Exit.USAGE)


def _way_back(layout: Layout, prefix: Path, version: str) -> str:
    from sanderling.operations.installing.carrying_out import look

    there = look(layout, prefix)
    if there.current != version or not there.previous:
        return ""
    return f"\nThe way back to the version before: {layout.previous}/sanderling install"


def _tell(acts: list[str], *, dry_run: bool) -> None:
    click.echo("This would be done:" if dry_run else "Doing:")
    for act in acts:
        click.echo(f"  {act}")


def _by_hand(layout: Layout, *, live: bool, no_start: bool) -> str:
    if not live or no_start:
        return "enable sanderling.service when its time has come."
    return f"systemd does not run here. `{layout.command} serve --data {layout.data}` serves."


def _tell_next(layout: Layout, link: str) -> None:
    manager = "systemctl" if layout.account else "systemctl --user"
    click.echo("\nSanderling runs, and will start with the " + ("machine." if layout.account else "session."))
    if link:
        click.echo(f"Open this link within an hour to set the dashboard's password:\n\n  {link}\n")
    click.echo(f"  {manager} status sanderling")
    click.echo(f"  sanderling status --data {layout.data}" + ("    (as root)" if layout.account else ""))
    click.echo(f"  edit {layout.settings}, then: {manager} restart sanderling")
    if not layout.account:
        click.echo("  loginctl enable-linger    keeps it running while you are not signed in")
