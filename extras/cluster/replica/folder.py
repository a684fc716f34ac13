"""Objects: named bytes in a place outside the data folder that another machine can read. Here the place is a folder, on
another disk or on a mounted one.

A name has parts of lower-case letters, digits and hyphens, between slashes.
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import trio

from storage.sqlite.ownership import sync

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
WITHIN = 30.0
"""Seconds after which a mounted folder without an answer counts as away; its thread keeps waiting."""
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
