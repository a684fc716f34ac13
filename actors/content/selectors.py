"""CSS selectors over a parsed page: what is watched (`selector`) and what is left out (`ignore`)."""

from __future__ import annotations

from functools import lru_cache

from cssselect import SelectorError
from lxml import etree
from lxml.cssselect import CSSSelector

from actors.content.errors import ContentError
from actors.content.markup import Element


def select(root: Element, selector: str) -> list[Element]:
    """Return the outermost elements that match, in document order. Raises ContentError when the selector is no CSS."""
    found = _matches(root, selector)
    inside = set(found)
    return [element for element in found if not any(above in inside for above in element.iterancestors())]


def remove(root: Element, selector: str) -> None:
    """Take every matching element out of the tree; the text after it stays."""
    for element in _matches(root, selector):
        parent = element.getparent()
        if parent is None:
            continue
        before = element.getprevious()
        if element.tail and before is not None:
            before.tail = (before.tail or "") + element.tail
        elif element.tail:
            parent.text = (parent.text or "") + element.tail
        parent.remove(element)


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
    except (SelectorError, etree.LxmlError, ValueError, RecursionError) as error:
        raise ContentError(f"{selector[:200]!r} is not a CSS selector: {str(error).rstrip('.')}.") from None
