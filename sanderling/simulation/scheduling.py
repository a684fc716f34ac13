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
_COLLECT_EVERY = 24 * 3600.0
_MOST_ROUNDS = 100_000
"""Rounds of the scheduler at one instant; the largest crowd of a sane world needs a few hundred."""


class HookMoved(RuntimeError):
    """This release of Trio does not have the scheduling hook where we know it: pin Trio, or mend this file."""


class Stuck(Exception):
    """The simulated world was not over at its end: somebody waits for what never comes."""


def run(seed: str, life: Callable[[], Awaitable[T]], *, ends: float) -> T:
    """Run an async function to its end under a virtual clock and return its result.

    seed: fixes the order of simultaneous tasks. ends: virtual seconds until Stuck is raised; with no deadline
    left the clock would never jump, and a deadlock would hang for real. Raises what `life` raises.
    """
    standstill = _Standstill()
    with _seeded(seed), _no_chance_collections():
        return trio.run(_until, life, ends, standstill, clock=MockClock(autojump_threshold=0), instruments=[standstill])


class _Standstill(trio.abc.Instrument):
    """Ends a world in which somebody spins: tasks run, and the time does not move."""

    def __init__(self) -> None:
        self.scope = trio.CancelScope()
        self.reached = False
        self.stood_at = 0.0
        self._at = -1.0
        self._rounds = 0

    def before_io_wait(self, timeout: float) -> None:
        now = trio.current_time()
        if now != self._at:
            self._at, self._rounds = now, 0
        self._rounds += 1
        if self._rounds > _MOST_ROUNDS and not self.reached:
            self.reached, self.stood_at = True, now
            self.scope.cancel()


async def _until(life: Callable[[], Awaitable[T]], ends: float, standstill: _Standstill) -> T:
    result: list[T] = []
    with standstill.scope, trio.move_on_after(ends):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_collect)
            result.append(await life())
            nursery.cancel_scope.cancel()
    if result:
        return result[0]
    if standstill.reached:
        raise Stuck(f"the time stands still at {standstill.stood_at:.3f} virtual seconds: somebody spins")
    raise Stuck(f"not over after {ends:.0f} virtual seconds")


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
