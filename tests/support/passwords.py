from __future__ import annotations

import trio


class PlainPasswords:
    """Passwords without costly hashing and without threads."""

    async def hash(self, password: str) -> str:
        await trio.lowlevel.checkpoint()
        return f"hash of {password}"

    async def fits(self, password: str, hashed: str) -> bool:
        await trio.lowlevel.checkpoint()
        return hashed == f"hash of {password}"


class NoPasswords:
    """For worlds without sign-in: no password can be set, and none fits."""

    async def hash(self, password: str) -> str:
        raise RuntimeError("this world has no passwords")

    async def fits(self, password: str, hashed: str) -> bool:
        return False
