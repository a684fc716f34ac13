"""The table of extras: optional capabilities that attach themselves here.

It names their modules as strings, for two reasons: the product must not depend on an extra, and must not pay for the
import of one that it does not use. A row therefore has all that the product shows of an extra before it uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from click import Command


@dataclass(frozen=True, slots=True)
class Extra:
    """The rows that an extra adds to tables of the product. Its package holds it as `EXTRA`.

    Each field is a function, so that the import of the package alone costs nothing: the product calls it when it builds
    that table.
    """

    commands: Callable[[], Sequence[Command]] = tuple
    """Commands of the program."""


@dataclass(frozen=True, slots=True)
class Row:
    """An extra as the product knows it before it imports it."""

    commands: Mapping[str, str]
    """name: the first sentence of its help."""


TABLE: Mapping[str, Row] = {
    "extras.migrate": Row(
        commands={
            "export": "Write a whole instance to FILE as documented JSON, one object a line; - is the standard output.",
            "import": "Move in: FILE is what another program has exported, a list of addresses, or - for the standard "
            "input.",
        },
    ),
    "extras.receiver": Row(
        commands={
            "listen": "Receive deliveries, print each, and say whether its two signatures verify, and if not, "
            "exactly why.",
            "verify": "Check the signatures in a FILE (-: standard input) without a service.",
            "probe": "Put the receiver at URL to the torture, and print what it should have done with each delivery "
            "and did.",
        },
    ),
}
"""module: its row. An extra is its folder, its row here and its tests."""


def extra(module: str) -> Extra:
    """Import an extra of the table and return its record."""
    found = import_module(module).EXTRA
    assert isinstance(found, Extra)
    return found
