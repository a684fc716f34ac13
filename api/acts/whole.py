"""An act that is begun is done: who asked for it may hang up between a commit and what makes it come into force."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import trio

P = ParamSpec("P")
T = TypeVar("T")


def whole(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Run an act to its end although its caller goes away. Each wait in it has a bound of its own."""

    @wraps(act)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with trio.CancelScope(shield=True):
            done = await act(*args, **kwargs)
        await trio.lowlevel.checkpoint_if_cancelled()
        return done

    return run
