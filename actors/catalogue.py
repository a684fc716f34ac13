"""Catalogues: templates and kinds of destinations described in TOML files, built in or from a user's folder, read at
start.

A file becomes a record, or errors with place, reason and remedy. The standard library's TOML parser only reports lines
of syntax errors; for a semantic error the line is found afterwards, by table headers and the names before equals signs:
for anything more elaborate, the nearest certain line. A user's bad file hides no good one; a bad built-in one is our
own bug and stops the start.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from actors.errors import violation_of

_HEADER = re.compile(r"\s*\[\[?\s*([\w-]+)\s*\]\]?\s*(?:#.*)?")
_NAME = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*=")
_STEP = re.compile(r"([\w-]+)|\[(\d+)\]")


def line_of(text: str, place: str) -> int:
    r"""Return the line, from 1, of a place such as `sources[1].url`, or that of its table if it is missing.

    >>> line_of('id = "a"\n[[sources]]\nurl = "x"\n[[sources]]\ntype = "html"', "sources[1].type")
    5
    """
    steps = [name or int(number) for name, number in _STEP.findall(place)]
    line_number, table = 1, ("", 0)
    tables: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            table = (header[1], tables[header[1]])
            tables[header[1]] += 1
            if steps[:2] == [*table] or steps[:1] == [table[0]] == steps:
                line_number = number
        elif named := _NAME.match(line):
            here = [*table, named[1]] if table[0] else [named[1]]
            if steps[: len(here)] == here:
                return number
    return line_number


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
    """Return a file's record. `file`: its name for errors. check: yields places and sentences for mistakes in a record
    of the right shape. choices: the permitted values in a table, by its name, for errors. Raises BadFile.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile([syntax_flaw(str(error), text, file)]) from None
    try:
        record = msgspec.convert(tree, shape)
    except msgspec.ValidationError as error:
        violation = violation_of(error)
        place = violation.path.lstrip(".")
        reason = _FIELDS.get(violation.rule) or violation.says[:1].lower() + violation.says[1:]
        if violation.rule == "choice":
            reason += choices.get(place.partition("[")[0], "")
        raise BadFile([Flaw(file, line_of(text, place), f"{place}: {reason}" if place else reason)]) from None
    flaws = [Flaw(file, line_of(text, place), f"{place}: {reason}") for place, reason in check(record)]
    if flaws:
        raise BadFile(sorted(flaws))
    return record


def syntax_flaw(message: str, text: str, file: str) -> Flaw:
    match = _SYNTAX.fullmatch(message)
    line = int(match["line"]) if match and match["line"] else len(text.splitlines())
    at = f" at column {match['column']}" if match and match["column"] else " at its end"
    return Flaw(file, max(1, line), f"not TOML: {match['says'] if match else message}{at}")


LARGEST = 256 << 10  # bytes of one file
MOST_FILES = 500
BUILT_IN = "built in"


class Named(Protocol):
    """A record with an id."""

    @property
    def id(self) -> str: ...


N = TypeVar("N", bound=Named)


class Entry(NamedTuple, Generic[N]):
    """A record and its origin: `built in`, or the name of a file."""

    record: N
    origin: str


class Catalogue(Generic[N]):
    """Records by id, the built-in ones first, then in the order of their files; and the flaws of other files."""

    def __init__(self, entries: Sequence[Entry[N]], flaws: Sequence[Flaw] = ()) -> None:
        self._entries = {entry.record.id: entry for entry in entries}
        self.flaws = tuple(flaws)

    def get(self, name: str) -> N | None:
        entry = self._entries.get(name)
        return None if entry is None else entry.record

    def entries(self) -> Sequence[Entry[N]]:
        return tuple(self._entries.values())

    def __iter__(self) -> Iterator[N]:
        return (entry.record for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<Catalogue {len(self)} records, {len(self.flaws)} flaws>"


class Reader(NamedTuple, Generic[N]):
    """The reader of one sort of file. noun: for errors. read: raises BadFile."""

    noun: str
    package: str
    folder: str
    read: Callable[[str, str], N]

    @cache  # noqa: B019  readers are constants
    def built_in(self) -> Catalogue[N]:
        """Return the built-in records. Raises BadFile, which is a bug of ours."""
        found = sorted(files(self.package).joinpath(self.folder).iterdir(), key=lambda item: item.name)
        texts = ((item.name, item.read_text("utf-8")) for item in found if item.name.endswith(".toml"))
        return Catalogue([Entry(self.read(text, name), BUILT_IN) for name, text in texts])

    def with_folder(self, folder: Path) -> Catalogue[N]:
        """Return the built-in records and those of a folder's *.toml files. Raises OSError if it can't be listed."""
        entries = {entry.record.id: entry for entry in self.built_in().entries()}
        flaws: list[Flaw] = []
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml" and not path.name.startswith("."))
        for path in paths[:MOST_FILES]:
            try:
                text = self._text_of(path)
                record = self.read(text, path.name)
                if taken := entries.get(record.id):
                    built_in = taken.origin == BUILT_IN
                    owner = f"a built-in {self.noun}" if built_in else f"the {self.noun} of {taken.origin}"
                    reason = f"id: {record.id} is {owner}: choose another id"
                    raise BadFile([Flaw(path.name, line_of(text, "id"), reason)])
            except BadFile as error:
                flaws += error.flaws
            else:
                entries[record.id] = Entry(record, path.name)
        flaws += [Flaw(path.name, 0, f"not read: at most {MOST_FILES} files") for path in paths[MOST_FILES:]]
        return Catalogue(list(entries.values()), flaws)

    def _text_of(self, path: Path) -> str:
        """Return a file's text. Raises BadFile if it can't be read."""
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
            text = data.decode("utf-8")
        except OSError as error:
            raise BadFile([Flaw(path.name, 0, f"can't be read: {error.strerror or error}")]) from None
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise BadFile([Flaw(path.name, line, "not UTF-8: save the file as UTF-8")]) from None
        if len(data) > LARGEST:
            raise BadFile([Flaw(path.name, 0, f"larger than {LARGEST >> 10} KiB: a {self.noun} is a page of text")])
        return text
