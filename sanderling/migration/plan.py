"""The plan made of another program's file, and how true to it that is. Pure records.

A plan's bodies are those of the API, field for field, so that what a dry run shows is what is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from sanderling.migration.kinds import Kind
from storage.records.alert import Matching
from storage.records.destination import WEBHOOK
from storage.records.source import Render
from storage.records.tiers import SourceType

Grade = Literal["exact", "approximated", "impossible"]


class NotReadable(Exception):
    """The file is not what it was taken for, or is larger, deeper or stranger than is read; its text says which."""


class Finding(Struct, frozen=True):
    """What became of one thing of the file. place: where it stands there. says: how it is approximated, or why not."""

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
    """It may hold secrets: nothing prints it."""

    def __repr__(self) -> str:
        return f"SourceBody({self.url!r})"


class PlannedSource(Struct, frozen=True):
    """A source to add; one that is not `enabled` is paused right after that."""

    place: str
    body: SourceBody
    enabled: bool = True


class DestinationBody(Struct, frozen=True, omit_defaults=True):
    """The body of `POST /v1/alerts/{id}/destinations`. URL and options may hold secrets: what is shown is a host, or
    the label of another kind than a webhook.
    """

    url: str | None = None
    label: str | None = None
    kind: str = WEBHOOK
    options: tuple[tuple[str, str], ...] = ()

    @property
    def known_by(self) -> str:
        """By what the service shows of it, it is known again."""
        return self.url or "" if self.kind == WEBHOOK else self.label or ""


class AlertBody(Struct, frozen=True, kw_only=True):
    """The body of `POST /v1/alerts`, but for `source_ids`, which are not known before the sources are there.

    language: `simple`, for other programs compare words as they are. match: `page` where the other program asks
    whether a text is on the page while something changes, `change` where it asks what changed.
    """

    name: str
    filter_query: str
    language: str = "simple"
    match: Matching = "change"


def named(program: str, query: str, match: Matching = "change") -> AlertBody:
    """Return the body of an alert that is called by its query, so that all who ask the same share it.

    >>> named("urlwatch", '"sold out"').name, named("urlwatch", "").name
    ('urlwatch: "sold out"', 'urlwatch')
    """
    return AlertBody(name=shortened(f"{program}: {query}", 180) if query else program, filter_query=query, match=match)


class PlannedAlert(Struct, frozen=True):
    """An alert over sources of the plan, named by their URLs as these stand in their bodies; there is one at least.

    other: a further name under which it may be there already.
    """

    place: str
    body: AlertBody
    urls: tuple[str, ...]
    destinations: tuple[DestinationBody, ...] = ()
    other: str = ""


class Plan(Struct, frozen=True):
    """All that a file would become. Each URL is there once."""

    kind: Kind
    sources: tuple[PlannedSource, ...] = ()
    alerts: tuple[PlannedAlert, ...] = ()
    findings: tuple[Finding, ...] = ()

    def count(self, grade: Grade) -> int:
        """Return how many things of the file have this grade."""
        return sum(finding.grade == grade for finding in self.findings)


class Findings:
    """Collects findings about one place of a file after the other."""

    def __init__(self) -> None:
        self._all: list[Finding] = []

    def __call__(self, place: str, what: str, grade: Grade, says: str = "") -> None:
        self._all.append(Finding(place, what, grade, says))

    def all(self) -> tuple[Finding, ...]:
        """Return them in the order in which they were met."""
        return tuple(self._all)


def wire(body: SourceBody | AlertBody | DestinationBody) -> dict[str, Any]:
    """Return a body as it is sent: what is not said is left out. A source that can't be reached now is kept."""
    built: dict[str, Any] = msgspec.to_builtins(body)
    if isinstance(body, SourceBody):
        built["verify"] = "later"
    if isinstance(body, DestinationBody) and body.options:
        built["options"] = dict(body.options)
    return {name: value for name, value in built.items() if value is not None}


def shortened(text: str, most: int) -> str:
    """Return a text as one line of at most so many characters.

    >>> shortened("Day  tickets of the harbour", 12)
    'Day tickets…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def listed(items: Sequence[str], most: int) -> str:
    """Return the first few of many, in words.

    >>> listed(["line 1", "line 4", "line 9"], 2)
    'line 1, line 4 and 1 more'
    """
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
