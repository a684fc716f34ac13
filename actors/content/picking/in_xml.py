"""XPaths of the lines of an XML document: by features that distinguish an element from its siblings, else by number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from actors.content.bodies.markup import Element
from actors.content.pages import selectors
from actors.content.pages.blocks import Blocks

_LONGEST: Final = 600
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*", re.A)
_TELLING: Final = ("id", "name", "key", "code", "slug", "sku", "title", "label", "url", "link", "loc", "guid")
"""Attributes and child elements that are tried first; after them, any attribute."""
_QUOTABLE: Final = re.compile(r"[^\"\x00-\x1f]{1,100}")


class XmlReaches:
    """The selectors of one document: see `picker.Reaches`. holders: the element of each block."""

    def __init__(self, root: Element, blocks: Blocks, holders: Sequence[Element]) -> None:
        self._root, self.blocks, self._holders = root, blocks, holders[: len(blocks.texts)]

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        return next(self.ways(at), "")

    def ways(self, at: int, kind: str | None = None, *, whole: bool = False) -> Iterator[str]:
        for named in (True, False):
            if path := self._path(self._holders[at], named=named):
                yield path

    def like(self, at: int, kind: str | None = None) -> str:
        path = self._path(self._holders[at], every=True)
        return path if path and len(self.chosen(path)) > 1 else ""

    def part(self, at: int, kind: str | None = None) -> str:
        above = self._holders[at].getparent()
        path = self._path(above) if above is not None and above is not self._root else ""
        return path if path and len(self.chosen(path)) > 1 else ""

    def chosen(self, selector: str) -> frozenset[int]:
        found = {one for one in selectors.matches(self._root, selector) if not isinstance(one, str)}
        inside = {each for one in found for each in one.iter()}
        return frozenset(at for at, holder in enumerate(self._holders) if holder in inside)

    def link(self, at: int) -> str | None:
        return None

    def earlier(self, names: Sequence[object]) -> None:
        """Not supported: a line says too little about its element to restore it."""

    def _path(self, element: Element, *, every: bool = False, named: bool = True) -> str:
        """Return the path to an element, "" for none. every: to all with its name, at the first level that repeats."""
        steps = list[str]()
        while element is not None:
            above = element.getparent()
            if not _NAME.fullmatch(element.tag):
                return ""
            beside = [] if above is None else [each for each in above.iterchildren(element.tag) if each is not element]
            if beside and not every:
                steps.append(f"{element.tag}[{_telling(element, beside, named=named)}]")
            else:
                steps.append(element.tag)
            every = every and not beside
            element = above
        path = "/" + "/".join(reversed(steps))
        return path if len(path) <= _LONGEST else ""


def _telling(element: Element, beside: Sequence[Element], *, named: bool) -> str:
    """Return a predicate that no sibling matches: an attribute, a child's text, or the element's number."""
    for name in dict.fromkeys((*_TELLING, *map(str, element.keys()))) if named else ():
        value = element.get(name) or ""
        if _NAME.fullmatch(name) and _QUOTABLE.fullmatch(value) and all(each.get(name) != value for each in beside):
            return f'@{name}="{value}"'
        said = _said(element, name)
        if _QUOTABLE.fullmatch(said) and all(_said(each, name) != said for each in beside):
            return f'normalize-space({name})="{said}"'
    return str(sum(1 for _ in element.itersiblings(element.tag, preceding=True)) + 1)


def _said(element: Element, name: str) -> str:
    if not _NAME.fullmatch(name):
        return ""
    child = next(element.iterchildren(name), None)
    return "" if child is None else " ".join("".join(child.itertext()).split())
