"""Drafts of sources and alerts from the fields of other programs, with their words.

Sanderling watches each address once. Two watches of one page become one source that covers both; every widening is
noted.

Imported fields have code in their reader. docs/moving.md shows the same tables, and a test compares them.

Other programs match any run of characters, or regular expressions; a query has words and phrases. A plain text becomes
a phrase; with `wide`, its last word matches as a prefix ("ticket" finds tickets). Wanted texts are wide, excluded ones
are not, so that the result errs towards too many events. Only regular expressions that list texts are understood:
alternatives, gaps (`.*`), blanks.

The plan of an import: a file's items as sources, alerts and destinations, within limits. A plan's bodies match the API
field for field, so a dry run shows exactly what would be sent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from hashlib import sha256
from ipaddress import ip_address
from typing import Any, Final, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

import msgspec
from cssselect import HTMLTranslator
from msgspec import Struct
from msgspec.structs import replace

from actors.egress.address import classify
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.query import AnalysedText, QueryError, matches, parse
from storage.records.alert import MOST_SOURCES, Matching
from storage.records.destination import WEBHOOK
from storage.records.identity import interval_text, seconds_of
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
    headers: str | None = None  # may hold secrets: never print it

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
SHORTEST, LONGEST = 60, 7 * 86400  # limits of a schedule, in seconds between checks
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


def shown(note: Callable[..., None], place: str, what: str, wait_for: str = "", *, posts: bool = False) -> RenderChoice:
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
    from actors.content.messages import selector_kind
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
    every = [(alert, sha256(msgspec.json.encode(alert.destinations)).hexdigest()[:_DIGITS]) for alert in alerts]
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


def _called(name: str, *marks: str) -> str:
    mark = " ".join(filter(None, marks))
    return f"{shortened(name, LONGEST_TITLE - len(mark) - 3)} [{mark}]" if mark else name


_PRIVATE = "a private address: only if the setting allow_watch_networks opens its network"
_AGES = 10**9
_HOST_FIRST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?([/?].*)?", re.ASCII)


class Drafting:
    """A plan in the making. note: takes the readers' own findings."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._sources: dict[str, PlannedSource] = {}
        self._alerts: dict[tuple[AlertBody, tuple[DestinationBody, ...]], tuple[str, dict[str, None]]] = {}

    def note(self, place: str, what: str, grade: Grade, says: str = "") -> None:
        self._findings.append(Finding(place, what, grade, says))

    def source(
        self,
        place: str,
        url: str,
        *,
        title: str = "",
        tags: Iterable[str] = (),
        selectors: Sequence[str] = (),
        ignore: Sequence[str] = (),
        seconds: float | None = None,
        headers: str | None = None,
        shown: RenderChoice = PLAIN,
        enabled: bool = True,
        kind: SourceType | None = None,
    ) -> str | None:
        """Plan a source, or widen that of its address; return its URL, or note why not. seconds: None for ours."""
        address = self._address(place, url)
        if address is None:
            return None
        body = SourceBody(
            url=address,
            type=kind,
            tags=self._tags(place, tags),
            selector=self._selector(place, selectors),
            ignore=self._ignored(place, ignore),
            schedule=self._schedule(place, seconds),
            headers=headers,
            render="always" if shown.rendered else None,
            wait_for=shown.wait_for,
            title=self._title(place, title),
        )
        if not enabled:
            self.note(place, "paused", "exact")
        found = PlannedSource(place, body, enabled)
        there = self._sources.get(address)
        self._sources[address] = found if there is None else self._joined(there, found)
        return address

    def alert(self, place: str, url: str, body: AlertBody, destinations: Sequence[DestinationBody] = ()) -> None:
        key = (
            body,
            tuple(
                sorted(
                    dict.fromkeys(destinations),
                    key=lambda destination: (destination.url or "", destination.label or ""),
                )
            ),
        )
        self._alerts.setdefault(key, (place, {}))[1][url] = None

    def plan(self, kind: Kind) -> Plan:
        alerts = [
            PlannedAlert(place, body, some, destinations)
            for (body, destinations), (place, urls) in self._alerts.items()
            for some in _parts(tuple(urls))
        ]
        return Plan(kind, tuple(self._sources.values()), tuple(with_distinct_names(alerts)), tuple(self._findings))

    def _address(self, place: str, text: str) -> str | None:
        text = text.strip()
        try:
            if "://" not in text and _HOST_FIRST.fullmatch(text):
                address = parse_url(f"https://{text}").text
                self.note(place, "address", "approximated", f"it has no scheme: taken as https://{shortened(text, 80)}")
            else:
                address = parse_url(text).text
                self.note(place, "address", "exact")
            self._private(place, parse_url(address).host)
        except UrlRefused as error:
            self.note(place, "address", "impossible", f"{shortened(without_password(text), 120)}: {error}")
            return None
        return address

    def _private(self, place: str, host: str) -> None:
        with suppress(ValueError):  # a host name: the service resolves it
            if classify(ip_address(host)) is not None:
                self.note(place, "network", "approximated", _PRIVATE)

    def _title(self, place: str, title: str) -> str:
        line = " ".join(title.split())
        if len(line) > LONGEST_TITLE:
            self.note(place, "title", "approximated", f"cut to {LONGEST_TITLE} characters")
        elif line:
            self.note(place, "title", "exact")
        return shortened(line, LONGEST_TITLE)

    def _tags(self, place: str, tags: Iterable[str]) -> tuple[str, ...]:
        known = tuple(dict.fromkeys(tag for word in tags if (tag := tag_of(word))))
        if len(known) > MOST_TAGS:
            self.note(place, "tags", "approximated", f"the first {MOST_TAGS} of {len(known)}")
        elif known:
            self.note(place, "tags", "exact")
        return known[:MOST_TAGS]

    def _selector(self, place: str, selectors: Sequence[str]) -> str | None:
        """Return one selector for all; None if any of them is invalid, because the rest would cover too little."""
        good = [self._is_selector(place, "selector", selector, "the whole page is watched") for selector in selectors]
        if not (good and all(good)):
            return None
        if (joined := joined_selectors(selectors)) is None:
            self.note(place, "selector", "impossible", "several JSONPaths can't join: the whole document is watched")
            return None
        if len(joined) > LONGEST_SELECTOR:
            self.note(place, "selector", "impossible", f"over {LONGEST_SELECTOR} characters: the whole page is watched")
            return None
        self.note(place, "selector", "exact")
        return joined

    def _ignored(self, place: str, ignore: Sequence[str]) -> tuple[str, ...]:
        good = [one for one in dict.fromkeys(ignore) if self._is_selector(place, "left out", one, "it stays in")]
        if len(good) > MOST_IGNORED:
            self.note(place, "left out", "approximated", f"the first {MOST_IGNORED} of {len(good)} selectors")
        elif good:
            self.note(place, "left out", "exact")
        return tuple(good[:MOST_IGNORED])

    def _is_selector(self, place: str, what: str, selector: str, otherwise: str) -> bool:
        from actors.content.errors import ContentError  # imports lxml, needed only for selectors
        from actors.content.pages.selectors import check

        try:
            check(selector)
            if len(selector) <= LONGEST_SELECTOR:
                return True
            self.note(place, what, "impossible", f"over {LONGEST_SELECTOR} characters: {otherwise}")
        except ContentError as error:
            self.note(place, what, "impossible", f"{shortened(str(error), 200)} So {otherwise}.")
        return False

    def _schedule(self, place: str, seconds: float | None) -> str | None:
        if seconds is None:
            return None
        seconds = min(max(seconds, 0), _AGES)
        whole = min(LONGEST, max(SHORTEST, round(seconds)))
        text = interval_text(whole)
        if whole == seconds:
            self.note(place, "interval", "exact")
        else:
            self.note(place, "interval", "approximated", f"{seconds:g} s become {text}: from 1m to 7d are possible")
        return text

    def _joined(self, there: PlannedSource, more: PlannedSource) -> PlannedSource:
        """Merge two watches of an address into one source that covers both."""
        one, two = there.body, more.body
        selectors = [*dict.fromkeys(each for each in (one.selector, two.selector) if each)]
        both = (joined_selectors(selectors) or "") if one.selector and two.selector else ""
        selector = both if both and len(both) <= LONGEST_SELECTOR else None
        schedules = [text for text in (one.schedule, two.schedule) if text]
        self.note(more.place, "same address", "approximated", _joining(there, more))
        return PlannedSource(
            there.place,
            replace(
                one,
                type=one.type if one.type == two.type else None,
                tags=tuple(dict.fromkeys((*one.tags, *two.tags)))[:MOST_TAGS],
                selector=selector,
                ignore=tuple(each for each in one.ignore if each in two.ignore),
                schedule=min(schedules, key=seconds_of, default=None),
                headers=one.headers if one.headers == two.headers else None,
                render=one.render or two.render,
                wait_for=one.wait_for if one.wait_for == two.wait_for else None,
                title=one.title or two.title,
            ),
            there.enabled or more.enabled,
        )


def _joining(there: PlannedSource, more: PlannedSource) -> str:
    one, two = there.body, more.body
    what = f"one source with {there.place}"
    if (one.selector, one.ignore) == (two.selector, two.ignore):
        return what
    if one.selector and two.selector:
        return f"{what} that watches the parts of both"
    return f"{what} that watches the whole page without the parts that both ignore"


def _parts(urls: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    return (urls[start : start + MOST_SOURCES] for start in range(0, len(urls), MOST_SOURCES))


def joined_selectors(selectors: Sequence[str]) -> str | None:
    """Return one selector that matches everything any of these matches; None if there is none.

    >>> joined_selectors(["main", "#a"]), joined_selectors(["#a", "xpath://h1/text()"])
    ('main, #a', "xpath:descendant-or-self::*[@id = 'a'] | //h1/text()")
    """
    from actors.content.messages import XPATH, bare_selector, selector_kind

    kinds = {selector_kind(selector) for selector in selectors}
    if kinds <= {"css"}:
        return ", ".join(selectors)
    if "jsonpath" in kinds:
        return selectors[0] if len(selectors) == 1 else None
    translator = HTMLTranslator()
    return XPATH + " | ".join(
        translator.css_to_xpath(bare_selector(selector))
        if selector_kind(selector) == "css"
        else bare_selector(selector)
        for selector in selectors
    )


MOST_ITEMS = 100_000

NO_COUNTERPART: Final = "not supported; `sanderling help moving` has alternatives"
_SAYS: Final[Mapping[Grade, str]] = {
    "exact": "changes nothing here",
    "approximated": "Sanderling decides this itself",
    "impossible": NO_COUNTERPART,
}


def note_other(drafting: Drafting, place: str, names: Iterable[str], same: Set[str], alike: Set[str]) -> None:
    """Note fields that no setting of a source expresses."""
    for name in names:
        grade: Grade = "exact" if name in same else "approximated" if name in alike else "impossible"
        drafting.note(place, shortened(name, 40), grade, _SAYS[grade])


def is_set(value: Any) -> bool:
    return value not in (None, "", 0, False, [], {})


def text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return value.strip() if isinstance(value, str) else ""


def texts(record: Mapping[str, Any], name: str) -> list[str]:
    value = record.get(name)
    if isinstance(value, str):
        value = value.splitlines()
    if not isinstance(value, list):
        return []
    return [line.strip() for line in value if isinstance(line, str) and line.strip()]


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def truth(value: Any) -> bool:
    return value.strip().lower() in ("true", "yes", "on", "1") if isinstance(value, str) else bool(value)


LANGUAGE: Final = "simple"
WHOLE_WORDS: Final = "found as whole words, ignoring case and accents"
BEGINNINGS: Final = "found from the beginning of a word, ignoring case and accents"
_SLASHED = re.compile(r"/(.+)/([a-z]*)", re.DOTALL)
_MARKS = re.compile(r"[\"“”„]")
_FLAGS = re.compile(r"^\(\?[aiLmsux]+\)")
_GROUPED = re.compile(r"^\((?:\?:|\?P?<\w+>)?([^()?][^()]*)\)$")
_GAP = re.compile(r"(?<!\\)\.[*+]\??")
_EDGE = re.compile(r"^\^|(?<!\\)\$$|\\b")
_BLANK = re.compile(r"(?:\\s| )[*+]?")
_EITHER_CASE = re.compile(r"\[(\w)(\w)\]")
_ESCAPED = re.compile(r"\\([^\w\s])")
_SPECIAL = re.compile(r"[\\\[\](){}.*+?^$]")


class Unsayable(Exception):
    """No query can express it; the text explains why."""


def phrase(text: str, *, wide: bool = False) -> str:
    """Return the query that finds a text. Raises Unsayable for one without words.

    >>> phrase("Sold  out"), phrase('"now"*'), phrase("ticket", wide=True), phrase("plan C", wide=True)
    ('"Sold out"', '"now"', '"ticket*"', '"plan C"')
    """
    words = " ".join(_MARKS.sub(" ", text).split()).rstrip("* ")
    if wide and _finds(f'"{words}*"', words):
        return f'"{words}*"'
    if not _finds(f'"{words}"', words):
        raise Unsayable(f"{shortened(text, 60)!r} has no word to search for, or too many")
    return f'"{words}"'


def _finds(query: str, words: str) -> bool:
    try:
        return bool(words) and matches(parse(query, LANGUAGE), AnalysedText("", words))
    except QueryError:
        return False


def lookup(text: str, *, wide: bool = False) -> str:
    """Return the query for a text, or for a regular expression between slashes. Raises Unsayable.

    >>> lookup("sold out"), lookup("/sold|gone/i")
    ('"sold out"', '("sold" OR "gone")')
    """
    slashed = _SLASHED.fullmatch(text.strip())
    return phrase(text, wide=wide) if slashed is None else pattern(slashed[1], wide=wide)


def pattern(expression: str, *, wide: bool = False) -> str:
    r"""Return the query for a regular expression that only lists texts. Raises Unsayable for any other.

    >>> pattern(r"(?i)^price:\s+(?:\d+)?")
    Traceback (most recent call last):
    extras.migrate.drafting.Unsayable: '(?i)^price:\\s+(?:\\d+)?' is more than a list of texts
    >>> pattern(r"(?i)(sold out|[Gg]one\.)"), pattern("(?P<all>open.*Sunday)")
    ('("sold out" OR "Gone.")', '("open" "Sunday")')
    """
    body = _FLAGS.sub("", expression.strip())
    grouped = _GROUPED.fullmatch(body)
    body = body if grouped is None else grouped[1]
    return any_of([_side(side, expression, wide) for side in re.split(r"(?<!\\)\|", body)])


def _side(text: str, whole: str, wide: bool) -> str:
    queries = []
    for part in _GAP.split(text):
        bare = _EITHER_CASE.sub(_one_case, _BLANK.sub(" ", _EDGE.sub("", part)))
        if _SPECIAL.search(_ESCAPED.sub("", bare)):
            raise Unsayable(f"{shortened(whole, 60)!r} is more than a list of texts")
        if bare.strip():
            queries.append(phrase(_ESCAPED.sub(r"\1", bare), wide=wide))
    if not queries:
        raise Unsayable(f"{shortened(whole, 60)!r} matches anything")
    return queries[0] if len(queries) == 1 else f"({' '.join(queries)})"


def _one_case(letters: re.Match[str]) -> str:
    return letters[1] if letters[1].casefold() == letters[2].casefold() else letters[0]


def any_of(queries: Sequence[str]) -> str:
    """Return a query for any of several.

    >>> any_of(['"a"']), any_of(['"a"', '"b"', '"a"'])
    ('"a"', '("a" OR "b")')
    """
    different = list(dict.fromkeys(queries))
    return different[0] if len(different) == 1 else f"({' OR '.join(different)})"


def none_of(queries: Sequence[str]) -> str:
    """Return a query that excludes several.

    >>> none_of(['"a"', '("b" OR "c")'])
    '-"a" -("b" OR "c")'
    """
    return " ".join(f"-{query}" for query in dict.fromkeys(queries))


def whole(*parts: str) -> str:
    """Return a query for all parts together. Raises Unsayable if it is too long."""
    query = " ".join(part for part in parts if part)
    try:
        parse(query, LANGUAGE)
    except QueryError as error:
        raise Unsayable(str(error)) from None
    return query
