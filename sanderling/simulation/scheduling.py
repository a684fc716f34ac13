"""A Trio run that a seed determines: virtual time, and the order in which tasks that wake together go on.

This is the one file that touches Trio's private hook. With it Trio sorts each batch of runnable tasks by age and
shuffles it with its own generator; seeding that generator both fixes the order and explores another order for
each seed (python-trio/trio#890, #2675). The hook is private, so its absence fails loudly instead of giving runs
that only look alike.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import trio
import trio._core._run as _trio_run
from trio.testing import MockClock

T = TypeVar("T")

_SWITCH = "_ALLOW_DETERMINISTIC_SCHEDULING"
_GENERATOR = "_r"
_COLLECT_EVERY = 6 * 3600.0


class HookMoved(RuntimeError):
    """This release of Trio does not have the scheduling hook where we know it: pin Trio, or mend this file."""


class Stuck(Exception):
    """The simulated world was not over at its end: somebody waits for what never comes."""


def run(seed: str, life: Callable[[], Awaitable[T]], *, ends: float) -> T:
    """Run an async function to its end under a virtual clock and return its result.

    seed: fixes the order of simultaneous tasks. ends: virtual seconds until Stuck is raised; with no deadline
    left the clock would never jump, and a deadlock would hang for real. Raises what `life` raises.
    """
    with _seeded(seed), _no_chance_collections():
        return trio.run(_until, life, ends, clock=MockClock(autojump_threshold=0))


async def _until(life: Callable[[], Awaitable[T]], ends: float) -> T:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_collect)
        with trio.move_on_after(ends):
            result = await life()
            nursery.cancel_scope.cancel()
            return result
        raise Stuck(f"not over after {ends:.0f} virtual seconds")
    raise AssertionError("unreachable")


@contextmanager
def _seeded(seed: str) -> Iterator[None]:
    generator = getattr(_trio_run, _GENERATOR, None)
    if not isinstance(generator, random.Random) or not isinstance(getattr(_trio_run, _SWITCH, None), bool):
        raise HookMoved(f"trio {trio.__version__} has no {_SWITCH} and {_GENERATOR} in trio._core._run")
    before: tuple[Any, bool] = generator.getstate(), getattr(_trio_run, _SWITCH)
    generator.seed(f"trio/{seed}")
    setattr(_trio_run, _SWITCH, True)
    try:
        yield
    finally:
        generator.setstate(before[0])
        setattr(_trio_run, _SWITCH, before[1])


@contextmanager
def _no_chance_collections() -> Iterator[None]:
    """Take the garbage collector out of chance: finalisers of async generators would run at whatever moment it
    likes.
    """
    was_on = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_on:
            gc.enable()


async def _collect() -> None:
    while True:
        await trio.sleep(_COLLECT_EVERY)
        gc.collect()
