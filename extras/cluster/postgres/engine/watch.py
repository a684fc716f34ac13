"""The thread that listens for other nodes' commits. A notice is a hint: the log is also read every second."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import psycopg
import trio

from extras.cluster.postgres.engine.connection import ThreadConnection
from extras.cluster.postgres.engine.writer import CHANNEL, PostgresWriter
from storage.errors import Unavailable

EVERY = 1.0
"""Seconds between two attempts to listen, and between checks whether the thread should end."""
CLOSE_WITHIN = 5.0
"""Seconds that the thread gets at a close."""
APART, AT_REST = 0.02, 0.25
"""Least seconds between two reads while somebody waits for events, and while nobody does: reading after each of some
hundred commits would slow them down."""


class Watch:
    """See above. hear: called on the loop when other nodes may have committed. awaited: whether somebody waits for
    events here.
    """

    def __init__(
        self,
        line: ThreadConnection,
        writers: Sequence[PostgresWriter],
        hear: Callable[[], None],
        awaited: Callable[[], bool],
    ) -> None:
        self._line, self._writers, self._hear, self._awaited = line, writers, hear, awaited
        self._token = trio.lowlevel.current_trio_token()
        self._ends, self._stopped = threading.Event(), trio.Event()
        self._thread = threading.Thread(target=self._run, name="postgres-watch", daemon=True)

    def __repr__(self) -> str:
        return f"Watch({self._line})"

    def start(self) -> None:
        self._thread.start()

    async def aclose(self) -> None:
        """Stop the thread and wait for its end, within CLOSE_WITHIN even if cancelled."""
        self._ends.set()
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            while not self._stopped.is_set():
                if (connection := self._line.connection) is not None:
                    connection.cut()
                with trio.move_on_after(APART):  # the thread may still be connecting
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
            self._ends.wait(APART if self._awaited() else AT_REST)
        self._line.drop()
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._stopped.set)
