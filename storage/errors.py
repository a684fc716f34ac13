"""Errors of storage, sorted by the catcher's options."""

from __future__ import annotations

from pathlib import Path

from storage.records.identity import Seq, SourceId
from storage.records.source import Source


class StorageError(Exception):
    """The base of all errors below."""


class Duplicate(StorageError):
    """The URL is already watched: use `existing`."""

    def __init__(self, existing: Source) -> None:
        super().__init__(f"already watched as {existing.id}: {existing.url}")
        self.existing = existing


class Fenced(StorageError):
    """A newer start of the service owns the data now: stop at once, write nothing more."""


class CursorMoved(StorageError):
    """A durable cursor is not where its owner expected it: read it again."""


class StateMoved(StorageError):
    """A source's stored state is not the one that the writer began with: nothing was written, read it again."""

    def __init__(self, source: SourceId) -> None:
        super().__init__(f"the stored state of {source} is another by now")


class AlertsMoved(StorageError):
    """Alerts or destinations have changed: read them again. revision: now. at: the newest event when it last rose."""

    def __init__(self, revision: int, at: Seq) -> None:
        super().__init__(f"the alerts are of revision {revision} by now")
        self.revision, self.at = revision, at


class DestinationMoved(StorageError):
    """A destination is not as its sender knows it: nothing was claimed, read it again."""


class DiskFull(StorageError):
    """The disk is full: wait, free space, and retry. Nothing was written."""


class Unavailable(StorageError):
    """The engine does not respond now (closed, busy): retry later. The write may or may not have happened."""


class Corrupt(StorageError):
    """The data are damaged: fail closed and name the restore command."""


class Unopened(Corrupt):
    """A sealed secret cannot be opened: it was altered, or moved to another row."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"the sealed secret of {kind} {name} does not open: it was altered, or moved from another row")


STANDSTILL = (DiskFull, Unavailable, Corrupt)
"""Errors that an actor waits out instead of crashing: a restart would hit the same error."""


class ChainBroken(StorageError):
    """The chain of changes has a gap: a copy elsewhere must start again. The message has the reason."""


class NoKey(StorageError):
    """The secrets are sealed with a master key that was not given: name it (exit code 64). Nothing was opened."""


class NewerSchema(StorageError):
    """A newer version wrote the data: upgrade the program (exit code 78)."""


class Exposed(StorageError):
    """Others may read or change `path`, and we may not change its mode (exit code 78)."""

    def __init__(self, path: Path, mode: int) -> None:
        super().__init__(f"{path} is open to others (mode {mode:04o})")
        self.path = path


class Locked(StorageError):
    """Another process serves from this folder (exit code 78)."""
