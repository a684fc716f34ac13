"""Writes the list that `sanderling licences` reads.

Usage: python -m release.licences.making FILE
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

import msgspec

from extras.install import licences
from release.licences.freezing import unlicensed
from release.licences.parts import Part, parts


def made(packages: Collection[str] | None = None) -> bytes:
    """Return the list as JSON. packages: those that the frozen program contains; None: all that are installed."""
    found = parts()
    if packages is not None:
        absent = {part.name for part in found if part.is_package} - {*packages}
        found = [part for part in found if not (part.is_package and part.name in absent) and part.inside not in absent]
    return msgspec.json.format(msgspec.json.encode(shown(found)), indent=1)


def shown(found: Collection[Part]) -> list[licences.ShippedPart]:
    """Return parts as the program has them, texts included."""
    return [
        licences.ShippedPart(
            part.name,
            part.label,
            part.version,
            part.expression,
            tuple(licences.Text(text.place, text.read().strip("\n")) for text in part.texts),
            part.forms,
        )
        for part in found
    ]


if __name__ == "__main__":
    if lacking := unlicensed(()):
        raise SystemExit("; ".join(lacking))
    Path(sys.argv[1]).write_bytes(made())
