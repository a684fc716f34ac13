"""The thread that hears of other nodes' commits. A notice is a hint: the log is read each second besides."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import psycopg
import trio

from storage.errors import Unavailable
from storage.postgres.engine.connection import Line
from storage.postgres.engine.writer import CHANNEL, PostgresWriter

EVERY = 1.0
"""Seconds between two tries to listen, and after which it is seen whether the thread should end."""
CLOSE_WITHIN = 5.0
"""Seconds that the thread gets at a close."""
APART = 0.02
"""Seconds between two readings at least: a follower that reads at each of some hundred commits is in the way."""


class Watch:
    """See above. `hear` is called on the loop: others may have committed something."""

    def __init__(self, line: Line, writers: Sequence[PostgresWriter], hear: Callable[[], None]) -> None:
        self._line, self._writers, self._hear = line, writers, hear
        self._token = trio.lowlevel.current_trio_token()
        self._ends, self._stopped = threading.Event(), trio.Event()
        self._thread = threading.Thread(target=self._run, name="postgres-watch", daemon=True)

    def __repr__(self) -> str:
        return f"Watch({self._line})"

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    async def aclose(self) -> None:
        """Stop the thread, and wait until it has ended, within a deadline also when cancelled."""
        self._ends.set()
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            while not self._stopped.is_set():
                if (connection := self._line.connection) is not None:
                    connection.cut()
                with trio.move_on_after(APART):  # the thread may be connecting still
                    await self._stopped.wait()

    def _run(self) -> None:
        listening = None
        while not self._ends.is_set():
            try:
                connection = self._line.ready()
                if connection is not listening:
                    connection.run(f"LISTEN {CHANNEL}")
                    listening = connection
                own = {writer.pid for writer in self._writers}
                heard = [each.pid for each in connection.raw.notifies(timeout=EVERY, stop_after=1)]
                if own.issuperset(heard):
                    continue
            except (Unavailable, psycopg.Error, OSError):
                self._line.drop()
                listening = None
                self._ends.wait(EVERY)
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._hear)
            self._ends.wait(APART)
        self._line.drop()
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._stopped.set)
