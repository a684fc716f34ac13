"""From the text of a TOML file to a template, or to what is wrong with it: where, why, and what to do. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from actors.templates.checks import check
from actors.templates.lines import line_of
from actors.templates.template import Template

_AT = re.compile(r"(?P<says>.*?)(?: - at `\$(?P<path>[^`]*)`)?", re.DOTALL)
_FIELD = re.compile(r"(unknown|required) field `([^`]*)`")
_SYNTAX = re.compile(r"(?P<says>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)
_KINDS = {
    "parameters": ": write domain or string",
    "sources": ": write push, feed or html",
    "alerts": ": write change, added, removed or page",
}


class Flaw(NamedTuple):
    """One thing that is wrong with a file; line 0 is the file as a whole."""

    file: str
    line: int
    says: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.says}" if self.line else f"{self.file}: {self.says}"


class BadTemplate(Exception):
    """A file is no template; `flaws` are all that was found, in the order of the lines."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__("; ".join(map(str, flaws)))
        self.flaws = tuple(flaws)


def read_template(text: str, file: str) -> Template:
    """Return the template that a file holds; `file` is its name for the errors. Raises BadTemplate."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadTemplate([_syntax_flaw(str(error), text, file)]) from None
    try:
        template = msgspec.convert(tree, Template)
    except msgspec.ValidationError as error:
        place, says = _explained(str(error))
        raise BadTemplate([Flaw(file, line_of(text, place), f"{place}: {says}" if place else says)]) from None
    flaws = [Flaw(file, line_of(text, place), f"{place}: {says}") for place, says in check(template)]
    if flaws:
        raise BadTemplate(sorted(flaws))
    return template


def _syntax_flaw(message: str, text: str, file: str) -> Flaw:
    found = _SYNTAX.fullmatch(message)
    line = int(found["line"]) if found and found["line"] else len(text.splitlines())
    at = f" at column {found['column']}" if found and found["column"] else " at its end"
    return Flaw(file, max(1, line), f"not TOML: {found['says'] if found else message}{at}")


def _explained(message: str) -> tuple[str, str]:
    """Return the place and the sentence of a message of msgspec."""
    found = _AT.fullmatch(message)
    assert found is not None  # the expression matches every text
    place, says = (found["path"] or "").lstrip("."), found["says"]
    if field := _FIELD.search(says):
        place = ".".join(filter(None, (place, field[2])))
        what = "there is no such field: take it out" if field[1] == "unknown" else "is missing: add it"
        return place, what
    says = says[:1].lower() + says[1:]
    return place, says + _KINDS.get(place.partition("[")[0], "") if says.startswith("invalid enum") else says
