"""`sanderling import`: a file is read, what it would become is shown, and on a yes it is done."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import click
import trio

from sanderling.client.api import Client
from sanderling.environment import on_terminal
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json, shown
from sanderling.migration import report
from sanderling.migration.carrying_out import AGAIN, NOTHING, carry_out
from sanderling.migration.changedetection.files import LARGEST, WANTED
from sanderling.migration.kinds import Kind
from sanderling.migration.outcome import Done, Outcome
from sanderling.migration.plan import NotReadable, Plan
from sanderling.migration.reading import MOST_BYTES, read
from sanderling.migration.recognising import kind_of
from sanderling.real_world import entropy
from storage.records.plain import plain


def plan_of(file: str, data: bytes, kind: Kind) -> Plan:
    """Return the plan of a file. Raises CommandFailed."""
    try:
        return read(kind, data)
    except NotReadable as error:
        raise CommandFailed(f"{file}: {error}", Exit.FAILED) from None


def found_kind(file: str, data: bytes) -> Kind:
    """Return of which program a file is. Raises CommandFailed."""
    try:
        return kind_of(data)
    except NotReadable as error:
        raise CommandFailed(f"{file}: {error}", Exit.FAILED) from None


def packed(folder: Path) -> bytes:
    """Return a data folder of changedetection.io as a zip of what is read of it. Raises CommandFailed, OSError."""
    buffer, size = io.BytesIO(), 0
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted((*folder.glob("*.json"), *folder.glob("*/*.json"))):
            name = path.relative_to(folder).as_posix()
            if WANTED.search(name) and name.isprintable():  # what is not UTF-8 is not of that program
                size += path.stat().st_size
                if size > LARGEST:
                    raise CommandFailed(f"{folder}: its JSON is larger than {LARGEST >> 20} MiB.", Exit.FAILED)
                archive.writestr(name, path.read_bytes())
    return buffer.getvalue()


def bytes_of(file: str) -> bytes:
    """Return what is in a file (`-`: standard input) or folder; of too much the beginning. Raises CommandFailed."""
    try:
        if Path(file).is_dir():
            return packed(Path(file))
        if file == "-":
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with Path(file).open("rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandFailed(f"{file}: cannot be read: {error.strerror or error}.", Exit.USAGE) from None


def show(plan: Plan, *, as_json: bool) -> None:
    """Print the report of a plan."""
    for line in report.as_json(plan) if as_json else report.as_text(plan):
        click.echo(shown(line) if as_json else plain(line))


def agreed(plan: Plan, client: Client, *, yes: bool) -> bool:
    """Return whether it is to be done; a person is asked. Raises CommandFailed (USAGE) where there is none to ask."""
    if yes:
        return True
    if not on_terminal(0):
        raise CommandFailed("There is no terminal to ask on: say --yes to do it, or --dry-run to see it.", Exit.USAGE)
    return click.confirm(f"Add {report.sums(plan)} to {client.url}?", default=False, err=True)


def do(plan: Plan, client: Client, *, as_json: bool) -> int:
    """Carry a plan out, and print what became of it. Returns the exit code: FAILED when anything was refused."""
    outcome = Outcome(_teller(as_json=as_json))
    try:
        trio.run(carry_out, client, plan, outcome, entropy(16).hex())
    except (KeyboardInterrupt, BaseExceptionGroup):
        click.echo(f"{outcome.words(NOTHING)} {AGAIN}", err=True)
        raise
    if as_json:
        sums = {f"{what}_{became}": number for (what, became), number in outcome.sums.items()}
        print_json({"sums": sums})
    else:
        click.echo(outcome.words(), err=True)
    return Exit.FAILED if outcome.count("refused") else Exit.WELL


def _teller(*, as_json: bool) -> Callable[[Done], None]:
    def tell(done: Done) -> None:
        if as_json:
            print_json(done)
        elif done.became != "there" or done.says:
            click.echo(plain(_words(done)))
            if done.secret:
                click.echo(f"         its secret, shown this once: {done.secret}")

    return tell


def _words(done: Done) -> str:
    text = f"{done.became:<8} {done.what:<11} {done.name}  ({done.place})"
    return text + (f": {' '.join(done.says.split())}" if done.says else "")
