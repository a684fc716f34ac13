"""The plan of an import: a file's items as sources, alerts and destinations, within limits.

A plan's bodies match the API field for field, so a dry run shows exactly what would be sent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from storage.records.alert import Matching
from storage.records.destination import WEBHOOK
from storage.records.source import OWN_NAMESPACES, Render
from storage.records.tiers import SourceType

Kind = Literal["urls", "csv", "opml", "changedetection", "urlwatch", "sanderling"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
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
    """The body of `POST /v1/alerts/{id}/destinations`. URL and options may hold secrets: show the host or the label."""

    url: str | None = None
    label: str | None = None
    kind: str = WEBHOOK
    options: tuple[tuple[str, str], ...] = ()

    @property
    def known_by(self) -> str:
        return self.url or "" if self.kind == WEBHOOK else self.label or ""


def host_of(body: DestinationBody) -> str:
    """Return a destination's displayable name: a webhook's host, since the rest may be secret, else its label."""
    return urlsplit(body.url or "").hostname or "" if body.kind == WEBHOOK else body.known_by


class AlertBody(Struct, frozen=True, kw_only=True):
    """`POST /v1/alerts` without `source_ids`. language: `simple`, as elsewhere. match: `page` for any change of it."""

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
    """An alert over at least one source of the plan, by URL. other: another name under which it may exist."""

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


LONGEST_TITLE: Final = 200
LONGEST_TAG: Final = 100
MOST_TAGS: Final = 50
LONGEST_SELECTOR: Final = 1000
MOST_IGNORED: Final = 50
SHORTEST, LONGEST = 60, 7 * 86400
"""Limits of a schedule, in seconds between checks."""
_TAG = re.compile(r"[a-z0-9_-]+:\S.*")


def tag_of(word: str) -> str:
    """Turn another program's tag, group or folder into a tag.

    >>> tag_of("Tides: north"), tag_of("topic:tides"), tag_of("kind:x")
    ('Tides north', 'topic:tides', 'kind x')
    """
    line = " ".join(word.split())
    if not (_TAG.fullmatch(line) and line.partition(":")[0] not in OWN_NAMESPACES):
        line = " ".join(line.replace(":", " ").split())
    return shortened(line, LONGEST_TAG)


def without_password(url: str) -> str:
    """Remove user and password from a URL.

    >>> without_password("https://me:secret@example.org/feed")
    'https://…@example.org/feed'
    >>> without_password("me:se@cret@example.org/feed")
    '…@example.org/feed'
    """
    return re.sub(r"(^|//)[^/?#]*@", r"\1…@", url, count=1)


LONGEST_WAIT: Final = 500
NEEDS: Final = "it needs a browser here; `sanderling doctor` checks for one"
POSTED: Final = "a page fetched with POST is not rendered: it is watched as sent"
AT_REST: Final = "it is read once it is idle: it does not wait for a CSS selector"


class RenderChoice(NamedTuple):
    """Whether a browser renders a page, and the CSS selector to wait for."""

    rendered: bool = False
    wait_for: str | None = None


PLAIN: Final = RenderChoice()


def shown(note: Findings, place: str, what: str, wait_for: str = "", *, posts: bool = False) -> RenderChoice:
    if posts:
        note(place, what, "approximated", POSTED)
        return PLAIN
    note(place, what, "exact", NEEDS)
    wait_for = wait_for.strip().removeprefix("css=").strip()
    if not wait_for:
        return RenderChoice(rendered=True)
    if not _is_css(wait_for):
        note(place, "wait_for", "approximated", AT_REST)
        return RenderChoice(rendered=True)
    note(place, "wait_for", "exact")
    return RenderChoice(rendered=True, wait_for=wait_for)


def _is_css(selector: str) -> bool:
    from actors.content.errors import ContentError  # imports lxml, needed only for selectors
    from actors.content.messages.readings import selector_kind
    from actors.content.pages.selectors import check

    try:
        check(selector)
    except ContentError:
        return False
    return selector_kind(selector) == "css" and len(selector) <= LONGEST_WAIT


Key = tuple[str, str, str]
_DIGITS: Final = 8


def key_of(alert: PlannedAlert, name: str | None = None) -> Key:
    return alert.body.name if name is None else name, alert.body.filter_query, alert.body.language


def with_distinct_names(alerts: Iterable[PlannedAlert]) -> Iterator[PlannedAlert]:
    """Yield the alerts with distinct keys. Namesakes get a mark in their names, a digest of their destinations. Parts
    of an alert over too many sources are numbered: their destinations are equal. `other` is the marked name of an
    unmarked alert and vice versa: the alert's previous name if its namesakes come or go.
    """
    every = [(alert, _mark(alert)) for alert in alerts]
    marks: dict[Key, set[str]] = {}
    for alert, mark in every:
        marks.setdefault(key_of(alert), set()).add(mark)
    parts: Counter[tuple[Key, str]] = Counter()
    for alert, mark in every:
        key = key_of(alert)
        parts[key, mark] += 1
        number = "" if parts[key, mark] == 1 else str(parts[key, mark])
        names = _called(alert.body.name, number), _called(alert.body.name, mark, number)
        name, other = names if len(marks[key]) == 1 else names[::-1]
        yield replace(alert, body=replace(alert.body, name=name), other=other)


def _mark(alert: PlannedAlert) -> str:
    return sha256(msgspec.json.encode(alert.destinations)).hexdigest()[:_DIGITS]


def _called(name: str, *marks: str) -> str:
    mark = " ".join(filter(None, marks))
    return f"{shortened(name, LONGEST_TITLE - len(mark) - 3)} [{mark}]" if mark else name
