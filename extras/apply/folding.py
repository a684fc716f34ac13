"""Find a template's groups in a service, and fold their sources and alerts into one table. Pure.

Marks such as `rivals:acme.example/blog` identify a group. Matching the template's URL patterns against the sources'
URLs recovers its parameters. Records that differ from the template are written separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from actors.templates.template import NAME, REGISTRY_BASE
from extras.apply.groups import OF, TEMPLATES, TemplateSeen
from extras.apply.kinds.alerts import ALERTS
from extras.apply.kinds.alerts import DEFAULTS as OF_ALERTS
from extras.apply.kinds.destinations import DESTINATIONS
from extras.apply.kinds.sources import SOURCES, tags_of
from storage.records.source import OWN_NAMESPACES


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
    """Replace each complete group by one table. templates: by source id.

    Records outside any group get a name that is valid in files.
    """
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
        params: dict[str, list[str]] = {key: [] for one in template.sources for key in NAME.findall(one.url)}
        for table in some:
            for values in _values(template, table.fields["url"]):
                for key, value in values.items():
                    if value not in params[key]:
                        params[key].append(value)
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

    def _is_as_said(self, one: Table) -> bool:
        said = self.filled.get(one.fields["url"])
        given = {"tags": [], **one.fields}
        given["tags"] = list(given["tags"])
        return one.name.startswith(f"{self.name}{OF}") and said is not None and {**said, **given} == said

    def _told(self, tables: Tables, members: set[str]) -> list[str] | None:
        """Return the destinations of the suggested alerts; None if one is missing or changed."""
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
    """Yield the parameter values that turn the template's patterns into this URL."""
    for pattern in template.sources:
        texts = NAME.split(pattern.url)
        form = "".join(f"(?P<{text}>{_form(text)})" if n % 2 else re.escape(text) for n, text in enumerate(texts))
        if found := re.fullmatch(form, url):
            yield {key: value if key == REGISTRY_BASE else unquote(value) for key, value in found.groupdict().items()}


def _form(key: str) -> str:
    return r"https?://[^/?#]+" if key == REGISTRY_BASE else r"[^/?#&=]+"


def _filled(template: TemplateSeen, params: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each URL of a filled template with its source's fields."""
    for chosen in product(*params.values()):
        texts = dict(zip(params, chosen, strict=True))
        for one in template.sources:
            url = _fill(one.url, {key: _in_url(key, text) for key, text in texts.items()})
            tags = [_fill(tag, texts) for tag in one.tags]
            own = [tag for tag in tags_of(tuple(tags)) if tag.partition(":")[0] not in OWN_NAMESPACES]
            yield url, {"url": url, "type": one.type, "tags": own}


def _fill(pattern: str, texts: Mapping[str, str]) -> str:
    return NAME.sub(lambda found: texts[found[1]], pattern)


def _in_url(key: str, text: str) -> str:
    return text if key == REGISTRY_BASE else quote(text, safe="")


def _rename(tables: Tables, kind: str) -> None:
    """Rename records that have a group's name but belong to none, including references to them."""
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
