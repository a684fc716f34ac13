"""Selectors over a parsed page: what is watched (`selector`) and what is left out (`ignore`).

A selector is CSS, or XPath 1.0 where it begins with `xpath:` or a slash, as no CSS does. An XPath may also choose
texts, attributes and what a function says: each is then a paragraph of its own. A JSONPath begins with `$`. Of what has
no elements, lines are chosen by `lines:` and `re:`, blocks by `re:` and `path:` (`paths`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from cssselect import SelectorError
from lxml import etree
from lxml.cssselect import CSSSelector

from actors.content.bodies.markup import Element
from actors.content.errors import ContentError
from actors.content.messages.readings import CHOSEN_BY, XPATH, selector_kind
from actors.content.pages.json_path import BadPath, JsonPath, TooMany
from actors.content.pages.paths import path_of
from actors.content.wording.json_text import Location

_SHOWN = 200
_RANGE = re.compile(r"([1-9]\d{0,6})?(-)?([1-9]\d{0,6})?")
_MOST = 10_000
"""Matches that are taken."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# How cssselect names what it met: `<DELIM '!' at 5>`, `<EOF at 7>`.
_TOKEN = re.compile(r"<(\w+)(?: ([\"'].*[\"']))? at (\d+)>", re.S)


def select(root: Element, selector: str) -> list[Element]:
    """Return the outermost elements that match, in document order. Raises ContentError when it is no selector."""
    found = [_element(match) for match in matches(root, selector)]
    inside = set(found)
    return [element for element in found if not any(above in inside for above in element.iterancestors())]


def remove(root: Element, selector: str) -> int:
    """Take every matching element out of the tree; the text after it stays. Returns how many matched."""
    found = [match for match in matches(root, selector) if isinstance(match, etree._Element)]
    for element in found:
        parent = element.getparent()
        if parent is None:
            continue
        before = element.getprevious()
        if element.tail and before is not None:
            before.tail = (before.tail or "") + element.tail
        elif element.tail:
            parent.text = (parent.text or "") + element.tail
        parent.remove(element)
    return len(found)


def check(selector: str) -> None:
    """Raise ContentError, in words for the person who wrote it, unless the text is a selector."""
    match selector_kind(selector):
        case "jsonpath":
            json_path(selector)
        case "lines" | "regex":
            line_test(selector)
        case "path":
            path_of(selector)
        case _:
            _compiled(selector)


@lru_cache(maxsize=256)
def json_path(selector: str) -> JsonPath:
    """Return a compiled JSONPath. Raises ContentError."""
    try:
        return JsonPath(selector.strip())
    except BadPath as error:
        raise ContentError(f"{selector[:_SHOWN]!r} is not a JSONPath: {error}.") from None


LineTest = Callable[[int, str], str | None]
"""Of a line's number, from 1, and its text: what is chosen of it, None for nothing."""


@lru_cache(maxsize=256)
def line_test(selector: str) -> LineTest:
    """Return what chooses lines of a text: those in a range, or what a regular expression finds of each.

    An expression has no bound of its own on its time: the worker that runs it has. Raises ContentError.
    """
    kind, _, text = selector.strip().partition(":")
    if kind == "lines":
        found = _RANGE.fullmatch(text.strip())
        first, dash, last = found.groups() if found else (None, None, None)
        start, end = int(first or 1), int(last or 10**9) if dash else int(first or 0)
        if not (first or last) or start > end:
            raise ContentError(
                f"{selector[:_SHOWN]!r} names no lines: write lines:3, lines:3-20, lines:3- or lines:-20."
            )
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


def find_in_json(value: object, selector: str, figure: Callable[[object], object]) -> list[Location]:
    """Return the places in JSON that a JSONPath chooses. Raises ContentError."""
    try:
        return json_path(selector).find(value, figure)
    except (TooMany, RecursionError):
        raise ContentError(f"The selector {selector[:_SHOWN]!r} visits more of this document than is read.") from None


def matches(root: Element, selector: str) -> list[Element | str]:
    """Return what a selector matches, in document order: elements, and of an XPath texts. Raises ContentError."""
    try:
        found = _compiled(selector)(root)
    except etree.LxmlError as error:
        raise ContentError(f"The selector {selector!r} cannot be used on this page: {error}.") from None
    if isinstance(found, list):
        return found[:_MOST]
    return [_said(found)] if found is not False and _said(found) else []


def _said(value: object) -> str:
    """Return what a function of XPath says: a whole number without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _element(match: Element | str) -> Element:
    if isinstance(match, etree._Element):
        return match
    paragraph = etree.Element("p")
    paragraph.text = _NOT_XML.sub("", str(match))
    return paragraph


@lru_cache(maxsize=256)
def _compiled(selector: str) -> etree.XPath:
    if selector_kind(selector) not in CHOSEN_BY["html"][0]:
        raise ContentError(
            f"This is a page, and {CHOSEN_BY['html'][1]}; {selector[:_SHOWN]!r} is for another document."
        )
    if selector_kind(selector) == "xpath":
        try:
            return etree.XPath(selector.strip().removeprefix(XPATH).strip(), regexp=False)
        except (etree.LxmlError, ValueError) as error:
            raise ContentError(f"{selector[:_SHOWN]!r} is not an XPath: {str(error).rstrip('.')}.") from None
    try:
        return CSSSelector(selector, translator="html")
    except RecursionError:
        raise ContentError(f"{selector[:_SHOWN]!r} is nested too deeply for a CSS selector.") from None
    except (SelectorError, etree.LxmlError, ValueError) as error:
        why = _TOKEN.sub(_place, str(error)).rstrip(".")
        raise ContentError(f"{selector[:_SHOWN]!r} is not a CSS selector: {why}.") from None


def _place(token: re.Match[str]) -> str:
    kind, text, position = token.groups()
    if kind == "EOF":
        return "the end"
    return f"{text or 'white space'} at character {int(position) + 1}"
