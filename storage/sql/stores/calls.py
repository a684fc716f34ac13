"""Calls that may be repeated, in SQL."""

from __future__ import annotations

from storage.append import Lease
from storage.records.identity import Millis
from storage.records.kept_call import KeptCall
from storage.sql.transaction import Transaction, Writer

_FIND = "SELECT key, fingerprint, at, id, answer FROM call WHERE key=? AND at>=?"
_PUT = """INSERT INTO call(key, fingerprint, at, id, answer) VALUES(?,?,?,?,?) ON CONFLICT(key) DO UPDATE SET
    fingerprint=excluded.fingerprint, at=excluded.at, id=excluded.id, answer=excluded.answer"""
_TOO_MANY = "SELECT at FROM call ORDER BY at DESC LIMIT 1 OFFSET ?"


class SqlCalls:
    """See `storage.interface.Calls`."""

    def __init__(self, writer: Writer, lease: Lease) -> None:
        self._writer, self._lease = writer, lease

    async def begin(self, call: KeptCall, since: Millis) -> KeptCall:
        """Note a call, or return the one that stands; see Calls."""

        def job(transaction: Transaction) -> KeptCall:
            transaction.fence(self._lease)
            row = transaction.execute(_FIND, (call.key, since)).fetchone()
            if row is not None:
                return KeptCall(*row)
            transaction.execute(_PUT, (call.key, call.fingerprint, call.at, call.id, call.answer))
            return call

        return await self._writer.submit(job)

    async def finish(self, key: str, answer: bytes) -> None:
        """Keep the answer of a call; see Calls."""
        await self._write("UPDATE call SET answer=? WHERE key=?", answer, key)

    async def forget(self, key: str) -> None:
        """Forget a call; see Calls."""
        await self._write("DELETE FROM call WHERE key=?", key)

    async def sweep(self, before: Millis, most: int, limit: int) -> int:
        """Delete what is too old or too much; see Calls."""

        def job(transaction: Transaction) -> int:
            transaction.fence(self._lease)
            spare = transaction.execute(_TOO_MANY, (most,)).fetchone()
            end = before if spare is None else max(before, spare[0] + 1)
            doomed = "DELETE FROM call WHERE key IN (SELECT key FROM call WHERE at<? ORDER BY at LIMIT ?)"
            return transaction.execute(doomed, (end, limit)).rowcount

        return await self._writer.submit(job, rows=limit)

    async def _write(self, statement: str, *parameters: object) -> None:
        def job(transaction: Transaction) -> None:
            transaction.fence(self._lease)
            transaction.execute(statement, parameters)

        await self._writer.submit(job)
