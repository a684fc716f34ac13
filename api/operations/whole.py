"""An act that is begun is done: who asked for it may hang up between a commit and what makes it come into force."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import trio

P = ParamSpec("P")
T = TypeVar("T")

WITHIN = 30.0
"""Seconds. Each wait in an act has a shorter bound of its own, but for storage that does not answer."""


def whole(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Run an act to its end, within a bound, although its caller goes away. Raises TooSlowError."""

    @wraps(act)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + WITHIN) as scope:
            done = await act(*args, **kwargs)
        if scope.cancelled_caught:
            raise trio.TooSlowError
        await trio.lowlevel.checkpoint_if_cancelled()
        return done

    return run
