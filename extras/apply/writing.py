"""Write a service as files for `sanderling apply`. Pure except for `write`.

Records with the workspace's mark keep their names; unmarked ones get one. Secrets are left out: the files name a
variable for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from actors.templates.template import NAME, REGISTRY_BASE
from extras.apply.groups import OF, TEMPLATES, State, TemplateSeen
from extras.apply.kinds.alerts import ALERTS
from extras.apply.kinds.alerts import DEFAULTS as OF_ALERTS
from extras.apply.kinds.destinations import BETWEEN, DESTINATIONS, OPTIONS
from extras.apply.kinds.kind import Kind, Names, ServiceRecord
from extras.apply.kinds.sources import SOURCES, tags_of
from extras.apply.kinds.table import KINDS
from extras.apply.people import PEOPLE
from extras.apply.reading import TABLES, WORKSPACE, key_of, value_of
from sanderling.exits import CommandFailed, Exit
from storage.records.source import OWN_NAMESPACES

LONGEST = 60  # maximum letters of a generated name
_HEAD = "# Written by `sanderling export --as-config`; `sanderling apply` reads it."
_VARIABLES = "# Set these variables to the secrets where you run `sanderling apply`:"


class WorkspaceFiles(NamedTuple):
    """Files by name, the variables they use, and the number of records per kind."""

    files: Mapping[str, str]
    variables: Sequence[str]
    counts: Mapping[str, int]


def written(state: State, workspace: str) -> WorkspaceFiles:
    writer = _Writer(state, workspace)
    tables, together = dict[str, list[Table]](), dict[str, list[str]]()
    for kind in KINDS.values():
        tables[kind.id] = writer.tables(kind)
        if kind.id == DESTINATIONS:
            tables[kind.id] = writer.merged(tables[ALERTS], tables[kind.id])
        together.setdefault(kind.file, []).append(kind.id)
    folded(tables, {one.id: template_tags(one.tags) for one in state.records[SOURCES]}, state.templates)
    together[KINDS[SOURCES].file].append(TEMPLATES)
    files = {}
    for number, (file, kinds) in enumerate(together.items()):
        some = [(kind, table) for kind in kinds for table in tables[kind]]
        if some or not number:
            head = [_HEAD, *writer.head(kinds), *([f"\n{WORKSPACE} = {value_of(workspace)}"] if not number else [])]
            files[file] = "\n".join([*head, *(line for kind, table in some for line in _lines(kind, table))]) + "\n"
    tables[PEOPLE] = [Table(person.email, {"role": person.role}) for person in sorted(state.people)]
    if tables[PEOPLE]:
        files["people.toml"] = (
            "\n".join([_HEAD, *(line for one in tables[PEOPLE] for line in _lines(PEOPLE, one))]) + "\n"
        )
    return WorkspaceFiles(files, [name for kind in KINDS for name in writer.variables[kind]], _counts(tables))


def _counts(tables: Mapping[str, Sequence[Table]]) -> Mapping[str, int]:
    return {kind: len(found) for kind, found in tables.items()}


def _lines(kind: str, table: Table) -> Iterator[str]:
    yield f"\n[{kind}.{key_of(table.name)}]"
    for name in sorted(table.fields, key=TABLES[kind].table.__struct_fields__.index):
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
        found, names = _merged(alerts, destinations)
        self._destinations = {one.name for one in found}
        for id, name in names.items():
            self._names.put(DESTINATIONS, id, name)
        return found

    def head(self, kinds: Sequence[str]) -> Iterator[str]:
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

    def _name(self, kind: Kind, record: ServiceRecord) -> str:
        if not kind.itself:
            return record.known_as or self._new_name(kind, record)
        known = kind.spelt({**kind.defaults, kind.named: record.known_as})
        return record.known_as if known[kind.named] == record.values[kind.named] else kind.called(record.values)

    def _new_name(self, kind: Kind, record: ServiceRecord) -> str:
        taken = self._taken[kind.id]
        stem = slug(kind.called(record.values)) or kind.noun
        names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
        name = next(name for name in names if name not in taken)
        return name if kind.id != DESTINATIONS else f"{record.values['alert']}{BETWEEN}{name}"

    def _fields(self, kind: Kind, name: str, record: ServiceRecord) -> dict[str, Any]:
        fields = {
            field: value
            for field, value in record.values.items()
            if value is not None and (field not in kind.defaults or value != kind.defaults[field])
        }
        if kind.named and (kind.itself or fields.get(kind.named) == name):
            del fields[kind.named]
        if DESTINATIONS in kind.refers.values():  # those of other files, or of none, have no name here
            kept = [name for name in fields.pop(DESTINATIONS, ()) if name in self._destinations]
            fields |= {DESTINATIONS: kept} if kept else {}
        fields = {
            field: value for field, value in fields.items() if field not in kind.trimmed(record.record, record.values)
        }
        for field in sorted(record.sealed):
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
    """Merge equal destinations of alerts into tables, and map ids to names, "" if the alert is elsewhere."""
    found, names = dict[str, Table](), dict[str, str]()
    by_alert = {alert.name: alert for alert in alerts}
    for destination in destinations:
        fields = {name: value for name, value in destination.fields.items() if name != "alert"}
        alert = by_alert.get(destination.fields["alert"])
        if alert is None:
            names[destination.id] = ""
            continue
        stem = name = destination.name.partition(BETWEEN)[2]
        number = 1
        while name in found and found[name].fields != fields:
            number += 1
            name = f"{stem}-{number}"
        found[name], names[destination.id] = Table(name, fields), name
        alert.fields.setdefault(DESTINATIONS, []).append(name)
    return [found[name] for name in sorted(found)], names


def slug(text: str) -> str:
    """Make a name from a text.

    >>> slug("shore.example/Prices?x=1"), slug("---")
    ('shore-example-prices-x-1', '')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST].strip("-")


def write(folder: Path, files: Mapping[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.rglob("*.toml")):
            raise CommandFailed(f"{folder}: there are TOML files already: name an empty folder.", Exit.USAGE)
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise CommandFailed(f"{folder}: cannot be written: {error.strerror or error}.", Exit.USAGE) from None


class Table(NamedTuple):
    """A table in a file. id: of the service's record."""

    name: str
    fields: dict[str, Any]
    id: str = ""


Tables = dict[str, list[Table]]


def template_tags(tags: Sequence[str]) -> list[str]:
    """Return the templates a source is attached by.

    >>> template_tags(("label:shop", "template:rivals"))
    ['rivals']
    """
    return [tag.partition(":")[2] for tag in tags if tag.startswith("template:")]


def folded(tables: Tables, templates: Mapping[str, Sequence[str]], known: Mapping[str, TemplateSeen]) -> None:
    """Replace each complete group by one table; name the others validly. templates: by source id."""
    tables[TEMPLATES] = []
    for name in sorted({table.name.partition(OF)[0] for table in tables[SOURCES] if OF in table.name}):
        some = [table for table in tables[SOURCES] if table.name.startswith(f"{name}{OF}")]
        for id in sorted(set.intersection(*(set(templates.get(one.id, ())) for one in some)) & known.keys()):
            if (found := _Group.of(name, known[id], some)) is not None:
                found.fold(tables)
                break
    for kind in (SOURCES, ALERTS):
        _rename(tables, kind)


class _Group(NamedTuple):
    name: str
    template: TemplateSeen
    params: dict[str, list[str]]
    filled: dict[str, Mapping[str, Any]]

    @classmethod
    def of(cls, name: str, template: TemplateSeen, some: Sequence[Table]) -> _Group | None:
        """Return the group of all these sources; None if the template yields others."""
        params: dict[str, list[str]] = {key: [] for source in template.sources for key in NAME.findall(source.url)}
        for table in some:
            for values in _values(template, table.fields["url"]):
                for key, value in values.items():
                    if value not in params[key]:
                        params[key].append(value)
        if any(NAME.search(alert.filter_query) for alert in template.alerts):
            return None  # the values in its queries are known to nobody
        base = params.pop(REGISTRY_BASE, [""])[:1]
        filled = dict(_filled(template, params | {REGISTRY_BASE: base}))
        return cls(name, template, params, filled) if {table.fields["url"] for table in some} <= filled.keys() else None

    def fold(self, tables: Tables) -> None:
        fields: dict[str, Any] = {"template": self.template.slug}
        if self.params:
            fields["params"] = self.params
        watched = {table.fields["url"] for table in tables[SOURCES]}
        if without := [url for url in self.filled if url not in watched]:
            fields["without"] = without
        members = {table.name for table in tables[SOURCES] if table.fields["url"] in self.filled}
        told = self._told(tables, members)
        if told is not None:
            fields |= {"alerts": True} | ({"destinations": told} if told else {})
            tables[ALERTS] = [one for one in tables[ALERTS] if not one.name.startswith(f"{self.name}{OF}")]
        tables[SOURCES] = [one for one in tables[SOURCES] if not self._is_as_said(one)]
        for kind in tables.values():
            for one in kind:
                if members and members <= set(one.fields.get(SOURCES, ())):
                    rest = [name for name in one.fields[SOURCES] if name not in members]
                    one.fields[SOURCES] = sorted([*rest, self.name])
        tables[TEMPLATES].append(Table(self.name, fields))

    def _is_as_said(self, table: Table) -> bool:
        said = self.filled.get(table.fields["url"])
        given = {"tags": [], **table.fields}
        given["tags"] = list(given["tags"])
        return table.name.startswith(f"{self.name}{OF}") and said is not None and {**said, **given} == said

    def _told(self, tables: Tables, members: set[str]) -> list[str] | None:
        found = {one.name: one.fields for one in tables[ALERTS]}
        told = set[tuple[str, ...]]()
        for alert in self.template.alerts:
            fields = dict(found.get(f"{self.name}{OF}{alert.key}", {}))
            told.add(tuple(fields.pop(DESTINATIONS, ())))
            said = {"name": alert.name, "query": alert.filter_query, "language": alert.language, "match": alert.match}
            wanted = {**OF_ALERTS, **said, "channel": alert.channel, SOURCES: members}
            if not fields or {**OF_ALERTS, **fields, SOURCES: set(fields.get(SOURCES, ()))} != wanted:
                return None
        return list(told.pop()) if len(told) == 1 else None


def _values(template: TemplateSeen, url: str) -> Iterator[dict[str, str]]:
    for pattern in template.sources:
        texts = NAME.split(pattern.url)
        form = "".join(f"(?P<{text}>{_form(text)})" if n % 2 else re.escape(text) for n, text in enumerate(texts))
        if found := re.fullmatch(form, url):
            yield {key: value if key == REGISTRY_BASE else unquote(value) for key, value in found.groupdict().items()}


def _form(key: str) -> str:
    return r"https?://[^/?#]+" if key == REGISTRY_BASE else r"[^/?#&=]+"


def _filled(template: TemplateSeen, params: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for chosen in product(*params.values()):
        texts = dict(zip(params, chosen, strict=True))
        for source in template.sources:
            url = _fill(
                source.url, {key: text if key == REGISTRY_BASE else quote(text, safe="") for key, text in texts.items()}
            )
            tags = [_fill(tag, texts) for tag in source.tags]
            own = [tag for tag in tags_of(tuple(tags)) if tag.partition(":")[0] not in OWN_NAMESPACES]
            yield url, {"url": url, "type": source.type, "tags": own}


def _fill(pattern: str, texts: Mapping[str, str]) -> str:
    return NAME.sub(lambda found: texts[found[1]], pattern)


def _rename(tables: Tables, kind: str) -> None:
    taken = {one.name for one in tables[kind]}
    names = dict[str, str]()
    for index, one in enumerate(tables[kind]):
        if OF in one.name:
            stem = re.sub(r"[^A-Za-z0-9]+", "-", one.name).strip("-")[:60]
            name = next(
                new for n in range(1, len(taken) + 2) if (new := stem if n == 1 else f"{stem}-{n}") not in taken
            )
            taken.add(name)
            names[one.name] = name
            tables[kind][index] = one._replace(name=name)
    for some in (found for of, found in tables.items() if of != TEMPLATES):
        for one in some:
            if not names.keys().isdisjoint(one.fields.get(kind, ())):
                one.fields[kind] = [names.get(name, name) for name in one.fields[kind]]
