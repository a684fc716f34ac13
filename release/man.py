"""The man page, in man(7), from the table of commands. `make man` and the packages write it to sanderling.1."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import click

from extras.manual.references import options_of, tree, usage_of, words_of
from sanderling import __version__
from sanderling.environment import BESIDE
from sanderling.exits import Exit

SUMMARY = "turn any URL into a live, resumable, signed stream of new-content events"
ENDS = {
    Exit.WELL: "Done.",
    Exit.FAILED: "It failed; standard error says why.",
    Exit.USAGE: "The command line was not understood.",
    Exit.DIFFERS: "apply --plan --exit-code: something is to be done.",
    Exit.BAD_SETTING: "A setting is wrong.",
    Exit.UNREACHABLE: "The service can't be reached.",
    Exit.GAVE_UP: "The service gave up; start it again.",
    Exit.TRY_AGAIN: "Something passing: the port is taken, the disk is full.",
    Exit.BAD_DATA: "The data folder is locked, not writable, damaged, or of a newer version.",
}


def man_page() -> str:
    """Return sanderling(1). It contains no date, so that builds are reproducible."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH SANDERLING 1 "" "Sanderling {__version__}" "User Commands"'
    yield from (".SH NAME", f"sanderling \\- {_text(SUMMARY)}")
    yield from (".SH SYNOPSIS", ".B sanderling", "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]")
    (_, whole), *commands = tree()
    words, examples = words_of(whole)
    yield from (".SH DESCRIPTION", _text(words), ".PP", "The manual: \\fBsanderling help\\fR.", *_as_typed(examples))
    yield ".SH COMMANDS"
    for name, command in commands:
        if not isinstance(command, click.Group):
            yield from _command(name, command)
    yield ".SH ENVIRONMENT"
    yield "Each setting is also a variable; \\fBsanderling help settings\\fR lists them. Also:"
    for variable, says in BESIDE.items():
        yield from _tagged(variable, says)
    yield ".SH EXIT STATUS"
    for code, says in ENDS.items():
        yield from _tagged(str(int(code)), says)


def _command(name: str, command: click.Command) -> Iterator[str]:
    words, examples = words_of(command)
    yield from (f".SS {_text(usage_of(name, command))}", _text(words), *_as_typed(examples))
    for flags, says in options_of(command):
        yield from _tagged(flags, says)


def _tagged(term: str, says: str) -> Iterator[str]:
    yield from (".TP", f"\\fB{_text(term)}\\fR", _text(says))


def _as_typed(examples: str) -> Iterator[str]:
    if examples:
        yield from (".PP", ".nf", ".RS 4", *(_text(line, keep=True) for line in examples.splitlines()), ".RE", ".fi")


def _text(text: str, *, keep: bool = False) -> str:
    """Escape text for roff: literal dashes and quotes, no line that looks like a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "")
    escaped = escaped.replace("^", "\\(ha").replace("~", "\\(ti")
    paragraphs = [escaped] if keep else [re.sub(r"\s+", " ", part).strip() for part in re.split(r"\n\s*\n", escaped)]
    return "\n.PP\n".join("\\&" + part if part[:1] == "." else part for part in paragraphs)


if __name__ == "__main__":
    sys.stdout.write(man_page())
