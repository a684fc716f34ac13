"""The JavaScript clients: published packages, installed by npm into a folder outside of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

PACKAGES = ("eventsource@4.1.1", "eventsource-parser@3.1.1")
HERE = Path(__file__).parent


def need(reason: str) -> None:
    """Skip the test, or fail where all of them must run."""
    if os.environ.get("CI") == "true":  # noqa: TID251  tests may know where they run
        pytest.fail(reason)
    pytest.skip(reason)


def modules() -> Path:
    """Return a folder with the packages and our scripts; it is kept for the next run."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        need("node and npm are not installed")
    folder = Path(tempfile.gettempdir()) / "-".join(["sanderling-clients", *PACKAGES, str(os.getuid())])
    if not (folder / "node_modules").exists():
        folder.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder))
        words = [str(npm), "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run([*words, *PACKAGES], cwd=made, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            need(f"npm can't install {', '.join(PACKAGES)}: {done.stderr[-300:]}")
        (made / "node_modules").rename(folder / "node_modules")
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, folder)
    return folder
