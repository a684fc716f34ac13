"""PgBouncer of Debian's package before a cluster of the tests, on a Unix socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.postgres import Cluster
from tests.support.waiting import HANG, wait_until

PROGRAM = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/bin")
PORT = 6432
_SETTINGS = """[databases]
* = host={server}
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = 20
logfile = {folder}/log
"""


@contextmanager
def a_pooler(cluster: Cluster, mode: str) -> Iterator[str]:
    """Run one in a mode; give the beginning of addresses through it, without the database."""
    assert PROGRAM is not None
    folder = Path(tempfile.mkdtemp(prefix="pb-"))
    root = os.geteuid() == 0
    user = "postgres" if root else pwd.getpwuid(os.geteuid()).pw_name
    (folder / "users").write_text('"tests" ""\n', "utf-8")
    text = _SETTINGS.format(server=cluster.folder, port=PORT, folder=folder, mode=mode)
    (folder / "settings").write_text(text, "utf-8")
    if root:
        shutil.chown(folder, user, user)
    process = subprocess.Popen(
        [PROGRAM, "-q", str(folder / "settings")],
        user=user if root else None,
        group=user if root else None,
        extra_groups=[] if root else None,
        cwd=folder,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until((folder / f".s.PGSQL.{PORT}").exists)
        yield f"host={folder} port={PORT} user=tests"
    finally:
        process.terminate()
        process.wait(HANG)
        shutil.rmtree(folder, ignore_errors=True)
