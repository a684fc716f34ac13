"""A private PostgreSQL cluster from Debian's package: one for each test process, with its socket in a short folder.

Without fsync and autovacuum, tests are quick and repeatable. Each test has its own database. Without the package the
tests are skipped one by one; with CI=true they fail.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import psycopg
import pytest

from extras.cluster.postgres.engine import all_steps, connect, upgrade
from sanderling.environment import environ

_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
_SETTINGS = "-c autovacuum=off -c max_connections=60 -c shared_buffers=32MB"
_QUICK = "-c fsync=off -c full_page_writes=off"
_numbers = count(1)
_TABLES = "SELECT relname FROM pg_class WHERE relkind='r' AND relnamespace='public'::regnamespace AND relname<>'schema'"
_END_OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname=current_database() AND pid<>pg_backend_pid()"""
_RESTART = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind='S' AND relnamespace='public'::regnamespace"


class Cluster:
    """A cluster of this process; `stop` and `start` make an outage. of: the primary, if this is a standby."""

    def __init__(self, binaries: Path, more: str = _QUICK, of: Cluster | None = None) -> None:
        self._binaries, self._more = binaries, more
        self._model = ""
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        # initdb refuses root; Debian's package has created the user.
        self._user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        atexit.register(self._end)
        if of is None:
            self._run("initdb", *self._at, "-A", "trust", "--locale=C", "-E", "UTF8")
            self.start()
        else:
            self.follow(of)

    def __repr__(self) -> str:
        return f"Cluster({self.folder})"

    def start(self) -> None:
        socket = f"-c listen_addresses='' -c unix_socket_directories={self.folder}"
        options = ("-l", f"{self.folder}/log", "-o", f"{_SETTINGS} {self._more} {socket}")
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", *options, "start")

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", how, "stop")

    def standby(self) -> Cluster:
        """Return a cluster that follows this one until it is promoted."""
        return Cluster(self._binaries, self._more, self)

    @property
    def _at(self) -> tuple[str, ...]:
        return "-D", f"{self.folder}/data", "-U", "tests", "-N"

    def follow(self, primary: Cluster) -> None:
        """Discard all data and become a standby."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        self._run("pg_basebackup", *self._at, "-R", "-c", "fast", "-h", str(primary.folder))
        self.start()

    def promote(self) -> None:
        """Make a standby the primary, on a new timeline."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "promote")

    def runs(self) -> bool:
        return (self.folder / "data" / "postmaster.pid").exists()

    def end(self) -> None:
        atexit.unregister(self._end)
        self._end()

    def url(self, database: str = "postgres") -> str:
        return f"host={self.folder} dbname={database} user=tests"

    def empty(self) -> str:
        """Create a database without tables and return its name."""
        name = f"test_{next(_numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY wal_log")
        return name

    def fresh(self) -> str:
        """Return the name of a database as the upgrade steps leave it. The next call reuses it.

        Creating one for each test takes a hundred times as long, and sometimes a second.
        """
        if not self._model:
            self._model = self.empty()
            made = connect(self.url(self._model))
            upgrade(made, all_steps())
            self._facts = made.execute("SELECT name, value FROM fact").fetchall()
            self._views = made.execute("SELECT number FROM view").fetchall()
            self._tables = [name for (name,) in made.execute(_TABLES).fetchall()]
            made.close()
        cleaning = connect(self.url(self._model))
        cleaning.execute(_END_OTHERS)
        cleaning.run("SET session_replication_role=replica")  # neither foreign keys nor triggers
        cleaning.run(";".join(f"DELETE FROM {table}" for table in self._tables))
        cleaning.executemany("INSERT INTO fact VALUES(?, ?)", self._facts)
        cleaning.executemany("INSERT INTO view VALUES(?)", self._views)
        cleaning.execute(_RESTART)
        cleaning.close()
        return self._model

    def run(self, statement: str) -> None:
        """Run a statement outside of the tests' databases."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _run(self, program: str, *arguments: str) -> None:
        root = os.geteuid() == 0
        done = subprocess.run(
            [self._binaries / program, *arguments],
            user="postgres" if root else None,
            group="postgres" if root else None,
            extra_groups=[] if root else None,
            cwd="/tmp",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, f"{program} failed: {done.stdout!r}"

    def _end(self) -> None:
        if self.runs():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def is_here() -> bool:
    return bool(_BINARIES)


@dataclass
class Pair:
    """A primary and its standby, which swap roles. An address names both and leads to the writable one."""

    primary: Cluster
    standby: Cluster

    @property
    def folders(self) -> str:
        return ",".join(sorted(str(each.folder) for each in (self.primary, self.standby)))

    def url(self, database: str) -> str:
        return f"host={self.folders} dbname={database} user=tests target_session_attrs=read-write"

    def wait_for_standby(self) -> None:
        """Make every commit wait for the standby, whichever of the two that is."""
        for each in (self.primary, self.standby):
            each.run("ALTER SYSTEM SET synchronous_standby_names='*'")
            each.run("SELECT pg_reload_conf()")

    def fail_over(self) -> None:
        """Crash the primary and promote the standby, after starting it if necessary."""
        self.primary.stop()
        if not self.standby.runs():
            self.standby.start()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def end(self) -> None:
        self.standby.end()
        self.primary.end()


def a_pair(more: str = _QUICK) -> Pair:
    """Return a new pair. Skips the test without PostgreSQL."""
    primary = Cluster(_binaries(), more)
    return Pair(primary, primary.standby())


@cache
def cluster() -> Cluster:
    """Return this process's cluster, made at the first call. Skips the test without PostgreSQL."""
    return Cluster(_binaries())


@cache
def durable() -> Cluster:
    """Return another cluster that keeps its commits, as production does."""
    return Cluster(_binaries(), "")


def _binaries() -> Path:
    if not _BINARIES:
        if environ().get("CI") == "true":
            pytest.fail("no PostgreSQL here: install Debian's package `postgresql`, or unset CI")
        pytest.skip("no PostgreSQL here: install Debian's package `postgresql`")
    return _BINARIES[-1]
