"""Builds the TypeScript client as it would be published."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.rules.source_files import ROOT
from tests.support.node import modules

SOURCE = ROOT / "clients/typescript"
LIBRARY = "sanderling-client"


def tsc(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    compiler = modules() / "node_modules/typescript/bin/tsc"
    command = ["node", str(compiler), *words]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=120, check=False)


def build(folder: Path) -> Path:
    """Build the package in a folder where programs can import it by name; its tests are copied there too."""
    package = folder / "node_modules" / LIBRARY
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("node_modules", "dist", "test"))
    done = tsc(package)
    assert done.returncode == 0, done.stdout
    shutil.copytree(SOURCE / "test", folder / "test")
    return folder
