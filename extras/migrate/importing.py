"""`sanderling import`: read a file, show the plan, execute it after a yes."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import click
import trio

from extras.migrate import execution
from extras.migrate.changedetection import LARGEST, WANTED
from extras.migrate.detection import kind_of
from extras.migrate.drafting import Kind, NotReadable, Plan
from extras.migrate.execution import AGAIN, NOTHING, ItemResult, Outcome, execute_plan
from extras.migrate.reading import MOST_BYTES, read
from sanderling.client.api import Client
from sanderling.client.terminal import print_json, shown
from sanderling.environment import on_terminal
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import entropy
from storage.records.secrecy import plain


def plan_of(file: str, data: bytes, kind: Kind | None) -> Plan:
    try:
        return read(kind or kind_of(data), data)
    except NotReadable as error:
        raise CommandFailed(f"{file}: {error}", Exit.FAILED) from None


def packed(folder: Path) -> bytes:
    """Zip the relevant files of a changedetection.io data folder. Raises CommandFailed, OSError."""
    buffer, size = io.BytesIO(), 0
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted((*folder.glob("*.json"), *folder.glob("*/*.json"))):
            name = path.relative_to(folder).as_posix()
            if WANTED.search(name) and name.isprintable():  # names that are not UTF-8 are not from that program
                size += path.stat().st_size
                if size > LARGEST:
                    raise CommandFailed(f"{folder}: its JSON is larger than {LARGEST >> 20} MiB.", Exit.FAILED)
                archive.writestr(name, path.read_bytes())
    return buffer.getvalue()


def bytes_of(file: str) -> bytes:
    """Read a file (`-`: stdin) or folder, at most one byte over the limit. Raises CommandFailed."""
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
    for line in execution.as_json(plan) if as_json else execution.as_text(plan):
        click.echo(shown(line) if as_json else plain(line))


def confirmed(plan: Plan, client: Client, *, yes: bool) -> bool:
    if yes:
        return True
    if not on_terminal(0):
        raise CommandFailed("There is no terminal to confirm on: add --yes, or --dry-run to see the plan.", Exit.USAGE)
    return click.confirm(f"Add {execution.sums(plan)} to {client.url}?", default=False, err=True)


def do(plan: Plan, client: Client, *, as_json: bool) -> int:
    outcome = Outcome(_teller(as_json=as_json))
    try:
        trio.run(execute_plan, client, plan, outcome, entropy(16).hex())
    except (KeyboardInterrupt, BaseExceptionGroup):
        click.echo(f"{outcome.words(NOTHING)} {AGAIN}", err=True)
        raise
    if as_json:
        print_json({"sums": {f"{what}_{became}": number for (what, became), number in outcome.sums.items()}})
    else:
        click.echo(outcome.words(), err=True)
    return Exit.FAILED if outcome.count("refused") else Exit.WELL


def _teller(*, as_json: bool) -> Callable[[ItemResult], None]:
    def tell(done: ItemResult) -> None:
        if as_json:
            print_json(done)
        elif done.became != "there" or done.says:
            click.echo(plain(_words(done)))
            if done.secret:
                click.echo(f"         its secret, shown this once: {done.secret}")

    return tell


def _words(done: ItemResult) -> str:
    text = f"{done.became:<8} {done.what:<11} {done.name}  ({done.place})"
    return text + (f": {' '.join(done.says.split())}" if done.says else "")
