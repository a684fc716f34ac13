"""JSONPaths of the lines of a JSON document: by what an item of a list is called, not by its place in the list."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from actors.content.pages import json_text, selectors
from actors.content.pages.blocks import Blocks
from actors.content.pages.json_path import Location

_NAME: Final = re.compile(r"[A-Za-z_\u0080-\uffff][\w]*", re.A)
_LONGEST: Final = 600


class JsonReaches:
    """The paths of one document: see `picker.Reaches`."""

    def __init__(self, value: Any, blocks: Blocks) -> None:
        self._value, self.blocks = value, blocks
        self._places = [line.at for line in json_text.lines(value) for _ in _pieces(line.text)][: len(blocks.texts)]

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        return _fitting(self._path(self._places[at]))

    def like(self, at: int, kind: str | None = None) -> str:
        place = self._places[at]
        lists = [depth for depth, step in enumerate(place) if isinstance(step, int)]
        if not lists:
            return ""
        path = _fitting(self._path(place, every=lists[-1]))
        return path if path and len(self.chosen(path)) > 1 else ""

    def part(self, at: int, kind: str | None = None) -> str:
        place = self._places[at]
        return _fitting(self._path(place[:-1])) if len(place) > 1 else ""

    def chosen(self, selector: str) -> frozenset[int]:
        found = frozenset(selectors.find_in_json(self._value, selector, json_text.figure))
        ways = ((at, place[:depth]) for at, place in enumerate(self._places) for depth in range(len(place) + 1))
        return frozenset(at for at, way in ways if way in found)

    def link(self, at: int) -> str | None:
        return None

    def _path(self, place: Location, every: int | None = None) -> str:
        """Return the path to a place; `every`: at which depth all items are meant."""
        value, path = self._value, "$"
        for depth, step in enumerate(place):
            path += "[*]" if depth == every else _member(step) if isinstance(step, str) else _item(value, step)
            value = value[step]
        return path


def _member(name: str) -> str:
    return f".{name}" if _NAME.fullmatch(name) else f"[{json.dumps(name)}]"


def _item(items: Any, at: int) -> str:
    """Return the step to an item of a list: by the member that tells the items apart, else by its number."""
    key = json_text.key_of(items)
    return f"[{at}]" if key is None else f"[?@{_member(key)}=={json.dumps(items[at][key], ensure_ascii=False)}]"


def _fitting(path: str) -> str:
    return path if len(path) <= _LONGEST else ""


def _pieces(text: str) -> range:
    """Return a number for each block that a line becomes: one that is long goes on in the next."""
    return range(max(1, -(-len(" ".join(text.split())) // json_text.LONGEST)))
