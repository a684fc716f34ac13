"""Passwords by argon2id (libsodium), one at a time in a thread: each takes 0.1 s and 64 MiB."""

from __future__ import annotations

import trio
from nacl import exceptions
from nacl.pwhash import argon2id


class Argon2:
    """The World's `passwords`, by default with libsodium's parameters for interactive use."""

    def __init__(
        self, opslimit: int = argon2id.OPSLIMIT_INTERACTIVE, memlimit: int = argon2id.MEMLIMIT_INTERACTIVE
    ) -> None:
        self._ops, self._memory = opslimit, memlimit
        self._one = trio.CapacityLimiter(1)

    async def hash(self, password: str) -> str:
        """Return algorithm, parameters, salt and hash as one string."""

        def work() -> str:
            return argon2id.str(password.encode(), opslimit=self._ops, memlimit=self._memory).decode()

        return await trio.to_thread.run_sync(work, limiter=self._one)

    async def fits(self, password: str, hashed: str) -> bool:
        def work() -> bool:
            try:
                return argon2id.verify(hashed.encode(), password.encode())
            except exceptions.InvalidkeyError:
                return False

        return await trio.to_thread.run_sync(work, limiter=self._one)
