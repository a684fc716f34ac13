"""The standby's copy in its data folder. Whenever the machine stops, it opens to a state that was committed.

standby/<chain>.db       the database; only `standby.json` says which one counts
standby/change           the change that is being put into it: putting it twice does no harm
standby/standby.json     how far it is
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
    """How far a copy is: its chain, the number of its newest change (0: none yet), that one's hash and time.

    vouched: all of it carried MACs that hold; earlier versions wrote none.
    """

    chain: str
    change: int
    hash: bytes
    at: Millis
    vouched: bool = False


class StandbyCopy:
    """See above. keys: one of them made the replica. One process at a time; each call is slow, and raises OSError."""

    def __init__(self, data: Path, keys: Sequence[bytes]) -> None:
        self.keys = keys
        self._folder = data / FOLDER
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.applied = self._read()

    def __repr__(self) -> str:
        return f"<StandbyCopy {self.applied}>"

    @property
    def database(self) -> Path:
        """The database's file. Only once something is applied."""
        assert self.applied is not None
        return self._folder / f"{self.applied.chain}.db"

    def put_part(self, chain: str, number: int, body: bytes) -> None:
        """Put a part of the copy that a chain begins with; the copy of before still counts."""
        path = self._folder / f"{chain}.db"
        fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.pwrite(fd, body, number * PART)
        finally:
            os.close(fd)

    def begin(self, chain: str, size: int, at: Millis) -> None:
        """Check the copy of a chain, whose parts are all there, and let it count from now on. Raises StorageError."""
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
        """Put the next change; `body` is its object."""
        self._write(_CHANGE, body)
        self._put(found)

    def delete(self) -> None:
        """Delete all but the database that was moved away."""
        shutil.rmtree(self._folder)

    def _put(self, found: ReadChange) -> None:
        assert self.applied is not None
        with self.database.open("r+b") as database:
            put_into(database, found.change.pages, found.change.size)
            database.flush()
            os.fsync(database.fileno())
        self._note(replace(self.applied, change=self.applied.change + 1, hash=found.hash, at=found.at))

    def _read(self) -> Applied | None:
        """Return how far the copy is, after finishing what was cut off."""
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
            with suppress(BadPart):  # it is the change of before, or of another chain
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
