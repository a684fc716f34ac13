"""`sanderling help`: the manual's pages in the terminal, in a pager when they are longer than it."""

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
"""Cells; longer lines are hard to read."""
NAMES = 14


def show_help(topic: str | None, variables: Mapping[str, str], *, as_markdown: bool) -> int:
    """Show a page, or without a topic which there are. Raises CommandFailed for a page that is not there."""
    size = shutil.get_terminal_size((WIDEST, 24))
    width = min(size.columns, WIDEST)
    if topic is None:
        text = listing(width)
    elif as_markdown:
        text = page(topic).markdown.rstrip("\n")
    else:
        text = "\n".join(lines(page(topic).markdown, Look(width, wants_colour(variables))))
    if sys.stdout.isatty() and text.count("\n") >= size.lines - 1:
        # None: Click then tells less to show colours. True would hand less codes that it prints as letters.
        click.echo_via_pager(text + "\n", color=None if wants_colour(variables) else False)
    else:
        click.echo(text)
    return Exit.WELL


def listing(width: int) -> str:
    """Return all pages by kind, a line each; the decisions, which are many, are on a page of their own."""
    shown = [f"{typed('help TOPIC')} shows a page; the beginning of a name is enough."]
    for kind, names in contents().items():
        shown += ["", kind]
        for name in names:
            if not name.startswith(DECISIONS):
                shown.append(f"  {name:<{NAMES}} {fit(title(name), width - NAMES - 3)}")
    return "\n".join(shown)
