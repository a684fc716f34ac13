"""The storage engine from the settings: SQLite in the data folder, or the one of an extra."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from pathlib import Path

from actors.extras import always_on
from actors.settings import Settings
from sanderling.data_folder import command_errors, named_vault, working_in
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from storage.secrets import Vault
from storage.sql.storage import Storage
from storage.sql.stores.people import CommandKeys
from storage.sqlite.database import open_keys, open_sqlite


class Engine:
    """SQLite in the data folder. place: the location of the data, safe to display. elsewhere: it is not the folder."""

    elsewhere = False

    def __init__(self, settings: Settings) -> None:
        self.settings, self.place = settings, settings.data

    def refuse(self, why: str) -> None:
        """Raise CommandFailed if the data are elsewhere, for commands that work on SQLite's file."""

    def refuse_half(self) -> None:
        """Raise CommandFailed if an import was cut off, because the data are incomplete."""

    async def open(
        self,
        *,
        clock: Callable[[], float],
        warn: Callable[[str], None],
        doing: Callable[[str], None] = lambda _says: None,
        named: Vault | None = None,
    ) -> Storage:
        """Open it. Raises CommandFailed, StorageError, OSError."""
        owner = f"pid {os.getpid()}"
        return await open_sqlite(Path(self.place), clock=clock, owner=owner, warn=warn, named=named, doing=doing)

    def keys(self, *, existing: bool = True) -> AbstractContextManager[CommandKeys]:
        """Open API keys and password for a command. Raises CommandFailed. existing: never create the data folder."""
        return _keys(Path(self.place), existing)

    def command_errors(self) -> AbstractContextManager[None]:
        return command_errors(Path(self.place))

    def snapshot(self) -> AbstractAsyncContextManager[Storage]:
        raise NotImplementedError

    def importing(self, clock: Callable[[], float]) -> AbstractAsyncContextManager[Storage]:
        """Open empty data elsewhere, refused by services until it ends well. Raises CommandFailed, StorageError."""
        raise NotImplementedError


@contextmanager
def _keys(folder: Path, existing: bool) -> Iterator[CommandKeys]:
    if existing and not folder.is_dir():
        raise CommandFailed(f"{folder}: there is no such data folder; name the service's with --data.", Exit.BAD_DATA)
    with working_in(folder), open_keys(folder, named_vault(environ())) as keys:
        yield keys


def engine_of(settings: Settings) -> Engine:
    """Raises CommandFailed."""
    return next(filter(None, (extra.engine(settings) for extra in always_on())), None) or Engine(settings)
