"""Bugs that show when the disk is slow, refuses, or does not say what it has done."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.recorder import actor as recording
from actors.source.actor import PolledSource
from actors.source.keeper import Keeper
from storage.errors import DiskFull
from storage.records.identity import Millis


def frames_not_restored() -> AbstractContextManager[Any]:
    """Frames of a harvest that the recorder did not answer are forgotten."""

    async def wrong(self: Keeper) -> None:
        taken = self._intake.drop()
        if taken:
            await self._send(tuple(draft for _, _, draft in taken), len(taken))

    return patch.object(Keeper, "flush", wrong)


def unanswered_not_read_back() -> AbstractContextManager[Any]:
    """What became of a harvest without an answer is not looked up."""

    async def wrong(self: PolledSource) -> None:
        soon = Millis(self._ports.world.now() + 60_000)
        self._live.hot = replace(self._live.hot, next_look_at=soon)

    return patch.object(PolledSource, "_recover", wrong)


def recorder_crashes_at_a_lock() -> AbstractContextManager[Any]:
    """That storage does not answer is a crash of the recorder, and with it of all that stands after it."""
    return patch.object(recording, "STANDSTILL", (DiskFull,))
