"""Text that came over the network, made safe for a terminal, and the failure that ends a command."""

from __future__ import annotations

import re
import sys
from unicodedata import combining, east_asian_width

import click

FAILED, USAGE, UNREACHABLE, TRY_AGAIN = 1, 2, 69, 75
"""Exit codes; the last two are those of BSD's sysexits."""
# C0, DEL, C1 (some terminals take a lone 0x9b for a CSI), line separators, and marks that reverse text direction.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# JSON itself escapes C0, and these characters occur only inside strings.
_DECEIVING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


CUT = "…"


class Failed(click.ClickException):
    """Ends the command. `message` gives the problem and its remedy, on stderr."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # each failure has its own

    def show(self, file: object = None) -> None:
        warn(self.message)


def warn(words: str) -> None:
    click.echo(f"sanderling: {plain(words)}", err=True)


def plain(text: str) -> str:
    r"""Escape every character that moves the cursor, sets colours or breaks the line.

    >>> plain('a\nb\x1b[31m')
    'a\\nb\\x1b[31m'
    """
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def fit(text: str, width: int) -> str:
    """Return text on one line, control characters escaped, cut to so many cells.

    >>> fit('a  long title', 8), fit('日本語', 5)
    ('a long …', '日本…')
    """
    text = plain(" ".join(text[: 4 * max(1, width)].split()))
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return text + CUT


def cells(text: str) -> int:
    """Return the width of a text in terminal cells."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def harmless(json: str) -> str:
    """Return JSON for stdout, escaped if that is a terminal."""
    return escaped(json) if sys.stdout.isatty() else json


def escaped(json: str) -> str:
    r"""Escape the characters that could deceive a reader; the JSON value stays the same.

    >>> escaped('"a\u202eb\x9b31m"')
    '"a\\u202eb\\u009b31m"'
    """
    return _DECEIVING.sub(lambda found: f"\\u{ord(found.group()):04x}", json)
