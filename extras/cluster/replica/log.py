"""The write-ahead log of SQLite, read by the shipper while the writer runs and before it is emptied.

The formats are SQLite's. The log (sqlite.org/fileformat2.html, section 4) is a header of 32 bytes, then frames of 24
bytes and a page. The wal-index (sqlite.org/walformat.html, section 2.1) has the number of committed frames twice, with
a checksum. Unfinished or rolled back frames come after those and are not read.

During shipping SQLite makes no checkpoints. The writer makes one when the log is large and the shipper has read nearly
all of it: the writer reads the rest, keeps that for the shipper, and empties the log, with no commit in between. A
shipper that is too far behind loses its chain, so that the disk does not fill up: see `MOST`.

Objects: named bytes in a place outside the data folder that another machine can read. Here the place is a folder, on
another disk or on a mounted one. A name has parts of lower-case letters, digits and hyphens, between slashes.
"""

from __future__ import annotations

import os
import re
import sqlite3
import struct
import sys
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO, Final, NamedTuple, TypeVar

import trio

from storage.errors import ChainBroken
from storage.sqlite.engine import emptied
from storage.sqlite.ownership import sync

HEADER, FRAME = 32, 24
INDEX = 48  # size of the wal-index's header in bytes; it is stored twice
AT_ONCE = 4 << 20  # bytes of log after which a read ends at the next commit
_VERSION = 3007000
_INDEX = struct.Struct("=I8xB1xHI12x8s")
_FRAME = struct.Struct(">II8s")
_FRAMES = 64  # read at once: calls for each would hold up the writer, which shares the interpreter
_ORDER = "<" if sys.byteorder == "little" else ">"


class Restarted(Exception):
    """The log started over after the position: the changes in between are lost, so a new copy is needed."""


class Index(NamedTuple):
    """The committed log: its salt, number of frames, and page size in bytes."""

    salt: bytes
    frames: int
    page_size: int

    @property
    def end(self) -> int:
        """The offset after the last committed frame."""
        return HEADER + self.frames * (FRAME + self.page_size)


class Position(NamedTuple):
    """The end of a committed transaction in one log: the log's salt, and the offset in bytes."""

    salt: bytes
    offset: int


class CommittedPages(NamedTuple):
    """pages: the newest of each, by number from 1. size: in pages, 0 without commits. position: after them."""

    pages: Mapping[int, bytes]
    size: int
    position: Position


def read_index(raw: bytes) -> Index | None:
    """Parse the start of a wal-index; None while it is being written. Raises ValueError."""
    one, two = raw[:INDEX], raw[INDEX : 2 * INDEX]
    if len(two) < INDEX or one != two or _sums(one[:40]) != struct.unpack("=II", one[40:]):
        return None
    version, ready, page_size, frames, salt = _INDEX.unpack(one[:40])
    if version != _VERSION:
        raise ValueError(f"this wal-index is of version {version}, not of {_VERSION}")
    return Index(salt, frames, page_size if page_size > 1 else 1 << 16) if ready else None


def beginning(index: Index) -> Position | None:
    return Position(index.salt, HEADER) if index.frames else None


def committed(wal: IO[bytes], after: Position, index: Index) -> CommittedPages:
    """Return the whole transactions after a position, up to the end in the index. Raises Restarted."""
    if index.salt != after.salt:
        raise Restarted
    step = FRAME + index.page_size
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    size, position, offset = 0, after, after.offset
    wal.seek(offset)
    block, start = b"", offset
    while offset < index.end and position.offset - after.offset < AT_ONCE:
        if offset == start + len(block):
            block, start = wal.read(min(_FRAMES * step, index.end - offset)), offset
        at = offset - start
        if len(block) < at + step:  # cut during the read: the log started over
            raise Restarted
        number, whole, salt = _FRAME.unpack_from(block, at)
        if salt != after.salt:  # overwritten during the read
            raise Restarted
        offset += step
        pending[number] = block[at + FRAME : at + step]
        if whole:
            pages.update(pending)
            pending.clear()
            size, position = whole, Position(after.salt, offset)
    return CommittedPages(pages, size, position)


def put_into(database: IO[bytes], pages: Mapping[int, bytes], size: int) -> None:
    """Apply whole transactions to a copy of the database, which then has `size` pages. Raises OSError."""
    if not size:
        return
    page_size = len(next(iter(pages.values())))
    for number, page in sorted(pages.items()):
        database.seek((number - 1) * page_size)
        database.write(page)
    database.truncate(size * page_size)


def _sums(words: bytes) -> tuple[int, int]:
    """Return SQLite's checksum of an index's words, in this machine's byte order."""
    one = other = 0
    for first, second in struct.iter_unpack(f"{_ORDER}II", words):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other


TURN_AT = 4 << 20  # the writer tries to empty a log of this many bytes, like SQLite's own checkpoint
REST = 512 << 10  # most bytes that the writer reads itself, while the log is below LARGE
LARGE = 16 * TURN_AT
MOST = 256 << 20  # a log of more bytes ends the chain
_AUTO = "PRAGMA wal_autocheckpoint={}"
_PAGES = 1000
_NOTHING = CommittedPages({}, 0, Position(b"", 0))


class ShippedLog:
    """See above."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._lock = Lock()
        self._on = self._wanted = self._copying = self._ours = False
        self._position: Position | None = None  # None: the log was empty, the next frame is its first
        self._turned: Position | None = None
        self._rest: deque[CommittedPages | None] = deque()
        self._index: int | None = None
        self.broken = ""

    def __repr__(self) -> str:
        state = self.broken or ("copying" if self._copying else "on" if self._on else "off")
        return f"<ShippedLog {self._log}: {state}>"

    # --- the shipper's side, on its own thread -----------------------------------------------------------------------

    def want(self) -> None:
        """Ask for a new chain, to begin after the next commit; do nothing if one is beginning."""
        with self._lock:
            if self.broken:
                self.broken = ""
            self._wanted = None not in self._rest

    def read(self) -> CommittedPages | None:
        """Return the next transactions; size 0 if all is read, None where a new chain begins. Raises ChainBroken."""
        with self._lock:
            if self.broken:
                raise ChainBroken(self.broken)
            if self._rest:
                return self._rest.popleft()
            return self._read() if self._on else _NOTHING

    def copied(self) -> None:
        """Let the log be emptied into the database again. Raises ChainBroken if that happened during the copy."""
        with self._lock:
            if not self._copying:
                raise ChainBroken(self.broken or "the chain ended before its copy was whole")
            self._copying = False

    def end(self) -> None:
        """Leave the log to SQLite, from the next commit on."""
        with self._lock:
            self._off()

    def close(self) -> None:
        """Close the index, after SQLite's connections are closed."""
        if self._index is not None:
            os.close(self._index)
            self._index = None

    def unread(self) -> int:
        """Return approximately how many bytes of the log are unread."""
        kept = sum(sum(map(len, found.pages.values())) for found in tuple(self._rest) if found is not None)
        if not self._on:
            return kept
        position = self._position
        return kept + max(0, self._size() - (0 if position is None else position.offset))

    # --- the writer's side -------------------------------------------------------------------------------------------

    def after_commit(self, connection: sqlite3.Connection, size: int) -> bool:
        """Empty a log of this size if necessary; return False if it is left to SQLite. Raises sqlite3.Error."""
        if not (self._on or self._wanted):
            if self._ours:
                connection.execute(_AUTO.format(_PAGES)).fetchone()
                self._ours = False
            return False
        if not self._ours:
            connection.execute(_AUTO.format(0)).fetchone()
            self._ours = True
        if self._on and size > MOST and self._lock.acquire(timeout=1):
            with _releasing(self._lock):
                self._give_up(f"the log grew past {MOST >> 20} MB before it could be shipped")
            return self.after_commit(connection, 0)
        if self._wanted or (size >= TURN_AT and not self._copying):
            self._turn(connection, size)
        return True

    def _turn(self, connection: sqlite3.Connection, size: int) -> None:
        if not self._lock.acquire(blocking=False):  # the shipper is reading: the next commit tries again
            return
        with _releasing(self._lock):
            if self._on:
                behind = size - (0 if self._position is None else self._position.offset)
                if self._rest or behind > (REST if size < LARGE else LARGE):
                    return
                while (found := self._read()).size:
                    self._rest.append(found)
                self._turned = self._position
            if not emptied(connection):
                return
            self._position = self._turned = None
            if self._wanted:
                self._on, self._copying, self._wanted = True, True, False
                self._rest.append(None)

    # --- with the lock held ------------------------------------------------------------------------------------------

    def _read(self) -> CommittedPages:
        index = self._committed()
        if index is None:
            return _NOTHING
        try:
            with self._log.open("rb") as log:
                return self._found(log, index)
        except FileNotFoundError:
            return _NOTHING

    def _committed(self) -> Index | None:
        """Return the committed index. Its file stays open: closing it would release SQLite's locks on it (POSIX)."""
        if self._index is None:
            try:
                self._index = os.open(self._log.with_name(self._log.name[:-3] + "shm"), os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
        return read_index(os.pread(self._index, 2 * INDEX, 0))

    def _found(self, log: IO[bytes], index: Index) -> CommittedPages:
        position = self._position or beginning(index)
        if position is None:
            return _NOTHING
        try:
            found = committed(log, position, index)
        except Restarted:
            if self._position is None or self._position != self._turned:
                self._give_up("another program emptied the log")
                raise ChainBroken(self.broken) from None
            self._position = self._turned = None
            return self._found(log, index)
        self._position = found.position
        return found

    def _give_up(self, why: str) -> None:
        self._off()
        self.broken = why

    def _off(self) -> None:
        self._on = self._wanted = self._copying = False
        self._position = self._turned = None
        self._rest.clear()
        self.broken = ""

    def _size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0


@contextmanager
def _releasing(lock: Lock) -> Iterator[None]:
    try:
        yield
    finally:
        lock.release()


NAME: Final = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")


class ObjectsAway(Exception):
    """The place cannot be reached or written, or does not answer in time. The message has the reason."""


class Objects(trio.abc.AsyncResource):
    """Four operations. An object exists whole or not at all, and a put is durable. Each raises ObjectsAway. every:
    least seconds between two requests to this place; some places charge for each.
    """

    every: float

    @abstractmethod
    async def put(self, name: str, body: bytes) -> None:
        """Put an object, replacing any with this name."""

    @abstractmethod
    async def get(self, name: str) -> bytes | None:
        """Return an object, None when there is none."""

    @abstractmethod
    async def names(self) -> Sequence[str]:
        """Return the names of all objects, sorted."""

    @abstractmethod
    async def delete(self, name: str) -> None:
        """Delete an object if it exists."""

    async def aclose(self) -> None:
        """Close open resources."""


T = TypeVar("T")
WITHIN = 30.0  # seconds after which a mounted folder without an answer counts as away; its thread keeps waiting
_UNFINISHED = ".unfinished"


class FolderObjects(Objects):
    """The folder must exist, so that an unmounted disk is not mistaken for an empty one."""

    every = 0.5

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._limiter = trio.CapacityLimiter(4)

    def __repr__(self) -> str:
        return f"<FolderObjects {self._folder}>"

    async def put(self, name: str, body: bytes) -> None:
        await self._tried(lambda: self._put(self._path(name), body))

    async def get(self, name: str) -> bytes | None:
        return await self._tried(lambda: self._get(self._path(name)))

    async def names(self) -> Sequence[str]:
        return await self._tried(self._names)

    async def delete(self, name: str) -> None:
        await self._tried(lambda: self._delete(self._path(name)))

    def _path(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of an object")
        return self._folder / name

    async def _tried(self, what: Callable[[], T]) -> T:
        try:
            with trio.fail_after(WITHIN):
                return await trio.to_thread.run_sync(what, abandon_on_cancel=True, limiter=self._limiter)
        except OSError as error:
            raise ObjectsAway(f"{self._folder}: {error.strerror or error}") from None
        except trio.TooSlowError:
            raise ObjectsAway(f"{self._folder}: did not answer for {WITHIN:.0f} s") from None

    def _put(self, path: Path, body: bytes) -> None:
        self._made(path.parent)
        unfinished = path.with_name(path.name + _UNFINISHED)
        fd = os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(fd)
        unfinished.replace(path)
        sync(path.parent)

    def _made(self, folder: Path) -> None:
        if folder == self._folder:
            if not folder.is_dir():
                raise FileNotFoundError(2, "this folder does not exist; make it, or mount its disk")
            return
        if not folder.is_dir():
            self._made(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
            sync(folder.parent)

    def _get(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            if not self._folder.is_dir():
                raise FileNotFoundError(2, "this folder does not exist; make it, or mount its disk") from None
            return None

    def _names(self) -> Sequence[str]:
        found = (path for path in self._folder.rglob("*") if path.is_file() and path.suffix != _UNFINISHED)
        return sorted(path.relative_to(self._folder).as_posix() for path in found)

    def _delete(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        for parent in path.parents:
            if parent == self._folder:
                break
            try:
                parent.rmdir()
            except OSError:  # not empty
                break
