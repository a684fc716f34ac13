"""The plan made from another program's file, and how faithful it is. Pure records.

A plan's bodies match the API field for field, so a dry run shows exactly what would be sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from extras.migrate.kinds import Kind
from storage.records.alert import Matching
from storage.records.destination import WEBHOOK
from storage.records.source import Render
from storage.records.tiers import SourceType

Grade = Literal["exact", "approximated", "impossible"]


class NotReadable(Exception):
    """The file is not of the expected kind, or too large, deep or unusual; the text explains which."""


class Finding(Struct, frozen=True):
    """The result for one item. place: in the file. says: how it is approximated, or why it is impossible."""

    place: str
    what: str
    grade: Grade
    says: str = ""


class SourceBody(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The body of `POST /v1/sources`."""

    url: str
    type: SourceType | None = None
    tags: tuple[str, ...] = ()
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    schedule: str | None = None
    hours: str | None = None
    render: Render | None = None
    wait_for: str | None = None
    title: str = ""
    headers: str | None = None
    """May hold secrets: never print it."""

    def __repr__(self) -> str:
        return f"SourceBody({self.url!r})"


class PlannedSource(Struct, frozen=True):
    """A source to add; paused right after unless `enabled`."""

    place: str
    body: SourceBody
    enabled: bool = True


class DestinationBody(Struct, frozen=True, omit_defaults=True):
    """The body of `POST /v1/alerts/{id}/destinations`. URL and options may hold secrets: show only a webhook's host, or
    another kind's label.
    """

    url: str | None = None
    label: str | None = None
    kind: str = WEBHOOK
    options: tuple[tuple[str, str], ...] = ()

    @property
    def known_by(self) -> str:
        """The value the service shows for it, which identifies it."""
        return self.url or "" if self.kind == WEBHOOK else self.label or ""


class AlertBody(Struct, frozen=True, kw_only=True):
    """The body of `POST /v1/alerts` without `source_ids`, unknown until the sources exist.

    language: `simple`, because other programs compare words unchanged. match: `page` if the other program checks for a
    text on the page on any change, `change` if it checks the change itself.
    """

    name: str
    filter_query: str
    language: str = "simple"
    match: Matching = "change"


def named(program: str, query: str, match: Matching = "change") -> AlertBody:
    """Return the body of an alert named after its query, so that equal queries share one alert.

    >>> named("urlwatch", '"sold out"').name, named("urlwatch", "").name
    ('urlwatch: "sold out"', 'urlwatch')
    """
    return AlertBody(name=shortened(f"{program}: {query}", 180) if query else program, filter_query=query, match=match)


class PlannedAlert(Struct, frozen=True):
    """An alert over at least one source of the plan, by URL as in the sources' bodies.

    other: another name under which it may exist.
    """

    place: str
    body: AlertBody
    urls: tuple[str, ...]
    destinations: tuple[DestinationBody, ...] = ()
    other: str = ""


class Plan(Struct, frozen=True):
    """Everything a file would become. Each URL occurs once."""

    kind: Kind
    sources: tuple[PlannedSource, ...] = ()
    alerts: tuple[PlannedAlert, ...] = ()
    findings: tuple[Finding, ...] = ()

    def count(self, grade: Grade) -> int:
        return sum(finding.grade == grade for finding in self.findings)


class Findings:
    """Collects findings in the order of the file."""

    def __init__(self) -> None:
        self._all: list[Finding] = []

    def __call__(self, place: str, what: str, grade: Grade, says: str = "") -> None:
        self._all.append(Finding(place, what, grade, says))

    def all(self) -> tuple[Finding, ...]:
        return tuple(self._all)


def wire(body: SourceBody | AlertBody | DestinationBody) -> dict[str, Any]:
    """Return a body as sent, without unset fields. Sources are added even if currently unreachable."""
    built: dict[str, Any] = msgspec.to_builtins(body)
    if isinstance(body, SourceBody):
        built["verify"] = "later"
    if isinstance(body, DestinationBody) and body.options:
        built["options"] = dict(body.options)
    return {name: value for name, value in built.items() if value is not None}


def shortened(text: str, most: int) -> str:
    """Return text as one line of at most so many characters.

    >>> shortened("Day  tickets of the harbour", 12)
    'Day tickets…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def listed(items: Sequence[str], most: int) -> str:
    """Name the first few items and count the rest.

    >>> listed(["line 1", "line 4", "line 9"], 2)
    'line 1, line 4 and 1 more'
    """
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
