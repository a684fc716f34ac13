"""What the frozen program must have for `sanderling licences`: the metadata and the texts of each package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path, PurePosixPath

from sanderling.licences.parts import folder_of, parts
from sanderling.licences.table import without_a_row

WITH_VERSIONS = ("pyinstaller", "staticx")
"""They are frozen in themselves; their texts are among the program's own."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield file and folder in the program of the metadata of each package, and of the texts in them."""
    for part in parts():
        if part.is_package:
            folder = folder_of(metadata.distribution(part.name))
            for file in (folder / "METADATA", *(text.file for text in part.texts if text.file.is_relative_to(folder))):
                yield str(file), str(PurePosixPath(folder.name, *file.parent.relative_to(folder).parts))
    for name in WITH_VERSIONS:
        try:
            folder = folder_of(metadata.distribution(name))
        except metadata.PackageNotFoundError:
            continue  # staticx is for x86-64 only
        yield str(folder / "METADATA"), folder.name


def unlicensed(places: Iterable[str]) -> list[str]:
    """Return what lacks a licence: parts, and libraries (told by their places) that no row of the table is about."""
    beside = sorted(place for place in places if "/" not in place and Path(place).name.startswith("lib"))
    return [f"{part.name} lacks {part.lacks}" for part in parts() if part.lacks] + without_a_row(beside)
