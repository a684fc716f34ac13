"""Follow a replica: each step brings the copy up to date with it, and reports how far that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import trio

from actors.replica.parts import (
    CURRENT,
    BadPart,
    Current,
    change_name,
    copy_name,
    key_that_made,
    read_change,
    read_current,
    read_part,
    read_whole,
    whole_name,
)
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.standby.copy import StandbyCopy
from storage.errors import StorageError
from storage.objects import Objects, ObjectsAway
from storage.records.identity import Millis
from storage.sqlite.engine.migrations import STEPS

EMPTY = "nothing is there yet: does the service run that is to put it there (its setting `replica`)?"


class Standing(NamedTuple):
    """The result of a step. at: the copy includes all commits up to then, None without a copy.

    says: why it is not up to date; "" if it is.
    """

    chain: str
    change: int
    at: Millis | None
    says: str = ""


class Follower:
    """Brings a copy up to date with a replica."""

    def __init__(self, objects: Objects, copy: StandbyCopy) -> None:
        self._objects, self._copy = objects, copy
        self._limiter = trio.CapacityLimiter(1)
        self._damaged = ("", "")
        """The chain with a damaged copy, and the reason, so that it is fetched only once."""

    def __repr__(self) -> str:
        return f"<Follower of {self._objects}: {self._copy}>"

    async def step(self) -> Standing:
        """Bring the copy up to date. Raises CommandFailed, OSError (from the copy)."""
        try:
            body = await self._objects.get(CURRENT)
            if body is None:
                return self._standing(None, EMPTY)
            key = key_that_made(body, CURRENT, self._copy.keys)
            current = read_current(body, key)
            if self._copy.applied is None or self._copy.applied.chain != current.chain:
                await self._begin(current.chain, key)
            await self._follow(key)
        except (ObjectsAway, BadPart) as error:
            return self._standing(None, str(error))
        return self._standing(current, "")

    def _standing(self, current: Current | None, says: str) -> Standing:
        applied = self._copy.applied
        if applied is None:
            return Standing("", 0, None, says or EMPTY)
        at = applied.at
        if current is not None and current.chain == applied.chain:
            if applied.change < current.change:
                says = f"change {applied.change + 1} of {applied.chain} is missing, of {current.change}"
            else:
                at = max(at, current.at)
        return Standing(applied.chain, applied.change, at, says)

    async def _begin(self, chain: str, key: bytes) -> None:
        """Fetch and check a chain's initial copy."""
        if self._damaged[0] == chain:
            raise BadPart(self._damaged[1])
        body = await self._objects.get(whole_name(chain))
        if body is None:
            raise BadPart(f"{whole_name(chain)}: is missing")
        whole = read_whole(body, whole_name(chain), key)
        if whole.schema > len(STEPS):
            raise CommandFailed(
                f"The service there is newer than this program (version {whole.version}, schema {whole.schema}; this "
                f"one knows {len(STEPS)}): upgrade this machine first.",
                Exit.BAD_DATA,
            )
        for number, hash in enumerate(whole.parts):
            name = copy_name(chain, number)
            part = await self._objects.get(name)
            if part is None:
                raise BadPart(f"{name}: is missing")
            await self._run(self._put_part, chain, number, part, hash)
        try:
            await self._run(self._copy.begin, chain, whole.size, whole.at)
        except StorageError as error:
            self._damaged = chain, f"{chain}: {error}: the next start of the service mends it"
            raise BadPart(self._damaged[1]) from None

    def _put_part(self, chain: str, number: int, part: bytes, hash: str) -> None:
        self._copy.put_part(chain, number, read_part(part, hash, copy_name(chain, number)))

    async def _follow(self, key: bytes) -> None:
        """Apply all available changes."""
        while (applied := self._copy.applied) is not None:
            name = change_name(applied.chain, applied.change + 1)
            body = await self._objects.get(name)
            if body is None:
                return
            await self._run(self._put_change, body, applied.hash, name, key)

    def _put_change(self, body: bytes, before: bytes, name: str, key: bytes) -> None:
        self._copy.put(read_change(body, before, name, key), body)

    async def _run(self, what: Callable[..., object], *args: object) -> None:
        await trio.to_thread.run_sync(what, *args, limiter=self._limiter)
