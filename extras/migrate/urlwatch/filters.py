"""A job's filters as selectors, ignored parts and queries; the rest produces notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import cssselect

from actors.content.messages.readings import XPATH, selector_kind
from extras.migrate.drafting import Drafting
from extras.migrate.fields import mapping
from extras.migrate.plan import Grade, shortened
from extras.migrate.wording import BEGINNINGS, Unsayable, pattern, phrase
from extras.migrate.xpath import css_of

_DATA: Final = "of JSON, CSV and the like nothing is picked out: what is there is watched as text, if it can be"
_NO_PROGRAM: Final = "no program of yours is run"
_TEXT_EDIT: Final = "texts are not edited before they are compared"
TOLD: Final[dict[str, tuple[Grade, str]]] = {
    "html2text": ("exact", "text is what is compared"),
    "beautify": ("exact", "mark-up does not count"),
    "absolute_links": ("exact", "addresses of links do not count"),
    "absolute-links": ("exact", "addresses of links do not count"),
    "pretty-xml": ("exact", "mark-up does not count"),
    "format-xml": ("exact", "mark-up does not count"),
    "strip": ("exact", "white space does not count"),
    "striplines": ("exact", "white space does not count"),
    "strip_each_line": ("exact", "white space does not count"),
    "remove-duplicate-lines": ("approximated", "texts are compared block by block"),
    "remove_repeated": ("approximated", "texts are compared block by block"),
    "sort": ("exact", "the order of blocks does not count"),
    "reverse": ("exact", "the order of blocks does not count"),
    "grepi": ("impossible", "lines are not left out by their text: leave out their element, or mark noise"),
    "delete_lines_containing": (
        "impossible",
        "lines are not left out by their text: leave out their element, or mark noise",
    ),
    "re.sub": ("impossible", _TEXT_EDIT),
    "re.findall": ("impossible", _TEXT_EDIT),
    "format-json": ("impossible", _DATA),
    "jq": ("impossible", _DATA),
    "jsontoyaml": ("impossible", _DATA),
    "csv2text": ("impossible", _DATA),
    "ical2text": ("exact", "a calendar is watched entry by entry"),
    "pdf2text": ("exact", "the text of a PDF is what is watched"),
    "pypdf": ("exact", "the text of a PDF is what is watched"),
    "ocr": ("impossible", "pictures are not read"),
    "ascii85": ("impossible", "only text is watched"),
    "base64": ("impossible", "only text is watched"),
    "hexdump": ("impossible", "only text is watched"),
    "sha1sum": ("impossible", "the text itself is compared, and what changed is told"),
    "shellpipe": ("impossible", _NO_PROGRAM),
    "execute": ("impossible", _NO_PROGRAM),
}
"""Filters without a counterpart: either Sanderling does the same anyway, or it cannot."""


class Filtered(NamedTuple):
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


def filtered(drafting: Drafting, place: str, value: Any) -> Filtered:
    """Translate a filter chain. A selection within a selection selects descendants."""
    selectors: list[str] = []
    ignore: list[str] = []
    queries: list[str] = []
    for name, argument in steps(value):
        if name in TOLD:
            drafting.note(place, name, *TOLD[name])
        elif name in ("grep", "keep_lines_containing"):
            queries += _lookup(drafting, place, name, argument)
        else:
            css = _selection(drafting, place, name, argument)
            ignore += _excluded(drafting, place, name, argument)
            if css is None:
                continue
            if selectors and "xpath" in map(selector_kind, (css, selectors[-1])):
                drafting.note(place, name, "impossible", "an XPath within a selection: that one alone is watched")
            elif selectors:
                drafting.note(place, name, "approximated", "what lies within what was selected before")
                selectors = [_within(selectors[-1], css)]
            else:
                selectors = [css]
    return Filtered(tuple(selectors), tuple(ignore), tuple(queries))


def _within(outer: str, inner: str) -> str:
    return ", ".join(f"{one} {two}" for one in _sides(outer) for two in _sides(inner))


def _sides(css: str) -> list[str]:
    """Return a selector's alternatives; an invalid selector unchanged, for a later check."""
    try:
        return [side.canonical() for side in cssselect.parse(css)]
    except (cssselect.SelectorError, RecursionError):
        return [css]


def _selection(drafting: Drafting, place: str, name: str, argument: Any) -> str | None:
    """Return a filter's selector; None, with a note, if it is not a selection."""
    options = mapping(argument)
    given = next((value for key in ("selector", "path", "id", "class", "tag") if (value := options.get(key))), argument)
    text = given if isinstance(given, str) else ""
    if options.get("method") == "xml" and not (name == "xpath" and text):
        drafting.note(place, name, "impossible", "in XML nothing is selected: a feed is told entry by entry")
        return None
    if options.get("skip") or options.get("maxitems"):
        drafting.note(place, name, "impossible", "skip and maxitems: all that matches is watched")
    if options.get("sort"):
        drafting.note(place, "sort", *TOLD["sort"])
    match name:
        case "css" if text:
            return text
        case "xpath" if text:
            css = None if options.get("method") == "xml" else css_of(text)
            drafting.note(place, "xpath", "exact", "as CSS" if css else "")
            return css or f"{XPATH}{text}"
        case "element-by-id" if text:
            return f'[id="{_quoted(text)}"]'
        case "element-by-class" if text:
            return f'[class~="{_quoted(text)}"]'
        case "element-by-style" if text:
            return f'[style*="{_quoted(text)}"]'
        case "element-by-tag" if text:
            return text
    drafting.note(place, shortened(name, 40), "impossible", "a filter that is not known here")
    return None


def _excluded(drafting: Drafting, place: str, name: str, argument: Any) -> list[str]:
    exclude = mapping(argument).get("exclude")
    if not isinstance(exclude, str) or not exclude:
        return []
    return [css_of(exclude) or f"{XPATH}{exclude}" if name == "xpath" else exclude]


def _lookup(drafting: Drafting, place: str, name: str, argument: Any) -> list[str]:
    options = mapping(argument)
    plain = options.get("text") if options else argument if name == "keep_lines_containing" else None
    expression = options.get("re") if options else argument if name == "grep" else None
    try:
        if isinstance(plain, str) and plain:
            query = phrase(plain, wide=True)
        elif isinstance(expression, str) and expression:
            query = pattern(expression, wide=True)
        else:
            raise Unsayable("there is no text in it")
    except Unsayable as error:
        drafting.note(place, name, "impossible", str(error))
        return []
    says = f"an alert: tells of changes of blocks with the text, not of its lines alone; {BEGINNINGS}"
    drafting.note(place, name, "approximated", says)
    return [query]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
