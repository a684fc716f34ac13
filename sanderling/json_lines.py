"""JSON on the terminal, safe for a person to read."""

from __future__ import annotations

import re

import click
import msgspec

from sanderling.environment import on_terminal

# DEL and C1 (a lone U+009B is a CSI to some terminals), line separators, and marks that change text direction.
# JSON itself escapes C0, and these characters occur only inside strings.
_DECEIVING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def print_json(record: object) -> None:
    echo_json(msgspec.json.encode(record).decode())


def echo_json(text: str) -> None:
    """Print JSON, with dangerous characters escaped if stdout is a terminal."""
    click.echo(shown(text))


def shown(text: str) -> str:
    return harmless(text) if on_terminal(1) else text


def harmless(text: str) -> str:
    r"""Escape the characters that could deceive a reader; the JSON value stays the same.

    >>> harmless('"a\u202eb\x9b31m"')
    '"a\\u202eb\\u009b31m"'
    """
    return _DECEIVING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
