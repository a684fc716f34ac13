"""The engines under the contract; each can start, stop, and restart on the same data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from extras.cluster.postgres.database import open_postgres
from sanderling.real_world import wall
from storage.secrets import SIZE, Vault
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite
from tests.support.in_loop import Disk, InLoopStorage
from tests.support.postgres import cluster


class SqliteEngine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wall = 1_800_000_000.0
        self.warnings: list[str] = []

    async def start(self) -> Storage:
        return await open_sqlite(self.folder, clock=lambda: self.wall, owner="test", warn=self.warnings.append)


class InLoopEngine:
    def __init__(self, folder: Path) -> None:
        self.disk = Disk()

    async def start(self) -> Storage:
        return InLoopStorage(self.disk, self.disk.start("test"))


class PostgresEngine:
    def __init__(self, folder: Path) -> None:
        self.url = cluster().url(cluster().fresh())
        self.wall = wall()  # PostgreSQL refuses a clock that differs from its own by a minute
        self.vault = Vault(bytes(SIZE))
        self.warnings: list[str] = []

    async def start(self) -> Storage:
        return await open_postgres(
            self.url,
            vault=self.vault,
            clock=lambda: self.wall,
            owner="test",
            warn=self.warnings.append,
            safe=("synchronous_commit",),
        )


Engine = SqliteEngine | InLoopEngine | PostgresEngine
ENGINES: dict[str, Callable[[Path], Engine]] = {
    "in_loop": InLoopEngine,
    "sqlite": SqliteEngine,
    "postgres": PostgresEngine,
}
