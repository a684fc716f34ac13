"""Counts the tasks that become runnable at once, and waits for the end of a child."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from supervision import Child, DynamicSupervisor


@contextmanager
def batch_sizes() -> Iterator[list[int]]:
    """Collect the number of runnable tasks at each turn of the loop."""
    sizes: list[int] = []

    class Counting(trio.abc.Instrument):
        def before_io_wait(self, timeout: float) -> None:
            sizes.append(trio.lowlevel.current_statistics().tasks_runnable)

    instrument = Counting()
    trio.lowlevel.add_instrument(instrument)
    try:
        yield sizes
    finally:
        trio.lowlevel.remove_instrument(instrument)


async def ended(many: DynamicSupervisor, id: str) -> Child:
    """Wait for the end of a living child and return it."""
    child = many.child(id)
    assert child is not None
    await child.wait_task_ended()
    return child
