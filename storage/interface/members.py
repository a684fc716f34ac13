"""The nodes that work on one database, by its own clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class View(NamedTuple):
    """Who is inside, in the order of their names. `number` rises with each change."""

    number: int
    inside: tuple[str, ...]


class Members(Protocol):
    """The members of an installation of several nodes."""

    @property
    def me(self) -> str:
        """This member: the node's name, and chance that is new at each start."""

    async def beat(self, says: Mapping[str, Any]) -> View:
        """Say that this node is there, and let in who knocks and put out who is late; return the view.

        A member is late once it has not beaten for `LEASE` seconds. Raises Unavailable.
        """

    async def leave(self) -> None:
        """Be inside no longer, at once. Nothing beats after it. Raises Unavailable."""

    async def view(self) -> View:
        """Return the view as it is."""


LEASE = 5.0
"""Seconds for which a beat holds."""
