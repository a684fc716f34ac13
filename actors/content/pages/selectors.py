"""CSS selectors over a parsed page: what is watched (`selector`) and what is left out (`ignore`)."""

from __future__ import annotations

import re
from functools import lru_cache

from cssselect import SelectorError
from lxml import etree
from lxml.cssselect import CSSSelector

from actors.content.bodies.markup import Element
from actors.content.errors import ContentError

_SHOWN = 200
# How cssselect names what it met: `<DELIM '!' at 5>`, `<EOF at 7>`.
_TOKEN = re.compile(r"<(\w+)(?: ([\"'].*[\"']))? at (\d+)>", re.S)


def select(root: Element, selector: str) -> list[Element]:
    """Return the outermost elements that match, in document order. Raises ContentError when the selector is no CSS."""
    found = _matches(root, selector)
    inside = set(found)
    return [element for element in found if not any(above in inside for above in element.iterancestors())]


def remove(root: Element, selector: str) -> int:
    """Take every matching element out of the tree; the text after it stays. Returns how many matched."""
    found = _matches(root, selector)
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
    """Raise ContentError, in words for the person who wrote it, unless the text is a CSS selector."""
    _compiled(selector)


def _matches(root: Element, selector: str) -> list[Element]:
    try:
        return list(_compiled(selector)(root))
    except etree.LxmlError as error:
        raise ContentError(f"The selector {selector!r} cannot be used on this page: {error}.") from None


@lru_cache(maxsize=256)
def _compiled(selector: str) -> CSSSelector:
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
