"""`sanderling licences`: the bundled parts, their licences and texts.

`release/licences/` makes the list when it builds a wheel or freezes the program, and ships it as `licences.json`. A
checkout has no such file: the command then makes the list itself.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.resources import files
from typing import Any

import msgspec

from sanderling.exits import CommandFailed, Exit
from sanderling.program import unpacked

HEADINGS = ("NAME", "VERSION", "LICENCE", "TEXT")
LINE = "=" * 80
MANY = 2


class Text(msgspec.Struct, frozen=True):
    """A licence text, and its location for users."""

    place: str
    words: str


class ShippedPart(msgspec.Struct, frozen=True):
    """A part as it ships. forms: the only ones that contain it; empty for all."""

    name: str
    label: str
    version: str
    expression: str
    texts: tuple[Text, ...]
    forms: tuple[str, ...] = ()


def shipped() -> Sequence[ShippedPart]:
    """Return the parts of this installation. Raises CommandFailed."""
    list_made = files("sanderling").joinpath("licences.json")
    try:
        data = list_made.read_bytes() if list_made.is_file() else import_module("release.licences.making").made()
    except ImportError:
        raise CommandFailed("This installation was built without its list of licences.") from None
    found = msgspec.json.decode(data, type=tuple[ShippedPart, ...])
    return found if unpacked() is not None else [part for part in found if not part.forms]


def show(name: str | None, *, whole: bool) -> str:
    """Return the list of parts, the texts of the named parts, or (`whole`) all texts. Raises CommandFailed."""
    found = _called(name)
    return listing(found) if name is None and not whole else book(found)


def records(name: str | None) -> list[dict[str, Any]]:
    return [
        {
            "name": part.label,
            "version": part.version,
            "licence": part.expression,
            "texts": [text.place for text in part.texts],
        }
        for part in _called(name)
    ]


def names(typed: str) -> list[str]:
    return sorted({part.name for part in shipped() if part.name.startswith(typed)})


def listing(found: Iterable[ShippedPart]) -> str:
    rows = [HEADINGS, *((part.label, part.version or "-", part.expression, _where(part)) for part in found)]
    wide = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join([*(f"{cell:<{wide[at]}}" for at, cell in enumerate(row[:3])), row[3]]) for row in rows)


def book(found: Iterable[ShippedPart]) -> str:
    """Return the parts' texts one after another, each once below the parts that it covers."""
    about: dict[str, list[str]] = {}
    for part in found:
        for text in part.texts:
            about.setdefault(text.words, []).append(f"{part.label} {part.version}".rstrip() + f": {part.expression}")
    return "\n\n".join("\n".join([LINE, *dict.fromkeys(whose), LINE, "", words]) for words, whose in about.items())


def _called(name: str | None) -> list[ShippedPart]:
    wanted = [part for part in shipped() if name is None or part.name == name.lower().replace("_", "-")]
    if not wanted:
        raise CommandFailed(f"no part is called {name!r}; `sanderling licences` lists them", Exit.USAGE)
    return wanted


def _where(part: ShippedPart) -> str:
    places = list(dict.fromkeys(text.place for text in part.texts))
    if len(places) > MANY:
        return f"{posixpath.commonpath(places)}/ ({len(part.texts)} texts)"
    return ", ".join(places) or "-"
