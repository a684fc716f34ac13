"""JSONPaths of the lines of a JSON document: list items by name, not by position."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from actors.content.pages import selectors
from actors.content.pages.blocks import Blocks
from actors.content.pages.earlier import Paragraph
from actors.content.wording import json_text
from actors.content.wording.json_text import Location

_NAME: Final = re.compile(r"[A-Za-z_\u0080-\uffff][\w]*", re.A)
_LONGEST: Final = 600


class JsonReaches:
    """The paths of one document: see `picker.Reaches`."""

    def __init__(self, value: Any, blocks: Blocks) -> None:
        self._value, self.blocks = value, blocks
        self._places = [line.at for line in json_text.lines(value) for _ in _pieces(line.text)][: len(blocks.texts)]

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        return next(self.ways(at), "")

    def ways(self, at: int, kind: str | None = None, *, whole: bool = False) -> Iterator[str]:
        for path in dict.fromkeys((self._path(self._places[at]), self._path(self._places[at], named=False))):
            if len(path) <= _LONGEST:
                yield path

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

    def earlier(self, names: Sequence[object]) -> PastJson:
        return PastJson(self._value, self._places, names)

    def _path(self, place: Location, every: int | None = None, *, named: bool = True) -> str:
        """Return the path to a place. every: the depth where all items match. named: items by their names."""
        value, path = self._value, "$"
        for depth, step in enumerate(place):
            here = _member(step) if isinstance(step, str) else _item(value, step) if named else f"[{step}]"
            path += "[*]" if depth == every else here
            value = value[step]
        return path


class PastJson:
    """A JSON value that goes back version by version: see `trying.Earlier`."""

    def __init__(self, value: Any, places: Sequence[Location], names: Sequence[object]) -> None:
        self._value = copy.deepcopy(value)
        self._places = dict(zip(names, places, strict=True))

    def chosen(self, selector: str) -> frozenset[object]:
        found = frozenset(selectors.find_in_json(self._value, selector, json_text.figure))
        return frozenset(
            name
            for name, place in self._places.items()
            if any(place[:depth] in found for depth in range(len(place) + 1))
        )

    def back(self, after: Sequence[Paragraph], before: Sequence[Paragraph]) -> None:
        now, then = ({paragraph.thread: paragraph.text for paragraph in side} for side in (after, before))
        for name, text in then.items():
            if name in self._places and now.get(name, text) != text:
                self._say(self._places[name], text)
        for name in now.keys() - then.keys():
            if place := self._places.pop(name, None):
                self._take_out(place)
        above: Location = ()
        for paragraph in before:
            if paragraph.thread not in now:
                self._put_in(paragraph, above)
            above = self._places.get(paragraph.thread, above)

    def _say(self, place: Location, text: str) -> None:
        key, value = _said(text)
        if place and value is not json_text.NO_VALUE and (key is None or key == place[-1]):
            _at(self._value, place[:-1])[place[-1]] = value

    def _take_out(self, place: Location) -> None:
        """Delete a place, and all containers that become empty."""
        while place:
            held = _at(self._value, place[:-1])
            del held[place[-1]]
            if isinstance(held, list):
                self._move(place, -1)
            if held:
                return
            place = place[:-1]

    def _put_in(self, paragraph: Paragraph, above: Location) -> None:
        """Insert a line after the one above it; an existing member starts a new item."""
        key, value = _said(paragraph.text)
        depth = len(above) - 1
        while depth >= 0 and (isinstance(above[depth], int) is (key is not None)):
            depth -= 1
        if value is json_text.NO_VALUE or depth < 0:
            return
        held, item = _at(self._value, above[:depth]), above[:depth]
        if key is None:
            place = (*item, int(above[depth]) + 1)
        elif key not in held:
            held[key] = value
            self._places[paragraph.thread] = (*item, key)
            return
        elif item and isinstance(item[-1], int):
            held, place, value = _at(self._value, item[:-1]), (*item[:-1], item[-1] + 1), {key: value}
        else:
            return
        self._move(place, 1)
        held.insert(place[-1], value)
        self._places[paragraph.thread] = place if key is None else (*place, key)

    def _move(self, place: Location, by: int) -> None:
        """Renumber the items of a list from a place on, after one was added or removed there."""
        above, first = place[:-1], place[-1]
        for name, other in self._places.items():
            item = other[len(above)] if other[: len(above)] == above and len(other) > len(above) else None
            if isinstance(item, int) and isinstance(first, int) and item >= first:
                self._places[name] = (*above, item + by, *other[len(above) + 1 :])


def _said(line: str) -> tuple[str | None, Any]:
    """Return a line's member name (None for an item) and its value; NO_VALUE if it cannot be parsed."""
    key, rest = json_text.named(line)
    return key, json_text.loaded(rest)


def _at(value: Any, place: Location) -> Any:
    for step in place:
        value = value[step]
    return value


def _member(name: str) -> str:
    return f".{name}" if _NAME.fullmatch(name) else f"[{json.dumps(name)}]"


def _item(items: Any, at: int) -> str:
    """Return the step to a list item: by the member that distinguishes the items, else by its number."""
    key = json_text.key_of(items)
    return f"[{at}]" if key is None else f"[?@{_member(key)}=={json.dumps(items[at][key], ensure_ascii=False)}]"


def _fitting(path: str) -> str:
    return path if len(path) <= _LONGEST else ""


def _pieces(text: str) -> range:
    """Return a number for each block of a line; a long line continues in the next block."""
    return range(max(1, -(-len(" ".join(text.split())) // json_text.LONGEST)))
