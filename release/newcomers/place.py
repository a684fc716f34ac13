"""The places of newcomers: a folder with an empty home, or a copy of this system that is thrown away.

In both, `sudo` does nothing but run what it is given, and nothing of this checkout is on the path.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from release.newcomers.ways import Way

PATIENCE = 600.0
"""Seconds for one command."""
_THEIRS = re.compile(r"/home/\.cache/(pip|uv)/|/pipx/(venvs/\..*\.lock$|logs/)")
"""What installers keep for themselves: a cache, a lock."""
_SUDO = '#!/bin/sh\nexec "$@"\n'
_CONTAINERS = '[storage]\ndriver = "vfs"\ngraphroot = "{home}/containers"\nrunroot = "{home}/running"\n'
"""A builder's images lie in the home, in plain folders: those of the machine are not seen, and nothing is mounted."""
_ALWAYS_YES = 'APT::Get::Assume-Yes "true";\n'
_COPY = """
mount -t tmpfs none {there} && mkdir {there}/changed {there}/work {there}/whole &&
mount -t overlay none -o lowerdir=/,upperdir={there}/changed,workdir={there}/work {there}/whole &&
mount -t proc proc {there}/whole/proc && mount --rbind /dev {there}/whole/dev &&
mount -t tmpfs none {there}/whole/run &&
mount --rbind {folder} {there}/whole{folder} && echo ready && exec sleep infinity
"""


class Refused(Exception):
    """A command of a way did not do what its page says."""


class Place:
    """Where a newcomer is. `folder` is where commands run, `home` is theirs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "here", folder / "home"
        self.tools, self._bin = folder / "tools", folder / "bin"
        for each in (self.folder, self.home, self._bin):
            each.mkdir()
        (self._bin / "sudo").write_text(_SUDO, "utf-8")
        (self._bin / "sudo").chmod(0o755)
        self._containers = folder / "containers.conf"
        self._containers.write_text(_CONTAINERS.format(home=self.home), "utf-8")
        self.inside: tuple[str, ...] = ()
        self.changed: Path | None = None
        self._lines = 0

    def environment(self) -> dict[str, str]:
        """Return what is set: a home, a path, where packages come from and images lie, that loopback may be watched."""
        python = str(Path(getattr(sys, "_base_executable", sys.executable)).parent)
        path = [self._bin, self.home / ".local/bin", self.tools / "bin", python]
        sources = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_CERT"))}  # noqa: TID251
        return sources | {
            "HOME": str(self.home),
            "TOOLS": str(self.tools),
            "PATH": ":".join([*map(str, path), "/usr/sbin:/usr/bin:/sbin:/bin"]),
            "CONTAINERS_STORAGE_CONF": str(self._containers),
            "SANDERLING_ALLOW_NETWORKS": "127.0.0.0/8",
            "LC_ALL": "C.UTF-8",
        }

    def start(self, line: str) -> tuple[subprocess.Popen[bytes], Path]:
        """Begin a command; return it and the file of what it says."""
        self._lines += 1
        said = self.folder.parent / f"said-{self._lines}"
        with said.open("wb") as out:
            asked = [*self.inside, "sh", "-c", f"cd {self.folder} && {line}"]
            process = subprocess.Popen(
                asked,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return process, said

    def run(self, line: str) -> str:
        """Run a command to its end and return what it says. Raises Refused."""
        process, said = self.start(line)
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            end(process)
            code = process.returncode
        text = said.read_text("utf-8", "replace")
        if code:
            raise Refused(f"{line}: ended with {code}\n{text[-2_000:]}")
        return text

    def left(self, way: Way) -> list[str]:
        """Return what of the program is still there, once what is kept by its page's word is deleted."""
        for kept in way.kept:
            shutil.rmtree(self.home / kept, ignore_errors=True)
            shutil.rmtree(self.folder / kept, ignore_errors=True)
        found = [path for top in (self.home, self.folder) for path in top.rglob("*")]
        if self.changed is not None:
            found += [path for path in self.changed.rglob("*") if not _is_gone(path)]
        dist = self.folder / "dist"
        named = [path for path in found if "sanderling" in path.name.lower() and not path.is_relative_to(dist)]
        return sorted(str(path) for path in named if not _THEIRS.search(str(path)))


def _is_gone(path: Path) -> bool:
    """Return whether a file of the layer of changes says that one was deleted, or is of the package manager's own."""
    stands = path.lstat()
    return (stands.st_rdev == 0 and path.is_char_device()) or "var/cache/apt" in str(path) or "/var/log/" in str(path)


@contextmanager
def a_place(way: Way, dist: Path) -> Iterator[Place]:
    """Give a place for a way, and take it away. Raises Refused."""
    with tempfile.TemporaryDirectory(prefix="newcomer-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # the account of a service must get through
        place = Place(Path(folder))
        if way.kind == "folder":
            if way.needs:
                (place.folder / "dist").symlink_to(dist)
            yield place
        else:
            (place.folder / "dist").mkdir()
            for pattern in way.needs:
                for file in dist.glob(pattern):
                    shutil.copy(file, place.folder / "dist")
            with _system(place):
                yield place


@contextmanager
def _system(place: Place) -> Iterator[None]:
    """Put a place into a copy of this system: its own mounts and processes, changes in memory."""
    there, folder = place.folder.parent / "system", place.folder.parent
    there.mkdir()
    script = _COPY.format(there=there, folder=folder)
    holder = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert holder.stdout is not None
        said = holder.stdout.readline().decode()
        if said != "ready\n":
            raise Refused(f"no system of its own: {said or 'unshare needs root'}")
        (inner,) = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text("ascii").split()
        seen = Path(f"/proc/{inner}/root{there}")
        place.inside = ("nsenter", "-t", inner, "-m", "-p", "chroot", str(Path(f"{there}/whole")))
        place.changed = seen / "changed"
        (seen / "whole/etc/apt/apt.conf.d/99newcomer").write_text(_ALWAYS_YES, "utf-8")
        yield
    finally:
        holder.kill()
        holder.wait()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the service that a command has started to stop, and wait for the command. Raises Refused."""
    os.kill(_served(process.pid) or process.pid, signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        raise Refused("the service did not stop within 30 s of SIGTERM") from None


def _served(pid: int) -> int | None:
    """Return the innermost process that serves; around it may be a shell, make, runuser, the loader of the one file, or
    a builder, whose children belong to any of its threads.
    """
    children = " ".join(each.read_text("ascii") for each in Path(f"/proc/{pid}/task").glob("*/children"))
    for child in children.split():
        if (found := _served(int(child))) is not None:
            return found
    return pid if b"serve" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") else None


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of a command, with all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(said: Path, words: str, process: subprocess.Popen[bytes], within: float) -> float:
    """Wait until a command has said something; return the seconds. Raises Refused."""
    start = time.monotonic()  # noqa: TID251
    while words not in said.read_text("utf-8", "replace"):
        if process.poll() is not None or time.monotonic() - start > within:  # noqa: TID251
            raise Refused(f"it never said {words!r}:\n{said.read_text('utf-8', 'replace')[-2_000:]}")
        time.sleep(0.02)
    return time.monotonic() - start  # noqa: TID251
