"""What the frozen program has for `sanderling licences`: metadata and texts of each package that is frozen in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path, PurePosixPath

from release.licences.parts import folder_of, parts
from release.licences.table import without_a_row

WITH_VERSIONS = ("pyinstaller", "staticx")
"""They are frozen in themselves; their texts are among the program's own."""


def packages_of(modules: Iterable[str]) -> set[str]:
    """Return the packages that bring these modules or files, by the first of their names."""
    bringing = metadata.packages_distributions()
    first = {re.split(r"[./]", module)[0] for module in modules}
    return {re.sub(r"[-_.]+", "-", name).lower() for module in first for name in bringing.get(module, [])}


def texts(packages: Collection[str], into: Path) -> Iterator[tuple[str, str]]:
    """Yield file and place in the program of the metadata of these packages, and of the texts in them.

    Some are asked for and not frozen in, such as pip, which sqlite-utils wants for its own commands. Of the metadata
    only the headings go in, by way of `into`: the description after them is most of it, and nobody reads it here.
    """
    for part in parts():
        if part.is_package and part.name in packages:
            folder = folder_of(metadata.distribution(part.name))
            yield _headings(folder, into)
            for file in (text.file for text in part.texts if text.file.is_relative_to(folder)):
                yield str(file), str(PurePosixPath(folder.name, *file.relative_to(folder).parts))
    for name in WITH_VERSIONS:
        with suppress(metadata.PackageNotFoundError):  # staticx is for x86-64 only
            yield _headings(folder_of(metadata.distribution(name)), into)


def _headings(folder: Path, into: Path) -> tuple[str, str]:
    place = f"{folder.name}/METADATA"
    (into / place).parent.mkdir(parents=True, exist_ok=True)
    headings = (folder / "METADATA").read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    (into / place).write_bytes(headings + b"\n")
    return str(into / place), place


def unlicensed(places: Iterable[str]) -> list[str]:
    """Return what lacks a licence: parts, and libraries (told by their places) that no row of the table is about."""
    beside = sorted(place for place in places if "/" not in place and Path(place).name.startswith("lib"))
    return [f"{part.name} lacks {part.lacks}" for part in parts() if part.lacks] + without_a_row(beside)
