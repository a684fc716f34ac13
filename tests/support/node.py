"""The npm packages that a `package-lock.json` pins, in a folder outside of the project."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest

LISTS = Path(__file__).parent / "npm"


def need(reason: str) -> None:
    """Skip the test, or fail in CI, where all tests must run."""
    if os.environ.get("CI") == "true":  # noqa: TID251  tests may know where they run
        pytest.fail(reason)
    pytest.skip(reason)


def _install(npm: str, lists: Path, folder: Path) -> None:
    made = Path(tempfile.mkdtemp(dir=folder))
    for name in ("package.json", "package-lock.json"):
        shutil.copy(lists / name, made)
    command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        need(f"npm can't install what {lists.name} lists: {done.stderr[-300:]}")
    (made / "node_modules").rename(folder / "node_modules")


def modules(scripts: Iterable[Path] = (), lists: Path = LISTS) -> Path:
    """Return a folder with the packages of `lists` and some scripts; the next run reuses the packages."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        need("node and npm are not installed")
    wanted = sha256((lists / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"sanderling-npm-{wanted}-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # else each worker would install them
        if not (folder / "node_modules").exists():
            _install(str(npm), lists, folder)
    for script in scripts:
        shutil.copy(script, folder)
    return folder
