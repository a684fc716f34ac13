"""The Jail port without processes: tasks run in the loop, in order, so that tests and simulations are deterministic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import trio

from actors.world import TaskRefused, WorkerDied
from supervision import Child


class InlineJail:
    """Runs tasks in the caller's loop. tasks: by name; None: the product's. Ignores deadlines."""

    def __init__(self, tasks: Mapping[str, Callable[[bytes], bytes]] | None = None) -> None:
        self._tasks = tasks
        self.calls = 0

    def __repr__(self) -> str:
        return f"<InlineJail {self.calls} calls>"

    async def run(self, child: Child) -> None:
        """Wait until stopped: there is nothing to keep alive."""
        child.ready()
        await child.stopping.wait()

    def lacks(self) -> str:
        """Return "": no hostile bytes are read here."""
        return ""

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task. Raises WorkerDied (for any other error), TaskRefused. Cancellation is only checked first."""
        await trio.lowlevel.checkpoint()
        self.calls += 1
        tasks = self._known()
        try:
            return tasks[task](request)
        except Exception as error:  # a worker would have died; the caller must see the same
            reason = getattr(error, "reason", None)
            if type(error).__name__ == "ContentError" and isinstance(reason, str):
                raise TaskRefused(reason) from None
            raise WorkerDied(f"{task}: {type(error).__name__}: {error}") from error

    def _known(self) -> Mapping[str, Callable[[bytes], bytes]]:
        if self._tasks is None:
            from actors.jail.tasks import TASKS  # the parsers are slow to import

            self._tasks = TASKS
        return self._tasks
