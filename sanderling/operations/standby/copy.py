"""The standby's copy in its data folder. After a crash at any point it opens to a committed state.

standby/<chain>.db       the database; only `standby.json` decides which one counts
standby/change           the change being applied: applying it twice is harmless
standby/standby.json     the progress
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.replica.parts import PART, BadPart, ReadChange, change_name, read_change, start_of
from storage.records.identity import Millis
from storage.sqlite.engine.frames import put_into
from storage.sqlite.upkeep.copying import examine

FOLDER = "standby"
_STATE = "standby.json"
_CHANGE = "change"
_NEW = ".new"


class Applied(Struct, frozen=True):
    """A copy's progress: its chain, and number (0: none yet), hash and time of its newest change.

    vouched: every part carried a valid MAC; earlier versions wrote none.
    """

    chain: str
    change: int
    hash: bytes
    at: Millis
    vouched: bool = False


class StandbyCopy:
    """The copy. keys: one of them made the replica. One process at a time; calls are slow and raise OSError."""

    def __init__(self, data: Path, keys: Sequence[bytes]) -> None:
        self.keys = keys
        self._folder = data / FOLDER
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
        """Write a part of a chain's initial copy; the previous copy still counts."""
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
        """Apply the next change. body: its object."""
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
        fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
