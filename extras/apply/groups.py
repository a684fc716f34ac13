"""Groups by template in files: tables that expand into sources and alerts.

The service expands a template and its parameters (`acting.py`). Each resulting source and alert is then compared,
changed and deleted like any other. Only the tag `template:<id>` is special: it is added to existing sources, so the
next plan recovers from a crash at any point. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta, Struct

from actors.catalogue import Flaw
from actors.messages.requests import Url
from actors.templates.template import MOST_SOURCES, Slug, substitute
from extras.apply.kinds import alerts, sources
from extras.apply.kinds.alerts import ALERTS, PRIVATE, DestinationName
from extras.apply.kinds.destinations import BETWEEN, DESTINATIONS
from extras.apply.kinds.kind import DesiredRecord, FilePlace, Private, Values, flaw_of_name
from extras.apply.kinds.sources import SOURCES, url_of
from extras.apply.people import PersonStep
from storage.records.access import Role
from storage.records.source import OWN_NAMESPACES


class BadFiles(Exception):
    """The files have errors: all of them, by file and line."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__(f"{len(flaws)} flaws")
        self.flaws = tuple(sorted(flaws))


class Group(NamedTuple):
    """line: of its header. told: destinations. members: names and URLs of its sources, once the service expanded it."""

    name: str
    place: FilePlace
    line: int
    table: Any
    told: Sequence[DesiredRecord] = ()
    members: Sequence[tuple[str, str]] = ()


class DesiredState(NamedTuple):
    """What files want, by kind. groups: by template, in `wanted` once expanded. people: roles by address."""

    workspace: str
    wanted: Mapping[str, Sequence[DesiredRecord]]
    groups: Sequence[Group] = ()
    people: Mapping[str, Role] = {}


class State(NamedTuple):
    """The service's records by kind, and each kind of destination's sealed values. templates, people: if fetched."""

    records: Mapping[str, Sequence[Any]]
    private: Private
    templates: Mapping[str, Any] = {}
    people: Sequence[PersonStep] = ()


TEMPLATES: Final = "templates"
OF: Final = ":"  # separates a group's name from its member's. No name in a file contains it.
_LONGEST: Final = 120  # maximum characters of a name made from a URL


class TemplateTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of sources by a template. `destinations` are told of its alerts; `without` are sources to leave out."""

    template: Slug
    params: Annotated[
        dict[str, Annotated[tuple[str, ...], Meta(max_length=50)]],
        Meta(max_length=20, description="A list of values for each parameter"),
    ] = {}
    alerts: bool = False
    destinations: Annotated[tuple[DestinationName, ...], Meta(max_length=20)] = ()
    without: Annotated[tuple[Url, ...], Meta(max_length=MOST_SOURCES)] = ()


class GroupKind(NamedTuple):
    """These tables as a kind, for the file reader."""

    id: str = TEMPLATES
    noun: str = "template"
    table: type[Struct] = TemplateTable
    flaw_of_name: Callable[[str], str] = flaw_of_name


KIND: Final = GroupKind()


class SourceSeen(Struct):
    """The fields read from a source of a template or preview."""

    url: str
    type: str
    tags: tuple[str, ...]


class AlertSeen(Struct):
    """The fields read from a template's suggested alert."""

    key: str
    name: str
    filter_query: str
    language: str
    channel: str | None
    match: str


class TemplateSeen(Struct):
    """The fields read from a template; URLs and tags of `sources` contain `{key}` for parameters."""

    slug: str
    sources: tuple[SourceSeen, ...]
    alerts: tuple[AlertSeen, ...]


class Attachment(NamedTuple):
    """A group whose sources need the template's tag. members: name and URL of all; lacking: how many lack it."""

    name: str
    template: str
    params: Mapping[str, Sequence[str]]
    members: Sequence[tuple[str, str]]
    lacking: int


class Making:
    """Expands groups into sources, alerts and destinations, one after the other."""

    def __init__(self, wish: DesiredState) -> None:
        self._wish = wish
        self._wanted = {kind: list(some) for kind, some in wish.wanted.items()}
        self._named = {one.values["url"]: one.name for one in wish.wanted[SOURCES]}
        self._groups = list[Group]()
        self.flaws = list[Flaw]()

    def add(self, group: Group, found: Sequence[SourceSeen], template: TemplateSeen) -> None:
        """Add a group's members. A source that the files describe themselves keeps that description."""
        without = {url_of(url) for url in group.table.without}
        for url in sorted(without - {one.url for one in found}):
            self.flaws.append(flaw_in(group, f"without: {url} is none of its sources"))
        members = list[tuple[str, str]]()
        for one in found:
            if one.url not in without:
                members.append((self._source(group, one), one.url))
        for alert in template.alerts if group.table.alerts else ():
            self._alert(group, alert, [name for name, _ in members])
        self._groups.append(group._replace(members=tuple(members)))

    def wish(self) -> DesiredState:
        members = {group.name: [name for name, _ in group.members] for group in self._groups}
        for group in self._groups:  # a source may have its own name in the files
            members |= {_member(group, url): [name] for name, url in group.members}
        for some in self._wanted.values():
            some[:] = [one._replace(values={**one.values, **_spelt_out(one.values, members)}) for one in some]
        return self._wish._replace(wanted=self._wanted, groups=tuple(self._groups))

    def _source(self, group: Group, one: SourceSeen) -> str:
        if one.url in self._named:
            return self._named[one.url]
        name = _member(group, one.url)
        tags = tuple(tag for tag in one.tags if tag.partition(":")[0] not in OWN_NAMESPACES)
        values = sources.spelt({**sources.DEFAULTS, "url": one.url, "type": one.type, "tags": tags})
        self._wanted[SOURCES].append(DesiredRecord(name, group.place, values, {}, {}))
        self._named[one.url] = name
        return name

    def _alert(self, group: Group, one: AlertSeen, members: Sequence[str]) -> None:
        said = {
            "name": substitute(one.name, group.table.params),
            "query": substitute(one.filter_query, group.table.params),
        }
        said |= {"language": one.language, "match": one.match}
        values = {**alerts.DEFAULTS, **said, "channel": one.channel, SOURCES: tuple(members)}
        name = f"{group.name}{OF}{one.key}"
        self._wanted[ALERTS].append(DesiredRecord(name, group.place, values, {}, {}))
        for told in group.told:
            at = f"{name}{BETWEEN}{told.name}"
            self._wanted[DESTINATIONS].append(told._replace(name=at, values={**told.values, "alert": name}))


def _member(group: Group, url: str) -> str:
    """Return a source's name. It contains no "://", which distinguishes URLs from names."""
    return f"{group.name}{OF}{_short(url.removeprefix('https://').replace('://', ':'))}"


def _short(text: str) -> str:
    digest = blake2b(text.encode(), digest_size=4).hexdigest()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 10]}.{digest}"


def flaw_in(group: Group, says: str) -> Flaw:
    return Flaw(group.place.file, group.line, f"{group.place.table}: {says}")


def _spelt_out(values: Values, members: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {
        field: tuple(dict.fromkeys(name for given in values[field] for name in members.get(given, [given])))
        for field in (SOURCES, PRIVATE)
        if not members.keys().isdisjoint(values.get(field, ()))
    }
