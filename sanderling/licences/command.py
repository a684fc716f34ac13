"""`sanderling licences`: the bundled parts, their licences and texts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Any

from sanderling.exits import CommandFailed, Exit
from sanderling.licences.parts import Part, parts
from sanderling.licences.table import FORMS
from sanderling.program import unpacked

HEADINGS = ("NAME", "VERSION", "LICENCE", "TEXT")
LINE = "=" * 80
MANY = 2


def show(name: str | None, *, whole: bool) -> str:
    """Return the list of parts, the texts of the named parts, or (`whole`) all texts. Raises CommandFailed."""
    found = _called(name)
    return listing(found) if name is None and not whole else book(found)


def records(name: str | None) -> list[dict[str, Any]]:
    """Return all parts, or the named ones, for JSON. Raises CommandFailed."""
    return [
        {
            "name": part.label,
            "version": part.version,
            "licence": part.expression,
            "texts": [t.place for t in part.texts],
        }
        for part in _called(name)
    ]


def _called(name: str | None) -> list[Part]:
    found = parts(FORMS if unpacked() is not None else ())
    wanted = [part for part in found if name is None or part.name == name.lower().replace("_", "-")]
    if not wanted:
        raise CommandFailed(f"no part is called {name!r}; `sanderling licences` lists them", Exit.USAGE)
    return wanted


def names(typed: str) -> list[str]:
    """Return the names of parts with this prefix."""
    return sorted({part.name for part in parts() if part.name.startswith(typed)})


def listing(found: Iterable[Part]) -> str:
    """Return a table of parts: name, version, SPDX expression, location of texts."""
    rows = [HEADINGS, *((part.label, part.version or "-", part.expression, _where(part)) for part in found)]
    wide = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join([*(f"{cell:<{wide[at]}}" for at, cell in enumerate(row[:3])), row[3]]) for row in rows)


def book(found: Iterable[Part]) -> str:
    """Return the parts' texts one after another, each once below the parts that it covers."""
    about: dict[str, list[str]] = {}
    for part in found:
        for text in part.texts:
            words = text.read().strip("\n") or f"{text.place} is not in this installation."
            about.setdefault(words, []).append(f"{part.label} {part.version}".rstrip() + f": {part.expression}")
    return "\n\n".join("\n".join([LINE, *dict.fromkeys(whose), LINE, "", words]) for words, whose in about.items())


def _where(part: Part) -> str:
    """Return the location of a part's texts; for many, their common folder and number."""
    places = [text.place for text in part.texts]
    if len(places) > MANY:
        return f"{posixpath.commonpath(places)}/ ({len(places)} texts)"
    return ", ".join(places) or "-"
