"""The parts of this installation, with versions, licences and texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

from release.licences.native import version_of
from release.licences.table import CLASSIFIERS, EXPRESSIONS, FORMS, MORE_TEXTS, NATIVE, OF_BUILDS, PACKAGES, Native
from sanderling import __version__

TEXTS = Path(__file__).parent / "texts"
OWN = Path(__file__).parents[2] / "LICENSE"
SHIPPED = "sanderling/licences.json"
"""The place of the texts in `texts/`, for users."""
INSIDE = "dist-info:"
NAMED = re.compile(r"licen[cs]e|copying|notice|copyright", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """A licence text: its location for users, and the file."""

    place: str
    file: Path

    def read(self) -> str:
        """Return the text; "" if the installation lacks it."""
        return self.file.read_text("utf-8", "replace") if self.file.is_file() else ""


@dataclass(frozen=True, slots=True)
class Part:
    """A package, or a native part inside one (`inside`) or of the whole program ("").

    `version` and `expression` (SPDX) are "" if unknown.
    """

    name: str
    version: str
    expression: str
    texts: tuple[Text, ...]
    inside: str = ""
    is_package: bool = False
    forms: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.name} (in {self.inside})" if self.inside else self.name

    @property
    def lacks(self) -> str:
        """Return which requirement is missing; "" if none."""
        if not self.expression:
            return "an SPDX expression"
        return "" if self.texts and all(text.read().strip() for text in self.texts) else "a text"


def parts(forms: Collection[str] = FORMS) -> list[Part]:
    """Return the program, its installed packages, and the native parts of these forms."""
    there = {name: found for name in (*PACKAGES, *OF_BUILDS) if (found := _found(name)) is not None}
    native = [each for each in NATIVE if each.inside in {"", "sanderling", *there}]
    return [
        Part("sanderling", __version__, "MIT", (Text("LICENSE", OWN),)),
        *(package(name, found) for name, found in there.items()),
        *(_native(each, there.get(each.inside)) for each in native if not each.forms or set(each.forms) & set(forms)),
    ]


def package(name: str, found: metadata.Distribution) -> Part:
    more = [MORE_TEXTS[name]] if name in MORE_TEXTS else []
    texts = (*_texts_of(found), *(_kept(text) for text in more))
    return Part(name, found.version, expression_of(name, found), texts, is_package=True)


def expression_of(name: str, found: metadata.Distribution) -> str:
    """Return a package's SPDX expression: from its metadata, else from the table, else ""."""
    for told in found.metadata.get_all("License-Expression", []):
        return str(told)
    classifiers = [line for line in found.metadata.get_all("Classifier", []) if line.startswith("License ::")]
    if len(classifiers) == 1 and classifiers[0] in CLASSIFIERS:
        return CLASSIFIERS[classifiers[0]]
    return EXPRESSIONS.get(name, "")


def _found(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def _native(row: Native, found: metadata.Distribution | None) -> Part:
    version = version_of(row.name, row.inside)
    if found is not None and row.version_with is not None and row.version_with[0] == found.version:
        version = row.version_with[1]
    of_package = list(_texts_of(found)) if found is not None else []
    texts: list[Text] = []
    for name in row.texts:
        if name.startswith(INSIDE):
            texts += [text for text in of_package if text.file.name == name.removeprefix(INSIDE)]
        else:
            texts.append(_kept(name))
    return Part(row.name, version, row.expression, tuple(texts), row.inside, forms=row.forms)


def _kept(name: str) -> Text:
    return Text(SHIPPED, TEXTS / f"{name}.txt")


def _texts_of(found: metadata.Distribution) -> Iterator[Text]:
    """Yield the texts in a package's metadata, both declared ones and those with a telling name.

    Some packages do not declare theirs, and a frozen program lacks RECORD, which lists all files.
    """
    folder = folder_of(found)
    named = {PurePosixPath(name) for name in found.metadata.get_all("License-File", [])}
    for file in sorted(folder.rglob("*")):
        inner = PurePosixPath(file.relative_to(folder).as_posix())
        is_named = inner in named or (inner.parts[0] == "licenses" and PurePosixPath(*inner.parts[1:]) in named)
        if file.is_file() and (is_named or NAMED.search(file.name)):
            yield Text(f"{folder.name}/{inner}", file)


def folder_of(found: metadata.Distribution) -> Path:
    """Return the folder of a package's metadata."""
    return Path(str(found._path))  # type: ignore[attr-defined]  # the package's name does not determine it
