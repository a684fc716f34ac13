"""The program itself: `sanderling help`, `completion`, `licences` and `verify-release`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sanderling.environment import environ
from sanderling.exits import Exit
from sanderling.flags import json_flag


def _topics(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from sanderling.manual.pages import contents

    return [name for names in contents().values() for name in names if name.startswith(typed)]


@click.command("help")
@click.argument("topic", required=False, shell_complete=_topics)
@click.option("--markdown", "as_markdown", is_flag=True, help="The page's Markdown source.")
def help_page(topic: str | None, *, as_markdown: bool) -> int:
    """Show a page of the manual; without a TOPIC, list the pages.

    \b
    sanderling help
    sanderling help alerts
    """
    from sanderling.manual.pages import show_help

    return show_help(topic, environ(), as_markdown=as_markdown)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the script that makes a SHELL complete commands, flags and pages. Packages install it.

    \b
    sanderling completion bash > ~/.local/share/bash-completion/completions/sanderling
    sanderling completion zsh > ~/.zfunc/_sanderling
    sanderling completion fish > ~/.config/fish/completions/sanderling.fish
    """
    from sanderling.manual.shell import script

    click.echo(script(shell), nl=False)
    return Exit.WELL


def _bundled(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    from sanderling.licences import names

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
    from sanderling.client.terminal import print_json
    from sanderling.licences import records, show

    if as_json:
        for record in records(name):
            print_json(record)
    else:
        click.echo(show(name, whole=whole))
    return Exit.WELL


@click.command("verify-release")
@click.argument("paths", metavar="FOLDER|FILES...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--key", required=True, metavar="PUBLIC.pem", type=click.Path(path_type=Path), help="The publisher's public key."
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON a file.")
def verify_release(paths: Sequence[Path], *, key: Path, as_json: bool) -> int:
    """Check the files of a release: the signature of SHA256SUMS, then each file's SHA-256.

    SHA256SUMS and SHA256SUMS.sig must be in the same folder. In a FOLDER, a missing or unlisted file is an error; of
    FILES only these are checked. Get the key from another place than the files. The exit code is 0 if all are valid.

    \b
    sanderling verify-release ~/Downloads/sanderling-0.1.0 --key publisher.pem
    sanderling verify-release sanderling_0.1.0-1_amd64.deb --key publisher.pem
    """
    from sanderling.releases import verify_release as run

    return run(paths, key, json=as_json)
