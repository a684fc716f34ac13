"""The parts of this program as it is installed here: each with version, licence and texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

from sanderling import __version__
from sanderling.licences.native import version_of
from sanderling.licences.table import CLASSIFIERS, EXPRESSIONS, FORMS, MORE_TEXTS, NATIVE, PACKAGES, Native

TEXTS = Path(__file__).parent / "texts"
_PLACES = (Path(__file__).parents[2] / "LICENSE", Path(__file__).parents[1] / "LICENSE")
OWN = next((place for place in _PLACES if place.is_file()), _PLACES[0])
"""The program's own licence: beside the packages, or inside of this one where pip has installed it."""
INSIDE = "dist-info:"
NAMED = re.compile(r"licen[cs]e|copying|notice|copyright", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a licence: where it lies, as a user may look for it, and the file itself."""

    place: str
    file: Path

    def read(self) -> str:
        """Return it, "" where the installation lacks it."""
        return self.file.read_text("utf-8", "replace") if self.file.is_file() else ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part: a package, or something native inside of one (`inside`) or beside them all ("").

    `version` and `expression` (SPDX) are "" where nothing tells them.
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
        """Return its name, and what it is inside of."""
        return f"{self.name} (in {self.inside})" if self.inside else self.name

    @property
    def lacks(self) -> str:
        """Return what there must be and is not, "" if nothing."""
        if not self.expression:
            return "an SPDX expression"
        return "" if self.texts and all(text.read().strip() for text in self.texts) else "a text"


def parts(forms: Collection[str] = FORMS) -> list[Part]:
    """Return the program, the packages that are installed, and the native parts that are in one of these forms."""
    there = {name: found for name in PACKAGES if (found := _found(name)) is not None}
    native = [each for each in NATIVE if each.inside in {"", "sanderling", *there}]
    return [
        Part("sanderling", __version__, "MIT", (Text("LICENSE", OWN),)),
        *(package(name, found) for name, found in there.items()),
        *(_native(each, there.get(each.inside)) for each in native if not each.forms or set(each.forms) & set(forms)),
    ]


def package(name: str, found: metadata.Distribution) -> Part:
    """Return the part that an installed package is."""
    more = [MORE_TEXTS[name]] if name in MORE_TEXTS else []
    texts = (*_texts_of(found), *(_kept(text) for text in more))
    return Part(name, found.version, expression_of(name, found), texts, is_package=True)


def expression_of(name: str, found: metadata.Distribution) -> str:
    """Return a package's licence as SPDX writes it: from its metadata, else from the table, else ""."""
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
    return Text(f"sanderling/licences/texts/{name}.txt", TEXTS / f"{name}.txt")


def _texts_of(found: metadata.Distribution) -> Iterator[Text]:
    """Yield the texts in a package's metadata: those that it names as such, and those whose name says it.

    Some packages bring a text and do not name it; RECORD, which lists all files, is not in a frozen program.
    """
    folder = folder_of(found)
    named = {PurePosixPath(name) for name in found.metadata.get_all("License-File", [])}
    for file in sorted(folder.rglob("*")):
        inner = PurePosixPath(file.relative_to(folder).as_posix())
        is_named = inner in named or (inner.parts[0] == "licenses" and PurePosixPath(*inner.parts[1:]) in named)
        if file.is_file() and (is_named or NAMED.search(file.name)):
            yield Text(f"{folder.name}/{inner}", file)


def folder_of(found: metadata.Distribution) -> Path:
    """Return the folder of a package's metadata, beside the package."""
    return Path(str(found._path))  # type: ignore[attr-defined]  # its name can't be told from the package's
