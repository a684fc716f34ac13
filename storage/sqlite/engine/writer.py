"""The only writer of SQLite: a thread with one connection for its whole life.

If a job fails after it has written, or the commit fails, the transaction is rolled back and each of its jobs runs again
in its own transaction. The rest is in `storage/sql/writing.py`.
"""

from __future__ import annotations

import queue
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from storage.errors import Unavailable
from storage.records.identity import START, Seq
from storage.secrets.vault import Vault
from storage.sql.transaction import Transaction
from storage.sql.writing import Ticket, WritingThread
from storage.sqlite.engine.connection import in_our_words
from storage.sqlite.engine.folder import HeadMark
from storage.sqlite.engine.wal import Wal


class WriterThread(WritingThread):
    """See WritingThread. Also writes the newest position to the head mark from time to time."""

    def __init__(
        self, mark: HeadMark, wal: Wal, clock: Callable[[], float], warn: Callable[[str], None], vault: Vault
    ) -> None:
        super().__init__(warn)
        self._mark, self._wal, self._clock, self._vault = mark, wal, clock, vault
        self._head = START
        self._marked_at = 0.0

    def start(self, connection: sqlite3.Connection, head: Seq) -> None:
        """Start the thread, which owns the connection from now on. `head` is the newest position in the log."""
        self._connection, self._head = connection, head
        self.begin("sqlite-writer")

    # --- on the thread -----------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        # The commits hold; the next one will report a failing disk.
        self._guarded(lambda: self._wal.after_commit(self._connection))
        self._guarded(self._write_mark_if_due)

    def _finish(self) -> None:
        for last in (self._write_mark, self._mark.close, self._connection.close):
            with suppress(Exception):  # all commits hold; one that fails must not keep the others from closing
                last()

    def _expected(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.Error)

    def _write_mark_if_due(self) -> None:
        if abs(self._clock() - self._marked_at) >= 1:
            self._write_mark()

    def _wait(self) -> Ticket[Any] | None:
        if self._head > self._mark.written:
            try:
                return self._queue.get(timeout=1.0)
            except queue.Empty:
                self._write_mark()
        return self._queue.get()

    def _commit(self, tickets: Sequence[Ticket[Any]]) -> None:
        if not tickets:
            return
        try:
            head = self._attempt(tickets)
        except Exception as error:
            if self._connection.in_transaction:  # SQLite rolls back by itself after a full disk
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            # After an I/O error it is unknown what reached the disk, so no job is retried.
            if len(tickets) > 1 and not isinstance(in_our_words(error), Unavailable):
                for ticket in tickets:
                    ticket.error = None
                    self._commit([ticket])
                return
            for ticket in tickets:
                ticket.error = in_our_words(error)  # one exception per ticket, since each gets its own traceback
                if ticket.error is not error:
                    ticket.error.__cause__ = error
        else:
            self._head = max(self._head, head)

    def _attempt(self, tickets: Sequence[Ticket[Any]]) -> Seq:
        """Commit jobs; return the newest position, 0 for none. Raises what spoils the transaction."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        transaction = Transaction(connection, self._vault)
        for ticket in tickets:
            before = connection.total_changes
            try:
                ticket.result = ticket.job(transaction)
            except sqlite3.Error:
                raise
            except Exception as error:
                if connection.total_changes != before:
                    raise
                ticket.error = error
        known = False
        try:
            connection.execute("COMMIT")
            known = True
        finally:
            for callback in transaction.afterwards:
                self._call_soon(callback, known)
        return transaction.newest

    def _write_mark(self) -> None:
        if self._head <= self._mark.written:
            return
        self._marked_at = self._clock()
        try:
            self._mark.write(self._head)
        except OSError as error:
            self._call_soon(self._warn, f"the head mark could not be written: {error}")
