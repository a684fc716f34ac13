"""`sanderling install`, `uninstall` and `licences`."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from shutil import which

import click

from extras.install.execution import Hand, look, set_up_link
from extras.install.plan import holding, installing, letting_go, removing
from extras.install.units import BESIDE_PACKAGE, BROWSER_SOCKET, PACKAGED, SYSTEM, UNIT, Layout, of_user
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import json_flag

FIRST = ""  # value of `--browser` without a path: the first browser found
RUNNING_SYSTEMD = Path("/run/systemd/system")


@click.command()
@click.option("--user", "for_user", is_flag=True, help="For yourself only, without root: below ~/.local.")
@click.option("--dry-run", is_flag=True, help="Print the steps, and do nothing.")
@click.option("--no-start", is_flag=True, help="Install everything, but neither enable nor start the service.")
@click.option(
    "--browser",
    metavar="[PATH]",
    is_flag=False,
    flag_value=FIRST,
    help="Also run a browser that renders pages: the one at PATH, else the first one found.",
)
@click.option("--prefix", metavar="FOLDER", default="/", help="Below this folder instead of /: an image's root.")
def install(*, for_user: bool, dry_run: bool, no_start: bool, browser: str | None, prefix: str) -> int:
    """Install this program as a service that starts with the machine.

    Run it again to upgrade. It never overwrites files that you have edited. A package has already installed the
    service, so that only --browser is left to do.

    \b
    sudo ./sanderling install
    sudo ./sanderling install --browser
    ./sanderling install --user --dry-run
    """
    packaged, live = Path(sys.executable).is_relative_to(PACKAGED), prefix == "/"
    held = "" if browser is None else _browser(browser, for_user, Path(prefix))
    if packaged and not held:
        raise CommandFailed("This program came as a package, which has already installed it.", Exit.USAGE)
    layout, version = BESIDE_PACKAGE if packaged else _layout(for_user), _version()
    managed = live and (for_user or RUNNING_SYSTEMD.is_dir())
    found, start = look(layout, Path(prefix)), managed and not no_start
    if packaged:
        plan = holding(layout, found, held, live=live, start=start)
    else:
        plan = installing(layout, version, found, browser=held, live=live, start=start)
    _tell([act.says for act in plan], dry_run=dry_run)
    if dry_run:
        return Exit.WELL
    _refuse_without_rights(for_user, live)
    try:
        Hand(Path(prefix), environ()).do(plan)
    except CommandFailed as failed:
        raise CommandFailed(failed.message + _way_back(layout, Path(prefix), version), failed.code) from None
    if not start:
        click.echo("Installed, not started: " + _by_hand(layout, live=live, no_start=no_start, browser=bool(held)))
    elif packaged:
        click.echo(f"\nThe service has {held} show pages. `sudo sanderling doctor` says what holds it.")
    else:
        _tell_next(layout, set_up_link(layout, environ()) if not found.data or found.owed == "first start" else "")
    return Exit.WELL


@click.command()
@click.option("--user", "for_user", is_flag=True, help="Remove an `install --user`.")
@click.option("--purge", is_flag=True, help="Also delete the data, the settings and the account, for good.")
@click.option("--browser", is_flag=True, help="Remove only an `install --browser`; the service stays.")
@click.option("--dry-run", is_flag=True, help="Print the steps, and do nothing.")
@click.option("--prefix", metavar="FOLDER", default="/", help="Below this folder instead of /.")
def uninstall(*, for_user: bool, purge: bool, browser: bool, dry_run: bool, prefix: str) -> int:
    """Stop and remove the installed service. The data stay unless you add --purge."""
    layout, live = _layout(for_user), prefix == "/"
    if browser and purge:
        raise CommandFailed("--browser keeps the service and its data; --purge removes them. Choose one.", Exit.USAGE)
    found = look(layout, Path(prefix))
    plan = letting_go(layout, found, live=live) if browser else removing(layout, found, purge=purge, live=live)
    _tell([act.says for act in plan] or ["nothing: it is not installed"], dry_run=dry_run)
    if not dry_run:
        _refuse_without_rights(for_user, live)
        Hand(Path(prefix), environ()).do(plan)
    return Exit.WELL


def _layout(for_user: bool) -> Layout:
    return of_user(environ(), os.path.expanduser("~")) if for_user else SYSTEM


def _version() -> str:
    from actors import BUILD
    from sanderling import __version__

    return f"{__version__}-{BUILD}"


def _browser(named: str, for_user: bool, prefix: Path) -> str:
    """Return the browser's path as seen inside the target root."""
    from sanderling.program import OFF, SOCKET, find_browser

    if for_user:
        says = "--browser needs the system's service: a user's service manager may lack the rights for it."
        raise CommandFailed(says, Exit.USAGE)
    if named == OFF or named.startswith(SOCKET):
        raise CommandFailed(f"--browser {named}: give the path of a program, or no value.", Exit.USAGE)
    found = find_browser(named, partial(_program_below, prefix))
    if not found.path:
        raise CommandFailed(f"Nothing was installed: {found.absent}.", Exit.BAD_SETTING)
    return found.path


def _program_below(root: Path, name: str) -> str | None:
    """Return a program's path inside a root; None if it is missing or not executable."""
    where = os.pathsep.join(str(root / folder.lstrip("/")) for folder in ("/usr/local/bin", "/usr/bin", "/bin"))
    found = which(str(root / name.lstrip("/")) if os.path.isabs(name) else name, path=where)
    return None if found is None else f"/{Path(found).relative_to(root)}"


def _refuse_without_rights(for_user: bool, live: bool) -> None:
    if live and not for_user and os.geteuid() != 0:
        raise CommandFailed("This needs root: use sudo, or --user to install for yourself only.", Exit.USAGE)


def _way_back(layout: Layout, prefix: Path, version: str) -> str:
    there = look(layout, prefix)
    if there.current != version or not there.previous:
        return ""
    return f"\nThe way back to the version before: {layout.previous}/sanderling install"


def _tell(acts: list[str], *, dry_run: bool) -> None:
    click.echo("This would be done:" if dry_run else "Doing:")
    for act in acts:
        click.echo(f"  {act}")


def _by_hand(layout: Layout, *, live: bool, no_start: bool, browser: bool) -> str:
    if not live or no_start:
        return f"enable {f'{BROWSER_SOCKET} and ' if browser else ''}{UNIT} when the time has come."
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


def _bundled(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from extras.install.licences import names

    return names(typed)


@click.command()
@click.argument("name", required=False, shell_complete=_bundled)
@click.option("--all", "whole", is_flag=True, help="All texts, one after another.")
@json_flag
def licences(name: str | None, *, whole: bool, as_json: bool) -> int:
    """List the bundled software: version, licence (SPDX), place of its text. With a NAME, print the text.

    \b
    sanderling licences
    sanderling licences libxml2
    """
    from extras.install.licences import records, show
    from sanderling.client.terminal import print_json

    if as_json:
        for record in records(name):
            print_json(record)
    else:
        click.echo(show(name, whole=whole))
    return Exit.WELL
