"""The storage engine from the settings: SQLite in the data folder, or PostgreSQL at `storage_url`.

psycopg is imported only for PostgreSQL: it needs libpq, which many machines lack.
"""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import trio

from actors.settings import Settings
from extras.cluster.postgres.address import Address, BadAddress, read_address
from extras.cluster.postgres.server import SharedClock
from sanderling.data_folder import named_vault, told_plainly, working_in
from sanderling.environment import environ, machine
from sanderling.exits import CommandFailed, Exit
from storage.errors import Corrupt, DiskFull, Locked, NewerSchema, NoKey, Unavailable
from storage.secrets.vault import Vault
from storage.sql.storage import Storage
from storage.sql.stores.keys import CommandKeys
from storage.sqlite.database import open_keys, open_sqlite
from storage.sqlite.engine.folder import prepare
from storage.sqlite.ownership import as_root

_REDIRECTING = ("PGSERVICE", "PGSERVICEFILE")
"""libpq variables that would redirect the connection; other variables are overridden on each connection."""
CLOSE_WITHIN = 30.0
NO_LIBRARY = "PostgreSQL's client library, libpq, is not on this machine"
INSTALL_IT = (
    "Install libpq5 (Debian, Ubuntu) or libpq (Fedora); beside a Sanderling from pip, "
    "`pip install 'sanderling[postgres]'` brings one."
)
NO_NAMED_KEY = (
    "Beside PostgreSQL the master key must be one that you name, since every node needs the same. Make one with "
    "`(umask 077; sanderling keys master > master.key)` and name it in SANDERLING_MASTER_KEY_FILE (docs/postgresql.md)."
)

BACKUPS = (
    "Back it up with PostgreSQL's own tools (pg_dump, base backups), and keep the file of the master key beside it, "
    "but not in the same place; `sanderling export` moves an instance."
)


def address_of(settings: Settings) -> Address | None:
    """Return PostgreSQL's address; None for SQLite. Raises CommandFailed."""
    url = _from_file(Path(settings.storage_url_file)) if settings.storage_url_file else settings.storage_url
    return _read(url, "storage_url_file" if settings.storage_url_file else "storage_url") if url else None


def listen_address_of(settings: Settings) -> Address | None:
    """Return the address to listen for notices at; None for the main one. Raises CommandFailed."""
    return _read(settings.listen_url, "listen_url") if settings.listen_url else None


@contextmanager
def _the_driver() -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise CommandFailed(f"{NO_LIBRARY}. {INSTALL_IT}", Exit.BAD_SETTING) from None


def place_of(settings: Settings) -> str:
    """Return the location of the data, safe to display."""
    address = address_of(settings)
    return settings.data if address is None else str(address)


def node_of(settings: Settings) -> str:
    return settings.node_name or machine()


async def open_storage(
    settings: Settings,
    *,
    clock: Callable[[], float],
    warn: Callable[[str], None],
    doing: Callable[[str], None] = lambda _says: None,
    named: Vault | None = None,
    shares: bool = True,
) -> Storage:
    """Open the chosen engine. Raises CommandFailed, StorageError, OSError.

    shares: other nodes may use the same PostgreSQL database.
    """
    address = address_of(settings)
    if address is None:
        return await open_sqlite(
            Path(settings.data), clock=clock, owner=f"pid {os.getpid()}", warn=warn, named=named, doing=doing
        )
    vault = _vault(named)
    prepare(Path(settings.data))  # for this node's admin socket
    with _the_driver():
        from extras.cluster.postgres.database import open_postgres
    listen = listen_address_of(settings)
    return await open_postgres(
        address.url,
        vault=vault,
        clock=clock,
        owner=node_of(settings),
        warn=warn,
        doing=doing,
        shares=shares,
        listen_url=None if listen is None else listen.url,
        shared=clock if isinstance(clock, SharedClock) else None,
    )


@asynccontextmanager
async def open_snapshot(settings: Settings) -> AsyncIterator[Storage]:
    """Open a read-only snapshot of PostgreSQL. Raises CommandFailed, StorageError."""
    address = address_of(settings)
    assert address is not None
    vault = _vault(named_vault(environ()))
    with _the_driver():
        from extras.cluster.postgres.commands import open_postgres_snapshot
    async with open_postgres_snapshot(address.url, vault) as storage:
        yield storage


@asynccontextmanager
async def importing(settings: Settings, clock: Callable[[], float]) -> AsyncIterator[Storage]:
    """Open an empty PostgreSQL database for an import. Services refuse it until the import ends well.

    Raises CommandFailed, StorageError.
    """
    with _the_driver():
        from extras.cluster.postgres.commands import NotEmpty, begin_import, end_import

    address = address_of(settings)
    assert address is not None
    vault = _vault(named_vault(environ()))
    try:
        await trio.to_thread.run_sync(begin_import, address.url, limiter=trio.CapacityLimiter(1))
    except NotEmpty as error:
        raise CommandFailed(
            f"{address}: this instance has {error.there} already, and an import of a whole one needs an empty one. "
            "Name another database.",
            Exit.BAD_DATA,
        ) from None
    except Locked as error:
        raise CommandFailed(f"{address} is in use: {error}.", Exit.BAD_DATA) from None
    storage = await open_storage(settings, clock=clock, warn=lambda _: None, named=vault, shares=False)
    try:
        yield storage
    finally:
        with trio.move_on_after(CLOSE_WITHIN, shield=True):
            await storage.aclose()
    await trio.to_thread.run_sync(end_import, address.url, limiter=trio.CapacityLimiter(1))


def refuse_half_a_database(settings: Settings) -> None:
    """Raise CommandFailed if an import into PostgreSQL was cut off, because the data are incomplete."""
    address = address_of(settings)
    if address is None:
        return
    with told(settings):
        with _the_driver():
            from extras.cluster.postgres.commands import is_half
        if is_half(address.url):
            says = "an import into it was cut off, and is not whole. Run it again (`sanderling import`)"
            raise CommandFailed(f"{address}: {says}, or name another database.", Exit.BAD_DATA)


@contextmanager
def opened_keys(settings: Settings, *, existing: bool = True) -> Iterator[CommandKeys]:
    """Open API keys and password for a command. Raises CommandFailed.

    existing: never create the data folder.
    """
    address = address_of(settings)
    if address is not None:
        vault = _vault(named_vault(environ()))
        with _the_driver():
            from extras.cluster.postgres.commands import open_postgres_keys
        with told(settings), open_postgres_keys(address.url, vault) as keys:
            yield keys
        return
    folder = Path(settings.data)
    if existing and not folder.is_dir():
        raise CommandFailed(f"{folder}: there is no such data folder; name the service's with --data.", Exit.BAD_DATA)
    with working_in(folder), open_keys(folder, named_vault(environ())) as keys:
        yield keys


@contextmanager
def told(settings: Settings) -> Iterator[None]:
    """Turn storage errors, and OSErrors about the data folder, into CommandFailed."""
    address = address_of(settings)
    with told_plainly(Path(settings.data)):
        if address is None:
            yield
        else:
            with _told_of(address):
                yield


@contextmanager
def _told_of(address: Address) -> Iterator[None]:
    try:
        yield
    except NoKey as error:
        raise CommandFailed(
            f"{address}: {error}. Name the file of the master key that this database was made with in "
            "SANDERLING_MASTER_KEY_FILE.",
            Exit.BAD_SETTING,
        ) from None
    except NewerSchema as error:
        says = f"{address} was written by a newer version: {error}. Upgrade Sanderling on this node."
        raise CommandFailed(says, Exit.BAD_DATA) from None
    except Corrupt as error:
        raise CommandFailed(f"{address}: {error}", Exit.BAD_DATA) from None
    except DiskFull as error:
        raise CommandFailed(f"{address}: {error}. Free some room there and try again.", Exit.TRY_AGAIN) from None
    except Unavailable as error:
        raise CommandFailed(f"{address}: {error}", Exit.TRY_AGAIN) from None


def refuse_postgres(settings: Settings, why: str) -> None:
    """Raise CommandFailed if PostgreSQL is chosen, for commands that work on SQLite's file."""
    address = address_of(settings)
    if address is not None:
        raise CommandFailed(f"The data are in {address}, and no file of ours. {why}", Exit.USAGE)


def _vault(named: Vault | None) -> Vault:
    if named is None:
        raise CommandFailed(NO_NAMED_KEY, Exit.BAD_SETTING)
    return named


def _read(url: str, setting: str) -> Address:
    for name in _REDIRECTING:
        if environ().get(name):
            raise CommandFailed(
                f"{name} is set: it would lead to another server than {setting} says. Unset it.", Exit.BAD_SETTING
            )
    try:
        return read_address(url, setting)
    except BadAddress as error:
        raise CommandFailed(f"{error}.", Exit.BAD_SETTING) from None


def _from_file(path: Path) -> str:
    try:
        with as_root():
            mode, text = path.stat().st_mode, path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise CommandFailed(f"storage_url_file: {path} cannot be read: {why}.", Exit.BAD_SETTING) from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise CommandFailed(
            f"storage_url_file: others may read {path} (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}",
            Exit.BAD_SETTING,
        )
    if not text:
        raise CommandFailed(f"storage_url_file: {path} is empty.", Exit.BAD_SETTING)
    return text
