"""A change as an extra sees it: the declared route or screen, the call or visit, and the running of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.dashboard.screen import Screen, Visit
    from api.route import Call, Route

Recorder = Callable[["Route | Screen", "Call | Visit", Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Runs a change and returns its result."""
READS = ("GET", "HEAD")


async def unrecorded(of: Route | Screen, by: Call | Visit, act: Callable[[], Awaitable[Any]]) -> Any:
    """Run a change without a record of it."""
    return await act()
