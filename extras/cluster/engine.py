"""PostgreSQL at `storage_url` as the storage of service and commands.

psycopg is imported only for PostgreSQL: it needs libpq, which many machines lack.
"""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import trio

from actors.settings import Settings
from extras.cluster.postgres.address import Address, BadAddress, read_address
from extras.cluster.postgres.server import SharedClock
from extras.cluster.settings import ClusterSettings
from sanderling.data_folder import command_errors, named_vault
from sanderling.engines import Engine
from sanderling.environment import environ, machine
from sanderling.exits import CommandFailed, Exit
from storage.errors import Corrupt, DiskFull, Locked, NewerSchema, NoKey, Unavailable
from storage.secrets import Vault
from storage.sql.storage import Storage
from storage.sql.stores.people import CommandKeys
from storage.sqlite.engine import prepare
from storage.sqlite.ownership import as_root

_REDIRECTING = ("PGSERVICE", "PGSERVICEFILE")
"""libpq variables that would redirect the connection; other variables are overridden on each connection."""
CLOSE_WITHIN = 30.0
NO_LIBRARY = "PostgreSQL's client library, libpq, is not on this machine"
INSTALL_IT = (
    "Install libpq5 (Debian, Ubuntu) or libpq (Fedora); with a Sanderling from pip, "
    "`pip install 'sanderling[postgres]'` brings one."
)
NO_NAMED_KEY = (
    "With PostgreSQL you must name the master key, since every node needs the same one. Make one with "
    "`(umask 077; sanderling keys master > master.key)` and name it in SANDERLING_MASTER_KEY_FILE (docs/postgresql.md)."
)


class PostgresEngine(Engine):
    """See Engine. address: of the database. listen: to listen for notices at; None for the same."""

    elsewhere = True

    def __init__(self, settings: Settings) -> None:
        """Raises CommandFailed."""
        self.settings, ours = settings, settings.of(ClusterSettings)
        file = ours.storage_url_file
        url = _from_file(Path(file)) if file else ours.storage_url
        self.address = _read(url, "storage_url_file" if file else "storage_url")
        self.listen = _read(ours.listen_url, "listen_url") if ours.listen_url else None
        self.place = str(self.address)

    def refuse(self, why: str) -> None:
        raise CommandFailed(f"The data are in {self.place}, and no file of ours. {why}", Exit.USAGE)

    def refuse_half(self) -> None:
        with self.command_errors():
            with the_driver():
                from extras.cluster.postgres.commands import is_half
            if is_half(self.address.url):
                says = "an import into it was cut off, and is not whole. Run it again (`sanderling import`)"
                raise CommandFailed(f"{self.place}: {says}, or name another database.", Exit.BAD_DATA)

    async def open(
        self,
        *,
        clock: Callable[[], float],
        warn: Callable[[str], None],
        doing: Callable[[str], None] = lambda _says: None,
        named: Vault | None = None,
        shares: bool = True,
    ) -> Storage:
        """Open the database; see Engine. shares: other nodes may use it, too."""
        vault = _vault(named)
        prepare(Path(self.settings.data))  # for this node's admin socket
        with the_driver():
            from extras.cluster.postgres.database import open_postgres
        return await open_postgres(
            self.address.url,
            vault=vault,
            clock=clock,
            owner=self.settings.node_name or machine(),
            warn=warn,
            doing=doing,
            shares=shares,
            listen_url=None if self.listen is None else self.listen.url,
            shared=clock if isinstance(clock, SharedClock) else None,
        )

    @contextmanager
    def keys(self, *, existing: bool = True) -> Iterator[CommandKeys]:
        vault = _vault(named_vault(environ()))
        with the_driver():
            from extras.cluster.postgres.commands import open_postgres_keys
        with self.command_errors(), open_postgres_keys(self.address.url, vault) as keys:
            yield keys

    @contextmanager
    def command_errors(self) -> Iterator[None]:
        with command_errors(Path(self.settings.data)), _told_of(self.address):
            yield

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Storage]:
        vault = _vault(named_vault(environ()))
        with the_driver():
            from extras.cluster.postgres.commands import open_postgres_snapshot
        async with open_postgres_snapshot(self.address.url, vault) as storage:
            yield storage

    @asynccontextmanager
    async def importing(self, clock: Callable[[], float]) -> AsyncIterator[Storage]:
        with the_driver():
            from extras.cluster.postgres.commands import NotEmpty, begin_import, end_import

        url, vault = self.address.url, _vault(named_vault(environ()))
        try:
            await trio.to_thread.run_sync(begin_import, url, limiter=trio.CapacityLimiter(1))
        except NotEmpty as error:
            raise CommandFailed(
                f"{self.place}: this instance has {error.there} already, and an import of a whole one needs an empty "
                "one. Name another database.",
                Exit.BAD_DATA,
            ) from None
        except Locked as error:
            raise CommandFailed(f"{self.place} is in use: {error}.", Exit.BAD_DATA) from None
        storage = await self.open(clock=clock, warn=lambda _: None, named=vault, shares=False)
        try:
            yield storage
        finally:
            with trio.move_on_after(CLOSE_WITHIN, shield=True):
                await storage.aclose()
        await trio.to_thread.run_sync(end_import, url, limiter=trio.CapacityLimiter(1))


@contextmanager
def the_driver() -> Iterator[None]:
    """Turn a missing libpq into CommandFailed."""
    try:
        yield
    except ImportError:
        raise CommandFailed(f"{NO_LIBRARY}. {INSTALL_IT}", Exit.BAD_SETTING) from None


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


def _vault(named: Vault | None) -> Vault:
    if named is None:
        raise CommandFailed(NO_NAMED_KEY, Exit.BAD_SETTING)
    return named


def _read(url: str, setting: str) -> Address:
    for name in _REDIRECTING:
        if environ().get(name):
            says = f"{name} is set: it would lead to another server than {setting} says. Unset it."
            raise CommandFailed(says, Exit.BAD_SETTING)
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
        says = f"storage_url_file: others may read {path} (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}"
        raise CommandFailed(says, Exit.BAD_SETTING)
    if not text:
        raise CommandFailed(f"storage_url_file: {path} is empty.", Exit.BAD_SETTING)
    return text
