"""A catalogue: the records of the built-in files, and those of a user's folder.

Read once, at start. A user's bad file hides no good one; a bad built-in one is our own bug and stops the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from actors.catalogue.reading import BadFile, Flaw, line_of

LARGEST = 256 << 10
"""Bytes of one file."""
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
                    says = f"id: {record.id} is {owner}: choose another id"
                    raise BadFile([Flaw(path.name, line_of(text, "id"), says)])
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
            says = f"larger than {LARGEST >> 10} KiB: a {self.noun} is a page of text"
            raise BadFile([Flaw(path.name, 0, says)])
        return text
