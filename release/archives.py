"""Says which archive of each package is installed here: its name, and its SHA-256, one of those that are pinned.

Usage: python release/archives.py PINS OUTPUT, with the environment that has built. The pins are the sums of all
archives of a version, and do not say which is which; pip tells what it takes here, and what is installed must be of
the same kind.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

TAG = re.compile(r"^Tag: (\S+)$", re.MULTILINE)


def taken(report: Mapping[str, Any], pins: str) -> dict[str, tuple[str, str]]:
    """Return name and SHA-256 of the archive of each package in pip's report.

    Raises ValueError for one that is not pinned, or of another kind than what is installed.
    """
    found: dict[str, tuple[str, str]] = {}
    for each in report["install"]:
        name = re.sub(r"[-_.]+", "-", each["metadata"]["name"]).lower()
        archive = each["download_info"]["url"].rpartition("/")[2].partition("#")[0]
        digest = each["download_info"]["archive_info"]["hashes"]["sha256"]
        if f"sha256:{digest}" not in pins:
            raise ValueError(f"{archive} is not pinned")
        if not is_of(archive, metadata.distribution(name).read_text("WHEEL") or ""):
            raise ValueError(f"{name} was not installed from {archive}")
        found[name] = (archive, digest)
    return found


def is_of(archive: str, wheel: str) -> bool:
    """Return whether an archive is one that leaves such a WHEEL file behind; of source it may leave any.

    >>> is_of("lxml-6.1-cp311-cp311-manylinux_2_26_x86_64.whl", "Tag: cp311-cp311-manylinux_2_26_x86_64")
    True
    """
    if not archive.endswith(".whl"):
        return True
    pythons, abis, platforms = (part.split(".") for part in archive.removesuffix(".whl").split("-")[-3:])
    tags = {f"{python}-{abi}-{platform}" for python in pythons for abi in abis for platform in platforms}
    return bool(tags & set(TAG.findall(wheel)))


def main(pins: Path, output: Path) -> None:
    """Ask pip, which reads the index and installs nothing, and write a JSON object of package to [archive, sum]."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.json")
        asking = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--dry-run"]
        asking += ["--ignore-installed", "--no-deps", "--require-hashes", "--report", str(report), "-r", str(pins)]
        subprocess.run(asking, check=True)
        told = json.loads(report.read_text("utf-8"))
    output.write_text(json.dumps(taken(told, pins.read_text("utf-8")), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
