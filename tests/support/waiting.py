"""Waits for another process or thread. The limit only ends a hang."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import trio

HANG: Final = 240.0
"""Seconds until a test gives up."""


async def until(holds: Callable[[], bool], every: float = 0.02) -> None:
    """Poll for a condition that has no event."""
    with trio.fail_after(HANG):
        while not holds():  # noqa: ASYNC110
            await trio.sleep(every)


def wait_until(holds: Callable[[], bool], every: float = 0.02) -> None:
    """Poll without Trio."""
    end = time.perf_counter() + HANG
    while not holds():
        assert time.perf_counter() < end, "it never held"
        time.sleep(every)
