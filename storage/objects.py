"""Objects: named bytes in a place outside the data folder that another machine can read.

A name has parts of lower-case letters, digits and hyphens, between slashes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

NAME: Final = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")


class ObjectsAway(Exception):
    """The place cannot be reached or written, or does not answer in time. The message has the reason."""


class Objects(Protocol):
    """Four operations. An object exists whole or not at all, and a put is durable. Each raises ObjectsAway."""

    @property
    def every(self) -> float:
        """Least seconds between two requests to this place; some places charge for each."""

    async def put(self, name: str, body: bytes) -> None:
        """Put an object, replacing any with this name."""

    async def get(self, name: str) -> bytes | None:
        """Return an object, None when there is none."""

    async def names(self) -> Sequence[str]:
        """Return the names of all objects, sorted."""

    async def delete(self, name: str) -> None:
        """Delete an object if it exists."""

    async def aclose(self) -> None:
        """Close open resources."""
