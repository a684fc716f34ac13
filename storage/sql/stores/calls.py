"""Idempotent calls in SQL."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from storage.records.access import KeptCall
from storage.records.identity import Millis
from storage.sql.writing import Store, Transaction, in_transaction, write_one

_FIND = "SELECT key, fingerprint, at, id, answer, node FROM call WHERE key=?"
_PUT = """INSERT INTO call(key, fingerprint, at, id, answer, node) VALUES(?,?,?,?,?,?) ON CONFLICT(key) DO UPDATE SET
    fingerprint=excluded.fingerprint, at=excluded.at, id=excluded.id, answer=excluded.answer, node=excluded.node
    WHERE call.at<?"""
_TAKE_UP = "UPDATE call SET node=? WHERE key=? AND node=? AND answer IS NULL"
_TOO_MANY = "SELECT at FROM call ORDER BY at DESC LIMIT 1 OFFSET ?"


class Calls(Store):
    """Calls with an Idempotency-Key."""

    @in_transaction()
    def begin(self, transaction: Transaction, call: KeptCall, since: Millis, running: Collection[str] = ()) -> KeptCall:
        """Store a call unless one began since `since`; return the stored one, `call.node`'s if no member runs it."""
        # Written before it is read: of two that begin at once, on two nodes, one finds the other's.
        new = (call.key, call.fingerprint, call.at, call.id, call.answer, call.node, since)
        if transaction.execute(_PUT, new).rowcount:
            return call
        found = KeptCall(*transaction.execute(_FIND, (call.key,)).fetchone())
        if found.answer is not None or found.fingerprint != call.fingerprint or found.node in running:
            return found
        taken = transaction.execute(_TAKE_UP, (call.node, call.key, found.node)).rowcount
        return replace(found, node=call.node) if taken else found

    async def finish(self, key: str, answer: bytes) -> None:
        await write_one(self._writer, "UPDATE call SET answer=? WHERE key=?", answer, key)

    async def release(self, key: str) -> None:
        """Let any node run a call again under its id, because the run ended without a response."""
        await write_one(self._writer, "UPDATE call SET node='' WHERE key=? AND answer IS NULL", key)

    async def forget(self, key: str) -> None:
        await write_one(self._writer, "DELETE FROM call WHERE key=?", key)

    @in_transaction(rows=lambda _before, _most, limit: limit)
    def sweep(self, transaction: Transaction, before: Millis, most: int, limit: int) -> int:
        """Delete up to `limit` calls that began before `before` or are not the newest `most`; return how many."""
        spare = transaction.execute(_TOO_MANY, (most,)).fetchone()
        end = before if spare is None else max(before, spare[0] + 1)
        doomed = "DELETE FROM call WHERE key IN (SELECT key FROM call WHERE at<? ORDER BY at LIMIT ?)"
        return transaction.execute(doomed, (end, limit)).rowcount
