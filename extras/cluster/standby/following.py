"""The standby's copy in its data folder, and the follower, which brings it up to date with the replica step by step.

standby/<chain>.db       the database; only `standby.json` decides which one counts
standby/change           the change being applied: applying it twice is harmless
standby/standby.json     the progress

After a crash at any point the copy opens to a committed state.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from extras.cluster.replica.folder import Objects, ObjectsAway
from extras.cluster.replica.log import put_into
from extras.cluster.replica.parts import (
    CURRENT,
    PART,
    BadPart,
    Current,
    ReadChange,
    change_name,
    copy_name,
    key_that_made,
    read_change,
    read_current,
    read_part,
    read_whole,
    start_of,
    whole_name,
)
from sanderling.data_folder import STANDBY
from sanderling.exits import CommandFailed, Exit
from storage.errors import StorageError
from storage.records.identity import Millis
from storage.sqlite.engine.migrations import STEPS
from storage.sqlite.ownership import sync
from storage.sqlite.upkeep.copying import examine

_STATE = "standby.json"
_CHANGE = "change"
_NEW = ".new"
EMPTY = "nothing is there yet: does the service run that is to put it there (its setting `replica`)?"


class Applied(Struct, frozen=True):
    """A copy's chain, and number (0: none), hash and time of its newest change. vouched: every part had a valid MAC."""

    chain: str
    change: int
    hash: bytes
    at: Millis
    vouched: bool = False


class StandbyCopy:
    """The copy. keys: one of them made the replica. One process at a time; calls are slow and raise OSError."""

    def __init__(self, data: Path, keys: Sequence[bytes]) -> None:
        self.keys = keys
        self._folder = data / STANDBY
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.applied = self._read()

    def __repr__(self) -> str:
        return f"<StandbyCopy {self.applied}>"

    @property
    def database(self) -> Path:
        """The database file. Only after something was applied."""
        assert self.applied is not None
        return self._folder / f"{self.applied.chain}.db"

    def put_part(self, chain: str, number: int, body: bytes) -> None:
        path = self._folder / f"{chain}.db"
        fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.pwrite(fd, body, number * PART)
        finally:
            os.close(fd)

    def begin(self, chain: str, size: int, at: Millis) -> None:
        """Check a chain's complete initial copy and switch to it. Raises StorageError."""
        path = self._folder / f"{chain}.db"
        with path.open("r+b") as database:
            database.truncate(size)
            os.fsync(database.fileno())
        examine(path)
        self._note(Applied(chain, 0, start_of(chain), at, vouched=True))
        for other in self._folder.glob("*.db"):
            if other != path:
                other.unlink()

    def put(self, found: ReadChange, body: bytes) -> None:
        self._write(_CHANGE, body)
        self._put(found)

    def delete(self) -> None:
        """Delete everything; the database was moved away before."""
        shutil.rmtree(self._folder)

    def _put(self, found: ReadChange) -> None:
        assert self.applied is not None
        with self.database.open("r+b") as database:
            put_into(database, found.change.pages, found.change.size)
            database.flush()
            os.fsync(database.fileno())
        self._note(replace(self.applied, change=self.applied.change + 1, hash=found.hash, at=found.at))

    def _read(self) -> Applied | None:
        """Return the progress after finishing an interrupted change."""
        try:
            self.applied = msgspec.json.decode((self._folder / _STATE).read_bytes(), type=Applied)
        except FileNotFoundError:
            return None
        if not self.applied.vouched:
            return None
        try:
            body = (self._folder / _CHANGE).read_bytes()
        except FileNotFoundError:
            return self.applied
        name = change_name(self.applied.chain, self.applied.change + 1)
        for key in self.keys:
            with suppress(BadPart):  # it belongs to an earlier change or another chain
                self._put(read_change(body, self.applied.hash, name, key))
                break
        return self.applied

    def _note(self, applied: Applied) -> None:
        self._write(_STATE, msgspec.json.encode(applied))
        self.applied = applied

    def _write(self, name: str, body: bytes) -> None:
        new = self._folder / (name + _NEW)
        with new.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / name)
        sync(self._folder)


class FollowStatus(NamedTuple):
    """at: the copy has all commits up to then, None without one. says: why it is not up to date, "" if it is."""

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

    async def step(self) -> FollowStatus:
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

    def _standing(self, current: Current | None, says: str) -> FollowStatus:
        applied = self._copy.applied
        if applied is None:
            return FollowStatus("", 0, None, says or EMPTY)
        at = applied.at
        if current is not None and current.chain == applied.chain:
            if applied.change < current.change:
                says = f"change {applied.change + 1} of {applied.chain} is missing, of {current.change}"
            else:
                at = max(at, current.at)
        return FollowStatus(applied.chain, applied.change, at, says)

    async def _begin(self, chain: str, key: bytes) -> None:
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
