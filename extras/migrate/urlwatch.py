"""urlwatch and webchanges: the YAML of their jobs. The programs are related and share most directives.

Each document of a file is a job and becomes a source; its filters become selectors, ignored parts and queries, and the
rest notes. Commands are never run. Both programs keep reporters in a separate settings file, which is not read.

YAML as other programs write it, within bounds. PyYAML only parses; the meaning of nodes is decided here, so that no
tag ever constructs an object. Tags, anchors, aliases and merge keys are refused: job files need none, and bombs are
built from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import cssselect
import yaml

from actors.content.bodies.encoding import decode
from actors.content.messages import XPATH, selector_kind
from extras.migrate import drafting
from extras.migrate.requests import UNSUPPORTED, basic_of, cookies_of, pairs_of, request_of

DEEPEST: Final = 24
MOST_NODES: Final = 2_000_000
_PARSER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,15})(\.[0-9]{1,16})?", re.ASCII)
_WORDS: Final[dict[str, Any]] = {"": None, "~": None, "null": None, "true": True, "false": False} | {
    "yes": True,
    "no": False,
    "on": True,
    "off": False,
}


def documents(data: bytes) -> Iterator[tuple[int, Any]]:
    text = decode(data, "").text
    try:
        yield from _Reader(yaml.parse(text, _PARSER)).documents()
    except yaml.YAMLError as error:
        raise drafting.NotReadable(f"It is not YAML: {' '.join(str(error).split())[:300]}.") from None


class _Reader:
    """Makes values from the parser's events."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._nodes = 0

    def documents(self) -> Iterator[tuple[int, Any]]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                first = next(self._events)
                value = self._value(first, 0)
                if value is not None:
                    yield first.start_mark.line + 1, value

    def _value(self, event: Any, depth: int) -> Any:
        line = event.start_mark.line + 1
        self._nodes += 1
        if depth > DEEPEST or self._nodes > MOST_NODES:
            raise drafting.NotReadable(f"Line {line}: it is nested too deeply, or has too many parts.")
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise drafting.NotReadable(f"Line {line}: anchors and aliases (& and *) are not read: write the value out.")
        if event.tag is not None:
            raise drafting.NotReadable(f"Line {line}: tags such as {str(event.tag)[:60]} are not read.")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return [self._value(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)]
        return dict(self._pair(key, depth + 1) for key in self._until(yaml.MappingEndEvent))

    def _pair(self, key: Any, depth: int) -> tuple[str, Any]:
        if not isinstance(key, yaml.ScalarEvent):
            raise drafting.NotReadable(f"Line {key.start_mark.line + 1}: a name must be a text.")
        return key.value, self._value(next(self._events), depth)

    def _until(self, end: type[Any]) -> Iterator[Any]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event


def _scalar(text: str) -> Any:
    """Return the value of an unquoted scalar.

    >>> [_scalar(text) for text in ("no", "12", "0.5", "0x10", "~", "12:30")]
    [False, 12, 0.5, '0x10', None, '12:30']
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number[1] else int(text)


SAME: Final = frozenset(
    ("html2text", "beautify", "absolute_links", "absolute-links", "pretty-xml", "format-xml", "strip", "striplines",
     "strip_each_line", "sort", "reverse", "ical2text", "pdf2text", "pypdf", "is_markdown", "monospace")
)  # fmt: skip
"""Filters and directives that change nothing here: mark-up, white space and order never count."""
ALIKE: Final = frozenset(
    ("remove-duplicate-lines", "remove_repeated", "timeout", "encoding", "ignore_cached", "ignore_connection_errors",
     "ignore_http_error_codes", "ignore_timeout_errors", "ignore_too_many_redirects", "max_tries", "compared_versions")
)  # fmt: skip
_SELECTING: Final = ("css", "xpath", "element-by-id", "element-by-class", "element-by-style", "element-by-tag")


class FilterResult(NamedTuple):
    """The result of a filter chain."""

    selectors: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


def steps(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a chain's steps with their arguments: from a list, a mapping, or the old one-line form.

    >>> list(steps("css:body,html2text")), list(steps([{"grep": "x"}, "strip"]))
    ([('css', 'body'), ('html2text', '')], [('grep', 'x'), ('strip', '')])
    """
    if isinstance(value, str):
        value = [dict([part.split(":", 1)]) if ":" in part else part for part in value.split(",")]
    if isinstance(value, dict):
        value = [value]
    for step in value if isinstance(value, list) else []:
        if isinstance(step, str):
            yield step.strip(), ""
        elif isinstance(step, dict):
            yield from ((name.strip(), argument) for name, argument in step.items())


def filtered(draft: drafting.Drafting, place: str, value: Any) -> FilterResult:
    """Translate a filter chain. A selection within a selection selects descendants."""
    selectors: list[str] = []
    ignore: list[str] = []
    queries: list[str] = []
    for name, argument in steps(value):
        if name in ("grep", "keep_lines_containing"):
            queries += _lookup(draft, place, name, argument)
        elif name not in _SELECTING:
            drafting.note_other(draft, place, [name], SAME, ALIKE)
        else:
            css = _selection(draft, place, name, argument)
            ignore += _excluded(draft, place, name, argument)
            if css is None:
                continue
            if selectors and "xpath" in map(selector_kind, (css, selectors[-1])):
                draft.note(place, name, "impossible", "an XPath within a selection: only the XPath is watched")
            elif selectors:
                draft.note(place, name, "approximated", "the part within the earlier selection")
                selectors = [_within(selectors[-1], css)]
            else:
                selectors = [css]
    return FilterResult(tuple(selectors), tuple(ignore), tuple(queries))


def _within(outer: str, inner: str) -> str:
    return ", ".join(f"{one} {two}" for one in _sides(outer) for two in _sides(inner))


def _sides(css: str) -> list[str]:
    """Return a selector's alternatives; an invalid selector unchanged, for a later check."""
    try:
        return [side.canonical() for side in cssselect.parse(css)]
    except (cssselect.SelectorError, RecursionError):
        return [css]


def _selection(draft: drafting.Drafting, place: str, name: str, argument: Any) -> str | None:
    options = drafting.mapping(argument)
    given = next((value for key in ("selector", "path", "id", "class", "tag") if (value := options.get(key))), argument)
    text = given if isinstance(given, str) else ""
    if options.get("method") == "xml" and not (name == "xpath" and text):
        draft.note(place, name, "impossible", "nothing is selected from XML: a feed is reported entry by entry")
        return None
    if options.get("skip") or options.get("maxitems"):
        draft.note(place, name, "impossible", "skip and maxitems: all matches are watched")
    if not text:
        draft.note(place, name, "impossible", "it has no selector")
        return None
    match name:
        case "xpath":
            draft.note(place, "xpath", "exact")
            return f"{XPATH}{text}"
        case "element-by-id":
            return f'[id="{_quoted(text)}"]'
        case "element-by-class":
            return f'[class~="{_quoted(text)}"]'
        case "element-by-style":
            return f'[style*="{_quoted(text)}"]'
        case _:
            return text


def _excluded(draft: drafting.Drafting, place: str, name: str, argument: Any) -> list[str]:
    exclude = drafting.mapping(argument).get("exclude")
    if not isinstance(exclude, str) or not exclude:
        return []
    return [f"{XPATH}{exclude}" if name == "xpath" else exclude]


def _lookup(draft: drafting.Drafting, place: str, name: str, argument: Any) -> list[str]:
    options = drafting.mapping(argument)
    plain = options.get("text") if options else argument if name == "keep_lines_containing" else None
    expression = options.get("re") if options else argument if name == "grep" else None
    try:
        if isinstance(plain, str) and plain:
            query = drafting.phrase(plain, wide=True)
        elif isinstance(expression, str) and expression:
            query = drafting.pattern(expression, wide=True)
        else:
            raise drafting.Unsayable("there is no text in it")
    except drafting.Unsayable as error:
        draft.note(place, name, "impossible", str(error))
        return []
    says = f"an alert: reports changes of blocks with the text, not of single lines; {drafting.BEGINNINGS}"
    draft.note(place, name, "approximated", says)
    return [query]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def is_settings(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("report"), dict) and "url" not in document


_REPORTERS: Final = "add a destination to the alerts instead"
CARRIED: Final = frozenset(
    "name url navigate command kind filter filters tags enabled use_browser method data headers cookies "  # noqa: SIM905
    "http_credentials".split()
)
BROWSER: Final = frozenset(
    ("wait_until", "wait_for", "wait_for_navigation", "wait_for_url", "wait_for_selector", "wait_for_function",
     "wait_for_timeout", "block_elements", "user_data_dir", "switches", "chromium_revision", "initialization_url",
     "initialization_js", "evaluate", "useragent")
)  # fmt: skip
"""Browser directives, which need no notes apart from that on rendering."""


def read_urlwatch(data: bytes) -> drafting.Plan:
    draft = drafting.Drafting()
    number = 0
    for line, document in documents(data):
        if is_settings(document):
            draft.note(f"report (line {line})", "reporter", "impossible", _REPORTERS)
            continue
        for job in document if isinstance(document, list) else [document]:
            number += 1
            if number > drafting.MOST_ITEMS:
                raise drafting.NotReadable(f"It has more than {drafting.MOST_ITEMS} jobs.")
            if not isinstance(job, dict):
                says = f"Line {line}: a job is names with values, such as `url: https://example.org/`."
                raise drafting.NotReadable(says)
            _job(draft, f"job {number} (line {line})", job)
    return draft.plan("urlwatch")


def _job(draft: drafting.Drafting, place: str, job: Mapping[str, Any]) -> None:
    kind = drafting.text(job, "kind")
    if job.get("command") or kind in ("shell", "command"):
        draft.note(place, "command", "impossible", "commands are not run; watch the address that it fetches")
        return
    data = job.get("data")
    method = (drafting.text(job, "method") or ("POST" if data else "GET")).upper()
    if method not in {"GET", "POST"}:
        draft.note(place, "method", "impossible", UNSUPPORTED)
        return
    address = drafting.text(job, "url") or drafting.text(job, "navigate")
    if not address:
        draft.note(place, "url", "impossible", "it has none" if kind in ("", "url") else f"a job of kind {kind[:40]}")
        return
    found = filtered(draft, place, job.get("filters", job.get("filter")))
    url = draft.source(
        place,
        address,
        title=drafting.text(job, "name"),
        tags=_tags(job.get("tags")),
        selectors=found.selectors,
        ignore=found.ignore,
        headers=_request(draft, place, job, data if method == "POST" else None),
        shown=_shown(draft, place, job, posts=method == "POST"),
        enabled=drafting.truth(job.get("enabled", True)),
    )
    if url is None:
        return
    others = [name for name, value in job.items() if name not in CARRIED | BROWSER and drafting.is_set(value)]
    drafting.note_other(draft, place, others, SAME, ALIKE)
    try:
        query = drafting.whole(*found.queries)
    except drafting.Unsayable as error:
        draft.note(place, "filter", "impossible", str(error))
        return
    if query:
        draft.alert(place, url, drafting.named("urlwatch", query))


def _shown(draft: drafting.Drafting, place: str, job: Mapping[str, Any], *, posts: bool) -> drafting.RenderChoice:
    if not (job.get("navigate") or drafting.text(job, "kind") == "browser" or drafting.truth(job.get("use_browser"))):
        return drafting.PLAIN
    waits = next((job[name] for name in ("wait_for_selector", "wait_for") if name in job), "")
    wait_for = waits.get("selector") if isinstance(waits, Mapping) else waits
    return drafting.shown(draft.note, place, "browser", str(wait_for) if isinstance(wait_for, str) else "", posts=posts)


def _request(draft: drafting.Drafting, place: str, job: Mapping[str, Any], data: Any) -> str | None:
    """Return a job's request. data: the body to post, None for a GET; a mapping is a form."""
    user, _, password = drafting.text(job, "http_credentials").partition(":")
    pairs = [*pairs_of(job.get("headers")), *cookies_of(job.get("cookies")), *basic_of(user, password)]
    posted = urlencode(data) if isinstance(data, Mapping) else "" if data is None else str(data)
    is_post = data is not None or (drafting.text(job, "method").upper() == "POST")
    return request_of(draft, place, pairs, body=posted if is_post else None)


def _tags(value: Any) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]
