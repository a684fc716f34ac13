"""A Trio run that a seed determines: virtual time, and the order of tasks that wake together.

This is the one file that touches Trio's private hook. With it Trio sorts each batch of runnable tasks by age and
shuffles it with its own generator; seeding that generator both fixes the order and explores another order for each seed
(python-trio/trio#890, #2675). The hook is private, so its absence fails loudly instead of giving runs that only look
alike.
"""

from __future__ import annotations

import gc
import math
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any, TypeVar

import trio
import trio._core._run as _trio_run

T = TypeVar("T")

_SWITCH = "_ALLOW_DETERMINISTIC_SCHEDULING"
_GENERATOR = "_r"
_COLLECT_EVERY = 24 * 3600.0
_MOST_READINGS = 400_000
"""Readings of the clock at one instant; the largest crowd of a sane world needs a few thousand."""


class HookMoved(RuntimeError):
    """This release of Trio does not have the scheduling hook where we know it: pin Trio, or update this file."""


class Stuck(Exception):
    """The simulated world did not end in time: a task waits for ever."""


def run(seed: str, life: Callable[[], Awaitable[T]], *, ends: float) -> T:
    """Run an async function to its end under a virtual clock and return its result.

    seed: fixes the order of simultaneous tasks. ends: virtual seconds until Stuck is raised; with no deadline left the
    clock would never jump, and a deadlock would hang for real. Raises what `life` raises.
    """
    clock = _Clock()
    with _seeded(seed), _no_chance_collections():
        # In its own context: the caller's context variables must not leak in.
        return Context().run(lambda: trio.run(_until, life, ends, clock, clock=clock))


class _Clock(trio.abc.Clock):
    """Virtual time that moves by jumps alone: Trio asks how long to sleep only when no task can run.

    So the next deadline is the only thing to wait for. A spinning task prevents that question; `still` is set when the
    time has been read too often without a jump.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.still = trio.Event()
        self._readings = 0

    def start_clock(self) -> None:
        """Do nothing."""

    def current_time(self) -> float:
        """Return virtual seconds."""
        self._readings += 1
        if self._readings > _MOST_READINGS:
            self.still.set()
        return self.now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Jump to the next deadline and sleep no real time."""
        if self.now < deadline < math.inf:
            self.now, self._readings = deadline, 0
        return 0.0 if deadline < math.inf else math.inf


async def _until(life: Callable[[], Awaitable[T]], ends: float, clock: _Clock) -> T:
    result: list[T] = []

    async def live() -> None:
        result.append(await life())
        nursery.cancel_scope.cancel()

    with trio.move_on_after(ends):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_collect)
            nursery.start_soon(live)
            await clock.still.wait()
            nursery.cancel_scope.cancel()
    if result:
        return result[0]
    if clock.still.is_set():
        raise Stuck(f"the time stands still at {clock.now:.3f} virtual seconds: somebody spins")
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
    """Disable random garbage collections: they would run async generators' finalisers at any moment. Existing objects
    are frozen, unless their owner has already done so.
    """
    was_on, mine = gc.isenabled(), gc.get_freeze_count() == 0
    gc.collect()
    if mine:
        gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        if mine:
            gc.unfreeze()
        if was_on:
            gc.enable()


async def _collect() -> None:
    while True:
        await trio.sleep(_COLLECT_EVERY)
        gc.collect()
