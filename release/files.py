"""Writes what packages have beside the program: unit, settings, scripts, man page, completion, licences, SBOM.

Usage: python release/files.py FOLDER EPOCH [ARCHIVES [DIRECTORY]]: from the file that archives.py writes and from the
directory form the SBOM has its sums. Everything depends on the checkout and on these alone: two runs are equal.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from extras.install.licences import book
from extras.install.units import PACKAGED, SYSTEM, settings_text, unit_text
from release.bill import Archives, shipped, software_bill
from release.licences.making import shown
from release.licences.parts import Part, parts
from release.man import man_page
from sanderling import __version__
from sanderling.cli import completion_script

TOP = Path(__file__).parents[1]
LAYOUT = replace(SYSTEM, unit=PurePosixPath("/usr/lib/systemd/system/sanderling.service"))


def copyright_text(licence: str, found: Sequence[Part]) -> str:
    """Return the licences in Debian's machine-readable form: indented, empty lines as a dot.

    Of what comes with the program it names the licences; their texts are a file of their own.
    """
    lines = "\n".join(f" {line}" if line.strip() else " ." for line in licence.strip().splitlines())
    rows = "\n".join(f"  {part.label}: {part.expression}" for part in found)
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: sanderling\n"
        f"Comment: All texts are in licences.gz. What comes with the program, and its licence:\n{rows}\n"
        f"\nFiles: *\nCopyright: the authors of Sanderling\nLicense: MIT\n{lines}\n"
    )


def debian_changelog(epoch: int) -> str:
    """Return what Debian asks of a package: who made this version of it, and when."""
    when = datetime.fromtimestamp(epoch, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
    return (
        f"sanderling ({__version__}-1) stable; urgency=medium\n\n  * What is new is in changelog.gz.\n\n"
        f" -- The Sanderling project <maintainers@sanderling.example>  {when}\n"
    )


def main(folder: Path, epoch: int, archives: Path | None = None, directory: Path | None = None) -> None:
    """Write all of them."""
    found = parts() if directory is None else shipped(parts(), directory)
    known: Archives = json.loads(archives.read_text("utf-8")) if archives is not None else {}
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "sanderling.service": unit_text(LAYOUT, PurePosixPath(PACKAGED / "sanderling")),
        "sanderling.env": settings_text(LAYOUT),
        "copyright": copyright_text((TOP / "LICENSE").read_text("utf-8"), found[1:]),
        "sanderling.bash": completion_script("bash"),
        "sanderling.cdx.json": software_bill(found, epoch, known, directory),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    zipped = {
        "sanderling.1.gz": man_page(),
        "licences.gz": book(shown(found)) + "\n",
        "changelog.gz": (TOP / "CHANGELOG.md").read_text("utf-8"),
        "changelog.Debian.gz": debian_changelog(epoch),
    }
    for name, text in zipped.items():
        (folder / name).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *(Path(each) for each in sys.argv[3:]))
