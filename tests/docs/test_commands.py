"""The program understands every `sanderling ...` that a page prints: name, flags, values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from sanderling.cli import main
from tests.rules.source_files import ROOT, name_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(?:sh|console|text|bash)\n(.*?)^```", re.M | re.S)
# Positions where a command may begin: at the start of a line, after a prompt, a variable, a parenthesis, or a pipe.
BEGIN = re.compile(r"(?:^|\$\(|[|&;] )(?:\$ )?(?:sudo )?(?:[A-Z_]+=\S* )*(?:\S*/)?sanderling (?=[a-z-])", re.M)
INLINE = re.compile(r"`(?:bin/)?sanderling ((?:[a-z]|-)[^`]*)`")
END = re.compile(r"\s+(?:[|>&#;]|2>|&&)|\)(?=\s|$)|\n")


def printed(page: str) -> Iterator[str]:
    for fence in FENCE.findall(page):
        text = fence.replace("\\\n", " ")
        for found in BEGIN.finditer(text):
            yield END.split(text[found.end() :], maxsplit=1)[0]
    for found in INLINE.finditer(page):
        yield END.split(found.group(1), maxsplit=1)[0]


def refuse(line: str) -> str:
    """Return why the program would not understand a command line, or ""."""
    words = shlex.split(line)
    command: click.Command = main
    context = click.Context(main)
    while isinstance(command, click.Group):
        if not words:
            return ""  # mentions a group
        found = command.get_command(context, words[0])
        if found is None:
            return f"no command {words[0]!r}"
        command, words = found, words[1:]
    try:
        command.make_context(command.name, words, resilient_parsing=False)
    except click.exceptions.Exit:
        return ""
    except click.MissingParameter:
        return "" if not words else "something is missing"  # mentions a command by name alone
    except click.UsageError as error:
        return error.format_message()
    return ""


def test_every_command_is_understood(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            refused = {line: why for line in printed(page.read_text("utf-8")) if (why := refuse(line))}
            assert refused == {}


def test_commands_in_pages_are_found() -> None:
    lines = [line for page in PAGES for line in printed(page.read_text("utf-8"))]
    assert len(lines) > 40
    assert "add https://github.com/python/cpython/releases.atom --backfill 1" in lines


@pytest.mark.parametrize("line", ["serve --prot 1", "frobnicate", "keys make", "tail --count x", "sources add"])
def test_a_documented_command_that_fails_to_parse_is_found(line: str) -> None:
    assert refuse(line) or line == "sources add"
