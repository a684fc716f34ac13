"""`sanderling import` of a Sanderling export: show its content, import it after a yes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

import click

from actors.settings import Settings
from extras.migrate.whole.lines import begins_export, counted
from extras.migrate.whole.loading import Loaded, load_into, look_through
from sanderling.client.terminal import print_json
from sanderling.engines import engine_of
from sanderling.environment import on_terminal, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import entropy
from storage.records.secrecy import plain

BEGINNING = 4096
MOST_KEYS = 20
"""Maximum keys listed one by one."""


@contextmanager
def whole_instance(file: str, program: str | None) -> Iterator[BinaryIO | None]:
    """Open a file (`-`: stdin) if it is an instance's export, by content or `program`; else yield None.

    Stdin is then not consumed. Raises CommandFailed.
    """
    if program not in (None, "sanderling"):
        yield None
        return
    with ExitStack() as undo:
        try:
            stream = _standard_input() if file == "-" else undo.enter_context(Path(file).open("rb"))
            found = program is not None or begins_export(stream.peek(BEGINNING))
        except OSError as error:
            raise CommandFailed(f"{file}: cannot be read: {error.strerror or error}.", Exit.USAGE) from None
        yield stream if found else None


def _standard_input() -> BufferedReader:
    stream = sys.stdin.buffer
    assert isinstance(stream, BufferedReader)
    return stream


def take_over(stream: BinaryIO, name: str, settings: Settings, *, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Load an export into an empty instance; return the exit code. Raises CommandFailed.

    Without `yes` the export is read first and the user is asked, so it must be a seekable file.
    """
    if dry_run:
        _tell(look_through(stream, name), "in it", as_json=as_json)
        return Exit.WELL
    place = engine_of(settings).place
    if not yes:
        if not on_terminal(0) or not stream.seekable():
            raise CommandFailed(
                "There is no terminal to confirm on: add --yes, or --dry-run to see the plan.", Exit.USAGE
            )
        _tell(look_through(stream, name), "in it", as_json=False)
        if not click.confirm(f"Take all of it over into {place}?", default=False, err=True):
            return Exit.WELL
        stream.seek(0)
    loaded = load_into(stream, name, settings, entropy)
    _tell(loaded, f"now in {place}", as_json=as_json)
    if not as_json:
        _tell_what_is_left_to_do(loaded, Path(settings.data))
    return Exit.WELL


def _tell(loaded: Loaded, where: str, *, as_json: bool) -> None:
    head, end = loaded.head, loaded.end
    if as_json:
        print_json({"head": head, "end": end, "without_greeting": loaded.speechless, "keys": loaded.keys})
        return
    of = plain(f"an instance of Sanderling {head.version[:40]}, {head.made_at[:40]}")
    click.echo(f"{counted(end)}: {where}, of {of}.", err=True)
    if loaded.keys:
        shown = ", ".join(loaded.keys[:MOST_KEYS]) + (" ..." if len(loaded.keys) > MOST_KEYS else "")
        click.echo(
            plain(
                "Its events were signed with these keys, which /.well-known/jwks.json publishes from then on: "
                f"{shown}. "
                "Whoever has their private halves can then sign in this instance's name; take one out again with "
                "`sanderling keys signing --forget KEY_ID`."
            ),
            err=True,
        )


def _tell_what_is_left_to_do(loaded: Loaded, folder: Path) -> None:
    if loaded.end.destinations:
        click.echo(
            "Its destinations are paused, because an export has no secrets: for each, make a new one, give it to the "
            "receiver, and resume it. You can then replay the events that they missed.",
            err=True,
        )
    if loaded.speechless:
        click.echo(
            "Paused, because `hello` and `headers` may be secret and are not exported (set them, then resume): "
            f"{', '.join(loaded.speechless[:20])}"
            f"{' ...' if len(loaded.speechless) > 20 else ''}",
            err=True,
        )
    click.echo("API keys and the password are this instance's own. Stop the old service first.", err=True)
    click.echo(f"Start it: {typed('serve', str(folder))}", err=True)
