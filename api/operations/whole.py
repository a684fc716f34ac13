"""Run an operation to its end: its caller may disconnect between the commit and the steps that put it in force."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import trio

P = ParamSpec("P")
T = TypeVar("T")

WITHIN = 30.0
"""Seconds. Every wait in an operation has a shorter limit, except for a storage that does not answer."""


def whole(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Run an operation to its end, within a limit, even if its caller is cancelled. Raises TooSlowError."""

    @wraps(act)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + WITHIN) as scope:
            done = await act(*args, **kwargs)
        if scope.cancelled_caught:
            raise trio.TooSlowError
        await trio.lowlevel.checkpoint_if_cancelled()
        return done

    return run
