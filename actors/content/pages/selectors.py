"""Selectors over a parsed page, and paths in a document: what `selector` chooses and `ignore` excludes.

A selector is CSS, or XPath 1.0 if it begins with `xpath:` or a slash, as no CSS does. An XPath may also choose texts,
attributes and function results: each becomes a paragraph. A JSONPath begins with `$`. In documents without
elements, `lines:` and `re:` choose lines, `re:` and `path:` (`json_path`) choose blocks.

Users bring selectors from browsers and other programs. So CSS also has `:contains()`, `::text` and `::attr()`, XPath
has `matches` and `lower-case` of XPath 2, and a path through `tbody` fits a table whose source has none.

`path:Prices › Team · Fee` is the cell in row Team and column Fee, below the heading Prices. `>` and `|` replace the
signs on keyboards without them. A part may be `*` or missing, a label with such signs is quoted, and `#2` is the second
match. Labels do not move when rows or pages are inserted before them.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

from cssselect import FunctionalPseudoElement, HTMLTranslator, SelectorError
from cssselect import parse as parse_css
from cssselect.parser import Function, Selector
from cssselect.xpath import XPathExpr
from lxml import etree

from actors.content.bodies.markup import NOT_XML, Element
from actors.content.bodies.text import normalise
from actors.content.errors import ContentError
from actors.content.messages import CHOSEN_BY, PATH, bare_selector, json_path_text, selector_kind
from actors.content.pages.blocks import Blocks
from actors.content.pages.json_path import BadPath, JsonPath, TooMany
from actors.content.pages.traits import CELL, HEADING, ITEM, TOP
from actors.content.wording.json_text import Location

_PATH_TOKEN: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"(?=\s|$)|([›>·|])(?=\s|$)|#([1-9]\d{0,5})(?=\s*$)|(\S+))')
_ANY: Final = ("*", False)
_ORDERS: Final = ("", "›", "·", "›·")
_WHEN: Final = re.compile(r"(?:instead of |until )?\d{4}-\d\d-\d\d\b")
_TITLED: Final = ("calendar", "csv")  # formats whose blocks are rows of several values; the first value is the title
_SHOWN_PATH, _LONGEST_TITLE = 200, 80
_ENDED: Final = re.compile(r"[.,;:!?…]$")
_HOW: Final = "write it as a difference does: path:Heading › Row · Column, or path:Heading › #2"


class BlockPlace(NamedTuple):
    """The place of a block; "" if unknown."""

    heading: str = ""
    row: str = ""
    column: str = ""


class Path(NamedTuple):
    """Conditions on a place; None allows anything. either: a row's or heading's label. nth: a match, or 0 for all."""

    heading: str | None = None
    row: str | None = None
    column: str | None = None
    either: str | None = None
    nth: int = 0

    def fits(self, stand: BlockPlace) -> bool:
        wanted = ((self.heading, stand.heading), (self.row, stand.row), (self.column, stand.column))
        if any(label is not None and label != _same(there) for label, there in wanted):
            return False
        return self.either is None or self.either in (_same(stand.heading), _same(stand.row))


@lru_cache(maxsize=256)
def path_of(selector: str) -> Path:
    """Parse a path. Raises ContentError."""
    words, signs, nth = [list[tuple[str, bool]]()], "", 0
    for token in _PATH_TOKEN.finditer(selector.strip().removeprefix(PATH)):
        quoted, sign, number, word = token.groups()
        if sign:
            signs += "›" if sign in "›>" else "·"
            words.append([])
        elif number:
            nth = int(number)
        else:
            words[-1].append((word, False) if quoted is None else (quoted.replace('""', '"'), True))
    labels = [None if said in ([], [_ANY]) else _same(" ".join(text for text, _ in said)) for said in words]
    says = f"{selector[:_SHOWN_PATH]!r} is not a path: {_HOW}."
    if signs not in _ORDERS:
        raise ContentError(says)
    if not signs:
        path = Path(either=labels[0], nth=nth)
    else:
        heading = labels.pop(0) if "›" in signs else None
        path = Path(heading, labels[0], labels[1] if "·" in signs else None, None, nth)
    if path == Path():
        raise ContentError(says)
    return path


def _same(label: str) -> str:
    return normalise(label).casefold().strip()


def written(stand: BlockPlace, nth: int = 0) -> str:
    """Return the path to the blocks at a place.

    >>> written(BlockPlace("Prices", "Team", "Fee")), written(BlockPlace("Prices"), 2), written(BlockPlace(row="a > b"))
    ('path:Prices › Team · Fee', 'path:Prices › #2', 'path:"a > b"')
    """
    heading = f"{_quoted(stand.heading)} ›" if stand.heading else ""
    column = f"{_quoted(stand.row) or '*'} · {_quoted(stand.column)}" if stand.column else _quoted(stand.row)
    return PATH + " ".join(filter(None, (heading, column, f"#{nth}" if nth else "")))


def _quoted(label: str) -> str:
    label = normalise(label).strip()
    if label == "*" or '"' in label or any(token[2] or token[3] for token in _PATH_TOKEN.finditer(label)):
        return '"{}"'.format(label.replace('"', '""'))
    return label


def chosen_by(selector: str, stands: Sequence[BlockPlace]) -> list[int]:
    """Return the indices of the blocks a path chooses. Raises ContentError."""
    path = path_of(selector)
    found = [at for at, stand in enumerate(stands) if path.fits(stand)]
    return found[path.nth - 1 : path.nth] if path.nth else found


def stands_of(format: str, blocks: Blocks) -> list[BlockPlace]:
    heading, stands = "", list[BlockPlace]()
    for at, (text, trait) in enumerate(zip(blocks.texts, blocks.traits, strict=True)):
        place = blocks.places[at] if blocks.places else None
        row, column = place or ("", "")
        if format in _TITLED and place is None:
            # The title is the first part that is no time.
            row = next((part for part in text.split(" | ") if not _WHEN.match(part)), "")
        is_heading = trait & (HEADING | TOP) or (format == "pdf" and _reads_like_heading(text, trait))
        stands.append(BlockPlace("" if is_heading else heading, row, column))
        if is_heading:
            heading = heading_of(text) if format == "text" else text
    return stands


def heading_of(text: str) -> str:
    """Return a heading without the signs of Markdown.

    >>> heading_of("## Fees ##"), heading_of("Fees")
    ('Fees', 'Fees')
    """
    return text.strip("# ") or text


def _reads_like_heading(text: str, trait: int) -> bool:
    """Whether a PDF line reads like a heading, which PDFs do not mark: a few words, no figures."""
    if trait & (ITEM | CELL) or len(text) > _LONGEST_TITLE or _ENDED.search(text) or text[:1].islower():
        return False
    return any(sign.isalpha() for sign in text) and not any(sign.isdigit() for sign in text)


_SHOWN = 200
_RANGE = re.compile(r"([1-9]\d{0,6})?(-)?([1-9]\d{0,6})?")
_MOST = 10_000  # maximum number of matches
_SECONDS = 1.0  # processor time (seconds) that a selector may take on a document if the worker has no deadline
# cssselect's names of tokens: `<DELIM '!' at 5>`, `<EOF at 7>`.
_TOKEN = re.compile(r"<(\w+)(?: ([\"'].*[\"']))? at (\d+)>", re.S)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_CALL = re.compile(r"(?<![\w:.@$-])([A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)\s*\(")
_KNOWN_CALLS: Final = re.compile(
    "last|position|count|id|local-name|namespace-uri|name|string|concat|starts-with|contains|substring(?:-before|-after)?"
    "|string-length|normalize-space|translate|boolean|not|true|false|lang|number|sum|floor|ceiling|round|node|text"
    "|comment|processing-instruction|and|or|div|mod|matches|lower-case"
)


def select(root: Element, selector: str) -> list[Element]:
    """Return the outermost matching elements, in document order. Raises ContentError for an invalid selector."""
    found = [_element(match) for match in matches(root, selector)]
    inside = set(found)
    return [element for element in found if not any(above in inside for above in element.iterancestors())]


def remove(root: Element, selector: str) -> int:
    """Remove matching elements from the tree; the text after them stays. Returns the number of matches."""
    found = [match for match in matches(root, selector) if isinstance(match, etree._Element)]
    for element in found:
        above, before = element.getparent(), element.getprevious()
        if above is None:
            continue
        if element.tail and before is not None:
            before.tail = (before.tail or "") + element.tail
        elif element.tail:
            above.text = (above.text or "") + element.tail
        above.remove(element)
    return len(found)


def check(selector: str) -> None:
    """Raise ContentError, with a message for the author, if a selector is invalid."""
    match selector_kind(selector):
        case "jsonpath":
            json_path(selector)
        case "lines" | "regex":
            line_test(selector)
        case "path":
            path_of(selector)
        case _:
            try:
                _compiled(selector)
            except ContentError:
                if not json_path_text(selector):
                    raise
                json_path(selector)


@lru_cache(maxsize=256)
def json_path(selector: str) -> JsonPath:
    """Compile a JSONPath. Raises ContentError."""
    try:
        return JsonPath(json_path_text(selector))
    except BadPath as error:
        raise ContentError(f"{selector[:_SHOWN]!r} is not a JSONPath: {error}.") from None


LineTest = Callable[[int, str], str | None]
"""Maps a line's number, from 1, and its text to the chosen text, None for nothing."""


@lru_cache(maxsize=256)
def line_test(selector: str) -> LineTest:
    """Return the test of a `lines:` range or a regular expression, to be run within `bounded`. Raises ContentError."""
    kind, _, text = selector.strip().partition(":")
    if kind == "lines":
        found = _RANGE.fullmatch(text.strip())
        first, dash, last = found.groups() if found else (None, None, None)
        start, end = int(first or 1), int(last or 10**9) if dash else int(first or 0)
        if not (first or last) or start > end:
            advice = "write lines:3, lines:3-20, lines:3- or lines:-20"
            raise ContentError(f"{selector[:_SHOWN]!r} names no lines: {advice}.")
        return lambda number, line: line if start <= number <= end else None
    try:
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ContentError(f"{selector[:_SHOWN]!r} is not a regular expression: {error}.") from None

    def test(_number: int, line: str) -> str | None:
        match = pattern.search(line)
        if match is None:
            return None
        return " ".join(group for group in match.groups() if group) if pattern.groups else line

    return test


@contextmanager
def bounded(selector: str) -> Iterator[None]:
    """Stop a regular expression that takes half of its worker's remaining processor time. Raises ContentError. The C
    code of an XPath cannot be stopped: the worker's deadline ends it.
    """

    def stop(_number: int, _frame: object) -> None:
        raise ContentError(f"The selector {selector[:_SHOWN]!r} takes too long on this document: write a simpler one.")

    try:
        before = signal.signal(signal.SIGVTALRM, stop)
    except ValueError:  # not in the main thread, so in no worker
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, signal.getitimer(signal.ITIMER_PROF)[0] / 2 or _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def find_in_json(value: object, selector: str) -> list[Location]:
    """Return the places in JSON that a JSONPath chooses. Raises ContentError."""
    try:
        with bounded(selector):
            return json_path(selector).find(value)
    except (TooMany, RecursionError):
        raise ContentError(f"The selector {selector[:_SHOWN]!r} visits more of this document than is read.") from None


def matches(root: Element, selector: str) -> list[Element | str]:
    """Return the matches in document order: elements, and for an XPath also texts. Raises ContentError."""
    found = _evaluated(root, selector)
    if found == [] and "tbody" in selector and _put_bodies(root):
        found = _evaluated(root, selector)
    if isinstance(found, list):
        return found[:_MOST]
    return [said] if (said := _said(found)) else []


def _evaluated(root: Element, selector: str) -> Any:
    try:
        with bounded(selector):
            return _compiled(selector)(root)
    except (etree.LxmlError, ValueError, TypeError, RecursionError) as error:
        raise ContentError(f"The selector {selector!r} cannot be used on this page: {error}.") from None


def _put_bodies(root: Element) -> bool:
    """Wrap rows directly inside a table in a `tbody`, as browsers do. Returns whether there were any."""
    tables = [table for table in root.iter("table") if table.find("tr") is not None]
    for table in tables:
        for group in [list(rows) for is_row, rows in groupby(table, lambda child: child.tag == "tr") if is_row]:
            body = etree.Element("tbody")
            table.insert(table.index(group[0]), body)
            body.extend(group)
    return bool(tables)


def _said(value: Any) -> str:
    """Return an XPath function's result as text: a whole number without a point, nothing for NaN."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "" if value != value else str(int(value) if value.is_integer() else value)  # noqa: PLR0124  # NaN
    return str(value)


def _element(match: Element | str) -> Element:
    if isinstance(match, etree._Element):
        return match
    paragraph = etree.Element("p")
    # An attribute without a value, such as `disabled`, is shown by its name.
    paragraph.text = NOT_XML.sub("", str(match) or getattr(match, "attrname", None) or "")
    return paragraph


@lru_cache(maxsize=256)
def _compiled(selector: str) -> etree.XPath:
    kind, bare, (kinds, says) = selector_kind(selector), bare_selector(selector), CHOSEN_BY["html"]
    if kind not in kinds:
        raise ContentError(f"This is a page, and {says}; {selector[:_SHOWN]!r} is for another document.")
    if kind == "xpath":
        for name in _CALL.findall(_QUOTED.sub("''", bare)):
            if not _KNOWN_CALLS.fullmatch(name):
                raise ContentError(f"{selector[:_SHOWN]!r} is not an XPath 1.0: it has no function {name}().")
        return _xpath(selector, bare)
    try:
        return _xpath(selector, " | ".join(map(_path_of_css, parse_css(bare))))
    except RecursionError:
        raise ContentError(f"{selector[:_SHOWN]!r} is nested too deeply for a CSS selector.") from None
    except (SelectorError, ValueError) as error:
        why = _TOKEN.sub(_place, str(error)).rstrip(".")
        raise ContentError(f"{selector[:_SHOWN]!r} is not a CSS selector: {why}.") from None


def _xpath(selector: str, path: str) -> etree.XPath:
    try:
        return etree.XPath(path, regexp=False, extensions=_FUNCTIONS)
    except (etree.LxmlError, ValueError) as error:
        raise ContentError(f"{selector[:_SHOWN]!r} is not an XPath: {str(error).rstrip('.')}.") from None


class _Translator(HTMLTranslator):
    """CSS to XPath, with the extensions of jQuery and Soup Sieve: `:contains()` and similar."""

    def xpath_contains_function(self, xpath: XPathExpr, function: Function) -> XPathExpr:
        says = self.xpath_literal("".join(token.value or "" for token in function.arguments))
        return xpath.add_condition(f"contains(., {says})")

    xpath__soup_contains_function = xpath_contains_function


_TRANSLATOR = _Translator()


def _path_of_css(selector: Selector) -> str:
    """Return the XPath of a CSS selector; `::text` and `::attr(name)` choose texts and attributes."""
    path = _TRANSLATOR.selector_to_xpath(selector)
    match selector.pseudo_element:
        case None:
            return path
        case "text":
            return f"{path}/text()"
        case FunctionalPseudoElement(name="attr") as function if function.argument_types() == ["IDENT"]:
            return f"{path}/@{function.arguments[0].value}"
        case _:
            raise ValueError("the supported pseudo-elements are ::text and ::attr(name)")


def _fits(_context: object, value: Any, pattern: Any, flags: Any = "") -> bool:
    try:
        return re.search(_first(pattern), _first(value), re.I if "i" in _first(flags) else 0) is not None
    except (re.error, RecursionError, OverflowError) as error:
        raise ContentError(f"{_first(pattern)[:_SHOWN]!r} is not a regular expression: {error}.") from None


def _first(value: Any) -> str:
    """Return a value as text; of several nodes the first."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return "".join(value.itertext()) if isinstance(value, etree._Element) else _said(value)


_FUNCTIONS: Final[Mapping[tuple[None, str], Callable[..., Any]]] = {
    (None, "matches"): _fits,
    (None, "lower-case"): lambda _, value: _first(value).lower(),
}
"""Functions of XPath 2."""


def _place(token: re.Match[str]) -> str:
    kind, text, position = token.groups()
    if kind == "EOF":
        return "the end"
    return f"{text or 'white space'} at character {int(position) + 1}"
