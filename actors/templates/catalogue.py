"""All templates that can be instantiated: the built-in ones, and those of a user's folder.

Read once, at start. A bad file of a user hides no good one; a bad built-in one is our own bug and ends the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from actors.templates.lines import line_of
from actors.templates.reading import BadTemplate, Flaw, read_template
from actors.templates.template import Template

LARGEST = 256 << 10
"""Bytes of one file."""
MOST_FILES = 500
BUILT_IN = "built in"


@dataclass(frozen=True, slots=True)
class Entry:
    """A template and where it is from: `built in`, or the name of a file."""

    template: Template
    origin: str


class Catalogue:
    """Templates by id, the built-in ones first, then in the order of their files; and the flaws of other files."""

    def __init__(self, entries: Sequence[Entry], flaws: Sequence[Flaw] = ()) -> None:
        self._entries = {entry.template.id: entry for entry in entries}
        self.flaws = tuple(flaws)

    def get(self, name: str) -> Template | None:
        entry = self._entries.get(name)
        return None if entry is None else entry.template

    def entries(self) -> Sequence[Entry]:
        return tuple(self._entries.values())

    def __iter__(self) -> Iterator[Template]:
        return (entry.template for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<Catalogue {len(self)} templates, {len(self.flaws)} flaws>"


def built_in() -> Catalogue:
    """Return the templates of the contract. Raises BadTemplate, which is a bug of ours."""
    found = sorted(files(__package__).joinpath("builtin").iterdir(), key=lambda item: item.name)
    return Catalogue([Entry(read_template(item.read_text("utf-8"), item.name), BUILT_IN) for item in found])


def with_folder(folder: Path) -> Catalogue:
    """Return the built-in templates and those of a folder's *.toml files. Raises OSError when it can't be listed."""
    entries = {entry.template.id: entry for entry in built_in().entries()}
    flaws: list[Flaw] = []
    paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml" and not path.name.startswith("."))
    for path in paths[:MOST_FILES]:
        try:
            text = _text_of(path)
            template = read_template(text, path.name)
            if taken := entries.get(template.id):
                owner = "a built-in template" if taken.origin == BUILT_IN else f"the template of {taken.origin}"
                says = f"id: {template.id} is {owner}: choose another id"
                raise BadTemplate([Flaw(path.name, line_of(text, "id"), says)])
        except BadTemplate as error:
            flaws += error.flaws
        else:
            entries[template.id] = Entry(template, path.name)
    flaws += [Flaw(path.name, 0, f"not read: at most {MOST_FILES} files") for path in paths[MOST_FILES:]]
    return Catalogue(list(entries.values()), flaws)


def _text_of(path: Path) -> str:
    """Return what a file holds. Raises BadTemplate for one that can't be read."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise BadTemplate([Flaw(path.name, 0, f"can't be read: {error.strerror or error}")]) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadTemplate([Flaw(path.name, line, "not UTF-8: save the file as UTF-8")]) from None
    if len(data) > LARGEST:
        raise BadTemplate([Flaw(path.name, 0, f"larger than {LARGEST >> 10} KiB: a template is a page of text")])
    return text
