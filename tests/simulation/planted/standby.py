"""Bugs of the replica and its standby."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any
from unittest.mock import patch

import trio
from msgspec.structs import replace

from extras.cluster import standby as copying
from extras.cluster.replica.log import ObjectsAway
from extras.cluster.replica.parts import ReadChange
from extras.cluster.replica.shipper import Shipper
from extras.cluster.replica.shipping import Origin
from extras.cluster.standby import StandbyCopy


def failed_puts_are_skipped() -> AbstractContextManager[Any]:
    """The shipper counts a change that the place did not store."""

    async def wrong(self: Shipper, name: str, body: bytes) -> None:
        with suppress(ObjectsAway):
            await self._objects.put(name, body)

    return patch.object(Shipper, "_until_it_is_there", wrong)


def owners_are_not_read() -> AbstractContextManager[Any]:
    """The shipper does not see that a standby took over."""

    async def wrong(_self: Shipper, _origin: Origin) -> None:
        await trio.lowlevel.checkpoint()

    return patch.object(Shipper, "_look_at_owner", wrong)


def the_present_is_named() -> AbstractContextManager[Any]:
    """The shipper reports the present as copied while a change waits for the place."""
    right = Shipper._tell

    async def wrong(self: Shipper, *, now: bool = False) -> None:
        self._shipped_at = self._world.now()
        await right(self, now=now)

    return patch.object(Shipper, "_tell", wrong)


def counted_before_it_is_written() -> AbstractContextManager[Any]:
    """The standby counts a change, then writes its pages."""

    def wrong(self: StandbyCopy, found: ReadChange) -> None:
        assert self.applied is not None
        self._note(replace(self.applied, change=self.applied.change + 1, hash=found.hash, at=found.at))
        put_into = vars(copying)["put_into"]  # as patched: a standby may die in it
        with self.database.open("r+b") as database:
            put_into(database, found.change.pages, found.change.size)

    return patch.object(StandbyCopy, "_put", wrong)
