"""The promise of a place for objects. A name is parts of letters, digits and hyphens with slashes between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

NAME: Final = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")


class ObjectsAway(Exception):
    """The place can't be reached or written, or does not answer in time; the sentence says why."""


class Objects(Protocol):
    """Four verbs. An object is there whole or not at all, and what was put is durable. Each raises ObjectsAway."""

    @property
    def every(self) -> float:
        """Seconds between two looks that this place bears; some places ask money for each."""

    async def put(self, name: str, body: bytes) -> None:
        """Put an object, in the place of any of this name."""

    async def get(self, name: str) -> bytes | None:
        """Return an object, None when there is none."""

    async def names(self) -> Sequence[str]:
        """Return the names of all objects, sorted."""

    async def delete(self, name: str) -> None:
        """Delete an object; nothing happens when there is none."""

    async def aclose(self) -> None:
        """Close what is open."""
