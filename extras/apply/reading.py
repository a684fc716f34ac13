"""Read a folder of files: the wanted records, and all errors in all files. Reads no clock.

TOML tables written, and the places of values in a file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from actors.catalogue import Flaw, syntax_flaw
from actors.errors import Violation, violation_of
from actors.settings import Settings
from extras.apply import groups, people
from extras.apply.groups import BadFiles, DesiredState, Group
from extras.apply.kinds.destinations import BETWEEN, DESTINATIONS
from extras.apply.kinds.kind import PART, DesiredRecord, FilePlace, Kind, Reference, Secret, flaw_of, looked_up
from extras.apply.kinds.sources import SOURCES
from extras.apply.kinds.table import KINDS
from extras.apply.people import PEOPLE, PersonKind
from storage.records.access import Role
from storage.records.identity import Workspace

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def key_of(name: str) -> str:
    """Return a key, quoted if necessary.

    >>> key_of("day-tickets"), key_of("no. 5")
    ('day-tickets', '"no. 5"')
    """
    return name if _BARE.fullmatch(name) else text_of(name)


def text_of(text: str) -> str:
    """Quote text; several lines become a multi-line string.

    >>> text_of("ten\\nlines").splitlines()
    ['\"\"\"', 'ten', 'lines\"\"\"']
    """
    several = "\n" in text and "\\" not in text
    return f'"""\n{_quoted(text)[1:-1].replace(chr(92) + "n", chr(10))}"""' if several else _quoted(text)


def _quoted(text: str) -> str:
    """Quote as in JSON, which equals TOML except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value_of(value: Any) -> str:
    """Return a value as TOML.

    >>> value_of(True), value_of(("a", "b")), value_of({"env": "X"}), value_of(0.5)
    ('true', '["a", "b"]', '{ env = "X" }', '0.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(name)} = {value_of(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_quoted(one) if isinstance(one, str) else value_of(one) for one in value) + "]"
    return repr(value)


_HEADER = re.compile(r"\s*\[+([^\]]*)\]")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[=.]""")
_STEP = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))\s*(?:\.|$)""")


def line_of(text: str, table: str, key: str = "") -> int:
    """Return the line (from 1) of a key in a table such as `sources.day-tickets`; without the key, the line of the
    table's header; else 0.

    >>> line_of('a = 1\\n[sources."x"]\\nurl = 2\\n[sources.y]\\nurl = 3\\ntags = []', "sources.y", "tags")
    6
    """
    found, inside = 0, not table
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            inside = ".".join(_one(step.groups()) for step in _STEP.finditer(header[1])) == table
            found = number if inside and not found else found
        elif inside and key and (named := _KEY.match(line)) and _one(named.groups()) == key:
            return number
    return found


def _one(groups: tuple[str | None, ...]) -> str:
    return next((group for group in groups if group is not None), "")


LARGEST = 32 << 20  # maximum bytes per file
MOST_FILES = 1000
MOST_FLAWS = 100  # maximum flaws listed; the rest is only counted
WORKSPACE = "workspace"
TableKind = Kind | groups.GroupKind | PersonKind
TABLES: Mapping[str, TableKind] = {**KINDS, groups.TEMPLATES: groups.KIND, PEOPLE: people.KIND}
SETTING = (
    "is a setting of the service, which reads it at its start: set it there (docs/settings.md), and start it again; "
    "files describe objects that can change while it runs"
)
_UNKNOWN = "there is no such key"


def read_folder(
    folder: Path, variables: Mapping[str, str], workspace: str | None = None, *, called: str = ""
) -> DesiredState:
    """Read all *.toml files, recursively. called: the workspace if nothing names one. Raises BadFiles, OSError."""
    found = sorted(folder.rglob("*.toml"))
    paths = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    texts, flaws = dict[str, str](), list[Flaw]()
    for path in paths[:MOST_FILES]:
        name = path.relative_to(folder).as_posix()
        try:
            texts[name] = _text_of(path)
        except ValueError as error:
            flaws.append(Flaw(name, 0, str(error)))
    flaws += [Flaw(path.name, 0, f"not read: at most {MOST_FILES} files") for path in paths[MOST_FILES:]]
    reader = _Reader(texts, folder, variables, workspace)
    reader.read(called)
    if flaws or reader.flaws:
        raise BadFiles([*flaws, *reader.flaws])
    return DesiredState(reader.workspace, reader.wanted, reader.groups, reader.people)


def _is_setting(key: str) -> bool:
    """Return whether a key is a service setting, or the first part of one, as in the table `[retention]`."""
    names = Settings.__dataclass_fields__
    return key == "settings" or key in names or any(name.startswith(f"{key}_") for name in names)


def _text_of(path: Path) -> str:
    with path.open("rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"larger than {LARGEST >> 20} MiB: cut it into several files")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(f"line {line} is not UTF-8: save the file as UTF-8") from None


class _Reader:
    """Reads files one after the other and collects flaws."""

    def __init__(self, texts: Mapping[str, str], folder: Path, variables: Mapping[str, str], said: str | None) -> None:
        self._texts, self._folder, self._variables = texts, folder, variables
        self.workspace = said or ""
        self.flaws: list[Flaw] = []
        self.wanted: dict[str, list[DesiredRecord]] = {kind: [] for kind in KINDS}
        self._places: dict[tuple[str, str], FilePlace] = {}
        self._tables: dict[str, dict[str, tuple[FilePlace, Any]]] = {kind: {} for kind in TABLES}
        self._used = set[str]()
        self.groups: list[Group] = []
        self.people: dict[str, Role] = {}

    def read(self, called: str) -> None:
        for file, text in self._texts.items():
            try:
                tree = tomllib.loads(text)
            except (tomllib.TOMLDecodeError, RecursionError) as error:
                self.flaws.append(syntax_flaw(str(error), text, file))
            else:
                self._file(file, tree)
        self.workspace = self.workspace or (called if self._texts else "")
        if not (self.workspace or self.flaws):
            says = f'no file says whose files these are: write `{WORKSPACE} = "NAME"` at the top of one of them'
            none = "it has no *.toml files; to empty a workspace, name it with --workspace"
            self.flaws.append(Flaw(next(iter(self._texts), str(self._folder)), 0, says if self._texts else none))
        for kind in KINDS.values():
            if kind.id != DESTINATIONS:
                self.wanted[kind.id] = [
                    kind.wanted(name, place, table, self._finder(place))
                    for name, (place, table) in self._tables[kind.id].items()
                ]
        self.people = {email: table.role for email, (_, table) in self._tables[PEOPLE].items()}
        self._destinations()
        self._references()
        for kind in KINDS.values():
            for wanted in self.wanted[kind.id]:
                if says := kind.flaw(wanted.values):
                    self._flaw(wanted.place, "", says)

    def _file(self, file: str, tree: Mapping[str, Any]) -> None:
        for key, value in tree.items():
            if key == WORKSPACE:
                self._workspace(file, value)
            elif key not in TABLES and _is_setting(key):
                self._flaw(FilePlace(file, ""), key, SETTING, table=key)
            elif key not in TABLES:
                near = _nearest(key, (*TABLES, WORKSPACE))
                self._flaw(FilePlace(file, ""), key, f"{_UNKNOWN}{near}", table=key)
            elif not isinstance(value, dict):
                self._flaw(FilePlace(file, ""), key, f"write it as tables with names: [{key}.NAME]")
            else:
                for name, table in value.items():
                    self._table(TABLES[key], name, table, FilePlace(file, f"{key}.{name}"))

    def _workspace(self, file: str, value: object) -> None:
        try:
            name = msgspec.convert(value, Workspace)
        except msgspec.ValidationError:
            says = f"{WORKSPACE}: at most 63 of a-z, 0-9, - and _, with a letter or a digit first"
            self.flaws.append(Flaw(file, line_of(self._texts[file], "", WORKSPACE), says))
            return
        if self.workspace not in ("", name):
            says = f"{WORKSPACE}: is {name} here and {self.workspace} elsewhere: one folder has one"
            self.flaws.append(Flaw(file, line_of(self._texts[file], "", WORKSPACE), says))
        self.workspace = self.workspace or name

    def _table(self, kind: TableKind, name: str, tree: object, place: FilePlace) -> None:
        if says := kind.flaw_of_name(name):
            return self._flaw(place, "", says)
        if not isinstance(tree, dict):
            return self._flaw(FilePlace(place.file, kind.id), name, f"write it as a table: [{place.table}]")
        if (kind.id, name) in self._places:
            other = self._places[kind.id, name]
            where = f"{other.file}:{line_of(self._texts[other.file], other.table)}"
            return self._flaw(place, "", f"is in {where} as well: one of the two needs another name")
        self._places[kind.id, name] = place
        try:
            table = msgspec.convert(tree, kind.table)
        except msgspec.ValidationError:
            for key, shown, says in _wrong(kind.table, tree):
                self._flaw(place, key, says, shown=shown)
        else:
            self._tables[kind.id][name] = (place, table)

    def _finder(self, place: FilePlace) -> Any:
        def find(field: str, reference: Reference) -> Secret:
            says = flaw_of(reference)
            try:
                secret = Secret(None, "") if says else looked_up(reference, self._folder, self._variables)
            except ValueError as error:
                says = str(error)
            if says:
                self._flaw(place, field.partition(PART)[0], says, shown=field)
                return Secret(None, "")
            return secret

        return find

    def _destinations(self) -> None:
        self.groups = [
            Group(name, place, line_of(self._texts[place.file], place.table), table, self._told(place, table))
            for name, (place, table) in self._tables[groups.TEMPLATES].items()
        ]
        for alert in self.wanted["alerts"]:
            for made in self._named(alert.place, alert.values.pop(DESTINATIONS, ())):
                at = f"{alert.name}{BETWEEN}{made.name}"
                self.wanted[DESTINATIONS].append(made._replace(name=at, values={**made.values, "alert": alert.name}))
        for name, (place, _) in self._tables[DESTINATIONS].items():
            if name not in self._used:
                self._flaw(place, "", "no alert names it: write its name into an alert's `destinations`")

    def _told(self, place: FilePlace, table: groups.TemplateTable) -> Sequence[DesiredRecord]:
        if table.destinations and not table.alerts:
            self._flaw(place, "destinations", "it has no alerts for them: write `alerts = true`")
        return self._named(place, table.destinations)

    def _named(self, place: FilePlace, names: Iterable[str]) -> Sequence[DesiredRecord]:
        """Return the destinations of these names, before they belong to an alert."""
        found = []
        for name in dict.fromkeys(names):
            self._used.add(name)
            if name in self._tables[DESTINATIONS]:
                at, table = self._tables[DESTINATIONS][name]
                found.append(KINDS[DESTINATIONS].wanted(name, at, table, self._finder(at)))
            elif (DESTINATIONS, name) not in self._places:
                says = f"there is no [destinations.{name}] in these files{self._near(DESTINATIONS, name)}"
                self._flaw(place, "destinations", says)
        return found

    def _references(self) -> None:
        """Reject unknown names of alerts and sources; a URL may belong to an existing source."""
        for kind in KINDS.values():
            for wanted in self.wanted[kind.id]:
                for field, of in kind.refers.items():
                    given = wanted.values[field]
                    for name in (given,) if isinstance(given, str) else given:
                        if (of, name) not in self._places and not (of == SOURCES and self._means_sources(name)):
                            url = ", or write the URL of an existing source" if of == SOURCES else ""
                            says = f"there is no [{of}.{name}] in these files{self._near(of, name)}{url}"
                            self._flaw(wanted.place, field, says)

        for name, (place, _) in self._tables[groups.TEMPLATES].items():
            if (SOURCES, name) in self._places:
                self._flaw(place, "", f"there is a [sources.{name}] as well: one of the two needs another name")

    def _means_sources(self, name: str) -> bool:
        """Return whether a name means sources outside the files' tables: a URL, or a group."""
        return "://" in name or (groups.TEMPLATES, name.partition(groups.OF)[0]) in self._places

    def _near(self, kind: str, name: str) -> str:
        return _nearest(name, [known for of, known in self._places if of == kind])

    def _flaw(self, place: FilePlace, key: str, says: str, *, table: str = "", shown: str = "") -> None:
        text = self._texts[place.file]
        line = line_of(text, place.table, key) or _first_with(text, table)
        named = ".".join(filter(None, (place.table, shown or key)))
        self.flaws.append(Flaw(place.file, line, f"{named}: {says}" if named else says))


def _first_with(text: str, table: str) -> int:
    """Return the first line of a table or one of its subtables."""
    begins = re.compile(rf"\s*\[+\s*[\"']?{re.escape(table)}[\"']?\s*[.\]]") if table else None
    for number, line in enumerate(text.splitlines(), 1):
        if begins is not None and begins.match(line):
            return number
    return 0


_ALIASES: Final = {"interval": "schedule", "threshold": "bar", "name": "title"}  # what people call some keys


def _nearest(name: str, known: Sequence[str] | Mapping[str, object]) -> str:
    meant = _ALIASES.get(name, name)
    near = [meant] if meant in known else get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def _wrong(shape: type[Struct], tree: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    types = get_type_hints(shape, include_extras=True)
    for key, value in tree.items():
        if key not in types:
            near = _nearest(key, types) or f"; there are: {', '.join(types)}"
            yield key, key, f"{_UNKNOWN}{near}"
            continue
        try:
            msgspec.convert(value, types[key])
        except msgspec.ValidationError as error:
            found = violation_of(error)
            path = found.inside.replace("[...]", "")
            yield key, f"{key}{path}", _said(found, _type_at(types[key], path))
    for field in msgspec.structs.fields(shape):
        if field.required and field.name not in tree:
            yield field.name, field.name, "is missing: add it"


def _said(found: Violation, type_: object) -> str:
    if Reference in _shapes(type_) and found.says == "Expected `object`, got `str`":
        return 'a secret does not belong into a file: write { env = "NAME" } or { file = "path" }'
    if found.rule == "unknown":
        known = ", ".join(field.encode_name for shape in _shapes(type_) for field in _fields(shape))
        return f"{_UNKNOWN}: {found.field}; there are: {known}"
    if found.rule == "choice":
        return f"must be one of: {', '.join(map(str, _choices(type_)))}"
    form = next((str(meta.extra["form"]) for meta in _metas(type_) if meta.extra and "form" in meta.extra), "")
    if form and found.rule == "pattern":
        return f"must be {form}"
    said = re.sub(
        "`([a-z| ]+)`", lambda kinds: " or ".join(_WORDS.get(one, one) for one in kinds[1].split(" | ")), found.says
    )
    return f"{said[:1].lower()}{said[1:]}"


def _type_at(type_: object, path: str) -> object:
    for step in re.findall(r"\.([\w-]+)", path):
        fields = (field for shape in _shapes(type_) for field in _fields(shape))
        type_ = next((field.type for field in fields if field.encode_name == step), type_)
    return type_


_WORDS: Mapping[str, str] = {
    "object": "a table",
    "array": "a list",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}


def _inside(type_: object) -> Iterator[object]:
    yield type_
    for part in getattr(type_, "__args__", ()):
        yield from _inside(part)


def _shapes(type_: object) -> list[type[Struct]]:
    return [one for one in _inside(type_) if isinstance(one, type) and issubclass(one, Struct)]


def _fields(shape: type[Struct]) -> Sequence[msgspec.structs.FieldInfo]:
    return msgspec.structs.fields(shape)


def _choices(type_: object) -> list[object]:
    return [choice for one in _inside(type_) if get_origin(one) is Literal for choice in get_args(one)]


def _metas(type_: object) -> Iterator[msgspec.Meta]:
    for one in _inside(type_):
        yield from getattr(one, "__metadata__", ())


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one file, for editors."""
    tables = {kind.id: kind.table for kind in TABLES.values()}
    found, components = msgspec.json.schema_components([*tables.values(), Workspace], ref_template="#/$defs/{name}")
    properties: dict[str, Any] = {"workspace": found[-1]}
    for kind, of in zip(TABLES.values(), found, strict=False):
        says = f"Each {kind.noun}, by its name."
        properties[kind.id] = {"type": "object", "description": says, "additionalProperties": of}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of Sanderling",
        "description": "One of the TOML files of a folder that `sanderling apply` reads.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": dict(sorted(components.items())),
    }


def as_text() -> str:
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"
