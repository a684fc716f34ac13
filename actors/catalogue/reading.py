"""Parsing of a TOML file into a record, or errors with place, reason and remedy. Pure.

The standard library's TOML parser only reports lines of syntax errors. For a semantic error the line is found
afterwards, by table headers and the names before equals signs. That works for files written as documented; for
anything more elaborate it returns the nearest certain line.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from actors.errors import Violation, violation_of

_HEADER = re.compile(r"\s*\[\[?\s*([\w-]+)\s*\]\]?\s*(?:#.*)?")
_NAME = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*=")
_STEP = re.compile(r"([\w-]+)|\[(\d+)\]")


def line_of(text: str, place: str) -> int:
    r"""Return the line, from 1, of a place such as `sources[1].url`, or that of its table if it is missing.

    >>> line_of('id = "a"\n[[sources]]\nurl = "x"\n[[sources]]\ntype = "html"', "sources[1].type")
    5
    """
    steps = [name or int(number) for name, number in _STEP.findall(place)]
    found, table = 1, ("", 0)
    seen: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            table = (header[1], seen[header[1]])
            seen[header[1]] += 1
            if steps[:2] == [*table] or steps[:1] == [table[0]] == steps:
                found = number
        elif (named := _NAME.match(line)) and _leads_to(table, named[1], steps):
            return number
    return found


def _leads_to(table: tuple[str, int], name: str, steps: Sequence[str | int]) -> bool:
    """Return whether `name` in a table is the place, or contains it."""
    return steps[:1] == [name] if not table[0] else steps[:3] == [*table, name]


T = TypeVar("T")
_FIELDS = {"unknown": "there is no such field: take it out", "required": "is missing: add it"}
_SYNTAX = re.compile(r"(?P<says>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)


class Flaw(NamedTuple):
    """One mistake in a file; line 0 is the file as a whole."""

    file: str
    line: int
    says: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.says}" if self.line else f"{self.file}: {self.says}"


class BadFile(Exception):
    """A file has no valid record; `flaws` are all mistakes, in the order of the lines."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__("; ".join(map(str, flaws)))
        self.flaws = tuple(flaws)


def read_file(
    text: str,
    file: str,
    shape: type[T],
    check: Callable[[T], Iterable[tuple[str, str]]],
    choices: Mapping[str, str] = {},
) -> T:
    """Return a file's record; `file` is its name for errors. Raises BadFile.

    check: yields places and sentences for mistakes in a record of the right shape. choices: the permitted values in a
    table, by its name, for errors.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile([syntax_flaw(str(error), text, file)]) from None
    try:
        record = msgspec.convert(tree, shape)
    except msgspec.ValidationError as error:
        place, says = _explained(violation_of(error), choices)
        raise BadFile([Flaw(file, line_of(text, place), f"{place}: {says}" if place else says)]) from None
    flaws = [Flaw(file, line_of(text, place), f"{place}: {says}") for place, says in check(record)]
    if flaws:
        raise BadFile(sorted(flaws))
    return record


def syntax_flaw(message: str, text: str, file: str) -> Flaw:
    """Return the flaw for the parser's message about invalid TOML."""
    found = _SYNTAX.fullmatch(message)
    line = int(found["line"]) if found and found["line"] else len(text.splitlines())
    at = f" at column {found['column']}" if found and found["column"] else " at its end"
    return Flaw(file, max(1, line), f"not TOML: {found['says'] if found else message}{at}")


def _explained(found: Violation, choices: Mapping[str, str]) -> tuple[str, str]:
    """Return the place and the sentence for a violation."""
    place = found.path.lstrip(".")
    says = _FIELDS.get(found.rule) or found.says[:1].lower() + found.says[1:]
    return place, says + choices.get(place.partition("[")[0], "") if found.rule == "choice" else says
