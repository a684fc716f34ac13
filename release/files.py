"""Writes the files that packages have beside the program: unit, settings, scripts, man page, completion, SBOM.

Usage: python release/files.py FOLDER EPOCH; everything in it depends on the checkout alone, so that two runs are equal.
"""

from __future__ import annotations

import gzip
import json
import platform
import re
import sqlite3
import ssl
import sys
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path, PurePosixPath

from sanderling import __version__
from sanderling.installing.layout import PACKAGED, SYSTEM
from sanderling.installing.unit import settings_text, unit_text
from sanderling.manual.completion import script
from sanderling.manual.man import man_page

TOP = Path(__file__).parents[1]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)
UNDERNEATH = {
    "python": platform.python_version(),
    "sqlite": sqlite3.sqlite_version,
    "openssl": ssl.OPENSSL_VERSION.split()[1],
}
"""What is frozen in beside the packages that are pinned."""
LAYOUT = replace(SYSTEM, unit=PurePosixPath("/usr/lib/systemd/system/sanderling.service"))


def software_bill(pins: str, epoch: int) -> str:
    """Return a CycloneDX 1.6 document of what is frozen in, each part with its package URL.

    The pins are for every Python, so a package may stand there twice; what is installed here says which one was taken.
    """
    there = {re.sub(r"[-_.]+", "-", each.name).lower(): each.version for each in metadata.distributions()}
    inside = {name: there[name] for name in PIN.findall(pins) if name in there}  # some are for other systems
    found = [(f"pkg:pypi/{name}@{version}", name, version) for name, version in sorted(inside.items())]
    found += [(f"pkg:generic/{name}@{version}", name, version) for name, version in sorted(UNDERNEATH.items())]
    parts = [
        {"type": "library", "name": name, "version": version, "bom-ref": url, "purl": url}
        for url, name, version in found
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(parts))}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "name": "sanderling",
                "version": __version__,
                "bom-ref": "sanderling",
                "licenses": [{"license": {"id": "MIT"}}],
            },
        },
        "components": parts,
        "dependencies": [{"ref": "sanderling", "dependsOn": [part["purl"] for part in parts]}],
    }
    return json.dumps(document, indent=2) + "\n"


def copyright_text(licence: str) -> str:
    """Return a licence in Debian's machine-readable form: indented, empty lines as a dot."""
    lines = "\n".join(f" {line}" if line.strip() else " ." for line in licence.strip().splitlines())
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: sanderling\n\nFiles: *\nCopyright: the authors of Sanderling\nLicense: MIT\n{lines}\n"
    )


def debian_changelog(epoch: int) -> str:
    """Return what Debian asks of a package: who made this version of it, and when."""
    when = datetime.fromtimestamp(epoch, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
    return (
        f"sanderling ({__version__}-1) stable; urgency=medium\n\n  * What is new is in changelog.gz.\n\n"
        f" -- The Sanderling project <maintainers@sanderling.example>  {when}\n"
    )


def main(folder: Path, epoch: int) -> None:
    """Write all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "sanderling.service": unit_text(LAYOUT, PurePosixPath(PACKAGED / "sanderling")),
        "sanderling.env": settings_text(LAYOUT),
        "copyright": copyright_text((TOP / "LICENSE").read_text("utf-8")),
        "sanderling.bash": script("bash"),
        "sanderling.cdx.json": software_bill((TOP / "requirements/run.txt").read_text("utf-8"), epoch),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    zipped = {
        "sanderling.1.gz": man_page(),
        "changelog.gz": (TOP / "CHANGELOG.md").read_text("utf-8"),
        "changelog.Debian.gz": debian_changelog(epoch),
    }
    for name, text in zipped.items():
        (folder / name).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
