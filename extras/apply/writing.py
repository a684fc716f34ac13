"""Write a service as files for `sanderling apply`. Pure except for `write`.

Records with the workspace's mark keep their names; unmarked ones get one. Secrets are left out: the files name a
variable for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from extras.apply.folding import Table, folded, template_tags
from extras.apply.groups import TEMPLATES, TemplateTable
from extras.apply.kinds.alerts import ALERTS
from extras.apply.kinds.destinations import BETWEEN, DESTINATIONS, OPTIONS
from extras.apply.kinds.kind import Kind, Names, There
from extras.apply.kinds.sources import SOURCES
from extras.apply.kinds.table import KINDS
from extras.apply.reading import WORKSPACE
from extras.apply.sides import State
from extras.apply.toml import key_of, value_of
from sanderling.exits import CommandFailed, Exit

LONGEST = 60
"""Maximum letters of a generated name."""
_HEAD = "# Written by `sanderling export --as-config`; `sanderling apply` reads it."
_VARIABLES = "# These variables have to be set where it is applied, to what lets in:"


class Written(NamedTuple):
    """Files by name, the variables they use, and the number of records per kind."""

    files: Mapping[str, str]
    variables: Sequence[str]
    counts: Mapping[str, int]


def written(state: State, workspace: str) -> Written:
    """Return the files of all records that belong to the workspace or to none."""
    writer = _Writer(state, workspace)
    tables, together = dict[str, list[Table]](), dict[str, list[str]]()
    for kind in KINDS.values():
        tables[kind.id] = writer.tables(kind)
        if kind.id == DESTINATIONS:
            tables[kind.id] = writer.merged(tables[ALERTS], tables[kind.id])
        together.setdefault(kind.file, []).append(kind.id)
    attached = {one.id: template_tags(one.tags) for one in state.records[SOURCES]}
    folded(tables, attached, state.templates)
    together[KINDS[SOURCES].file].append(TEMPLATES)
    files = {}
    for number, (file, kinds) in enumerate(together.items()):
        some = [(kind, table) for kind in kinds for table in tables[kind]]
        if some or not number:
            head = [_HEAD, *writer.head(kinds), *([f"\n{WORKSPACE} = {value_of(workspace)}"] if not number else [])]
            files[file] = "\n".join([*head, *(line for kind, table in some for line in _lines(kind, table))]) + "\n"
    return Written(files, [name for kind in KINDS for name in writer.variables[kind]], _counts(tables))


def _counts(tables: Mapping[str, Sequence[Table]]) -> Mapping[str, int]:
    return {kind: len(found) for kind, found in tables.items()}


def _lines(kind: str, table: Table) -> Iterator[str]:
    yield f"\n[{kind}.{key_of(table.name)}]"
    order = (TemplateTable if kind == TEMPLATES else KINDS[kind].table).__struct_fields__
    for name in sorted(table.fields, key=order.index):
        yield f"{name} = {value_of(table.fields[name])}"


class _Writer:
    """Makes tables from records, kind by kind."""

    def __init__(self, state: State, workspace: str) -> None:
        self._state, self._workspace = state, workspace
        self._names = Names()
        self._taken: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self._destinations = set[str]()
        self.variables: dict[str, list[str]] = {kind: [] for kind in KINDS}

    def merged(self, alerts: Sequence[Table], destinations: Sequence[Table]) -> list[Table]:
        """Return each destination once, and register its name in the files."""
        found, names = _merged(alerts, destinations)
        self._destinations = {one.name for one in found}
        for id, name in names.items():
            self._names.put(DESTINATIONS, id, name)
        return found

    def head(self, kinds: Sequence[str]) -> Iterator[str]:
        """Yield the comment lines that list a file's variables."""
        names = sorted(name for kind in kinds for name in self.variables.get(kind, ()))
        if names:
            yield _VARIABLES
            yield from (f"#   {name}" for name in names)

    def tables(self, kind: Kind) -> list[Table]:
        there = [kind.there(record, self._names) for record in self._state.records[kind.id]]
        mine = [one for one in there if one.mark is None or one.mark.workspace == self._workspace]
        mine.sort(key=lambda one: (one.mark is None, one.record.created_at, one.record.id))
        found = []
        for one in mine:
            name = self._name(kind, one)
            fields = self._fields(kind, name, one)
            if kind.flaw({**kind.defaults, **fields}):
                continue  # nothing of it is left in these files
            self._taken[kind.id].add(name)
            found.append(Table(name, fields, one.record.id))
            kind.put(self._names, one.record.id, name)
        known = {one.record.id for one in mine}
        for one in there if kind.id == SOURCES else ():
            if one.record.id not in known:
                self._names.put(kind.id, one.record.id, one.values["url"])
        return sorted(found, key=lambda table: table.name)

    def _name(self, kind: Kind, one: There) -> str:
        if not kind.itself:
            return one.known_as or self._new_name(kind, one)
        known = kind.spelt({**kind.defaults, kind.named: one.known_as})
        return one.known_as if known[kind.named] == one.values[kind.named] else kind.called(one.values)

    def _new_name(self, kind: Kind, one: There) -> str:
        taken = self._taken[kind.id]
        stem = slug(kind.called(one.values)) or kind.noun
        names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
        name = next(name for name in names if name not in taken)
        return name if kind.id != DESTINATIONS else f"{one.values['alert']}{BETWEEN}{name}"

    def _fields(self, kind: Kind, name: str, one: There) -> dict[str, Any]:
        fields = {
            field: value
            for field, value in one.values.items()
            if value is not None and (field not in kind.defaults or value != kind.defaults[field])
        }
        if kind.named and (kind.itself or fields.get(kind.named) == name):
            del fields[kind.named]
        if DESTINATIONS in kind.refers.values():  # those of other files, or of none, have no name here
            kept = [name for name in fields.pop(DESTINATIONS, ()) if name in self._destinations]
            fields |= {DESTINATIONS: kept} if kept else {}
        fields = {field: value for field, value in fields.items() if field not in kind.trimmed(one.record, one.values)}
        for field in sorted(one.sealed):
            fields[field] = {"env": self._variable(kind, name, field)}
        options = {field: fields.pop(field) for field in sorted(fields) if field.startswith(OPTIONS)}
        if options:
            fields["options"] = {field.removeprefix(OPTIONS): value for field, value in options.items()}
        return fields

    def _variable(self, kind: Kind, name: str, field: str) -> str:
        stem = re.sub(r"[^A-Z0-9]+", "_", f"{name}_{field.removeprefix(OPTIONS)}".upper()).strip("_")
        stem = f"{kind.noun.upper()}_{stem}" if stem[:1].isdigit() or stem.startswith("SANDERLING") else stem
        while stem in self.variables[kind.id]:
            stem += "_"
        self.variables[kind.id].append(stem)
        return stem


def _merged(alerts: Sequence[Table], destinations: Sequence[Table]) -> tuple[list[Table], dict[str, str]]:
    """Merge destinations of several alerts with equal name and fields into one table.

    Also return the name for each id; "" if its alert belongs to other files.
    """
    found, names = dict[str, Table](), dict[str, str]()
    by_alert = {alert.name: alert for alert in alerts}
    for one in destinations:
        fields = {name: value for name, value in one.fields.items() if name != "alert"}
        alert = by_alert.get(one.fields["alert"])
        if alert is None:
            names[one.id] = ""
            continue
        stem = name = one.name.partition(BETWEEN)[2]
        number = 1
        while name in found and found[name].fields != fields:
            number += 1
            name = f"{stem}-{number}"
        found[name], names[one.id] = Table(name, fields), name
        alert.fields.setdefault(DESTINATIONS, []).append(name)
    return [found[name] for name in sorted(found)], names


def slug(text: str) -> str:
    """Make a name from a text.

    >>> slug("shore.example/Prices?x=1"), slug("---")
    ('shore-example-prices-x-1', '')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST].strip("-")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder without TOML files. Raises CommandFailed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.rglob("*.toml")):
            raise CommandFailed(f"{folder}: there are TOML files already: name an empty folder.", Exit.USAGE)
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise CommandFailed(f"{folder}: cannot be written: {error.strerror or error}.", Exit.USAGE) from None
