"""JSON on the terminal: what programs read, shown so that a person who looks at it is not deceived."""

from __future__ import annotations

import re

import click
import msgspec

from sanderling.environment import on_terminal

# DEL and C1 (a lone U+009B is a CSI to some terminals), line separators, and what turns the direction of text. JSON
# escapes C0 by itself, and none of these stands anywhere but in its strings.
_DECEIVING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def print_json(record: object) -> None:
    echo_json(msgspec.json.encode(record).decode())


def echo_json(text: str) -> None:
    """Print JSON as it is, and on a terminal so that nothing in it moves a cursor or turns text round."""
    click.echo(shown(text))


def shown(text: str) -> str:
    """Return JSON as it is printed to where stdout leads."""
    return harmless(text) if on_terminal(1) else text


def harmless(text: str) -> str:
    r"""Return the same JSON with what deceives a reader written as an escape.

    >>> harmless('"a\u202eb\x9b31m"')
    '"a\\u202eb\\u009b31m"'
    """
    return _DECEIVING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
