"""`sanderling help`: manual pages in the terminal, with a pager for long ones."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping

import click

from sanderling.client.rendering import fit
from sanderling.environment import typed, wants_colour
from sanderling.exits import Exit
from sanderling.manual.layout import Look, lines
from sanderling.manual.pages import DECISIONS, contents, page, title

WIDEST = 100
"""Maximum width in cells; longer lines are hard to read."""
NAMES = 14


def show_help(topic: str | None, variables: Mapping[str, str], *, as_markdown: bool) -> int:
    """Show a page, or without a topic the list. Raises CommandFailed for an unknown page."""
    size = shutil.get_terminal_size((WIDEST, 24))
    width = min(size.columns, WIDEST)
    if topic is None:
        text = listing(width)
    elif as_markdown:
        text = page(topic).markdown.rstrip("\n")
    else:
        text = "\n".join(lines(page(topic).markdown, Look(width, wants_colour(variables))))
    if sys.stdout.isatty() and text.count("\n") >= size.lines - 1:
        # With None, Click asks less for colours. With True, less would show their codes as letters.
        click.echo_via_pager(text + "\n", color=None if wants_colour(variables) else False)
    else:
        click.echo(text)
    return Exit.WELL


def listing(width: int) -> str:
    """Return all pages by kind, one per line, without the many decisions, which have an index page."""
    shown = [f"{typed('help TOPIC')} shows a page; the beginning of a name is enough."]
    for kind, names in contents().items():
        shown += ["", kind]
        for name in names:
            if not name.startswith(DECISIONS):
                shown.append(f"  {name:<{NAMES}} {fit(title(name), width - NAMES - 3)}")
    return "\n".join(shown)
