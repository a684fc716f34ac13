"""Canaille, an identity provider, in a separate environment outside of the project."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

from tests.rules.source_files import ROOT

LOCKED = ROOT / "requirements/canaille.txt"


def canaille() -> Path:
    """Return a Python that has it; the next run reuses it. Skips the test where it can't be installed."""
    wanted = sha256(LOCKED.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"sanderling-canaille-{wanted}-{os.getuid()}"
    program = folder / "ready" / "bin" / "python"
    if program.exists():
        return program
    folder.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder))
    uv = [sys.executable, "-m", "uv", "-q"]
    steps = (
        [*uv, "venv", "--relocatable", str(made / "new")],
        [*uv, "pip", "install", "--python", str(made / "new"), "--require-hashes", "-r", str(LOCKED)],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"Canaille can't be installed: {done.stderr[-300:]}")
    with suppress(OSError):  # another process was quicker
        (made / "new").rename(folder / "ready")
    return program
