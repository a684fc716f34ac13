"""JSONPath (RFC 9535) over a JSON value: the places that a query chooses. Pure.

All of the RFC except the functions `match` and `search`. A filter compares numbers by value, whatever their stored
form: see `figure`. Beyond the RFC: `=~ /expression/`, and the place names of changes (`plans[Team].max-seats`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from actors.content.wording.json_text import LABEL, Location, Number, key_of
from actors.content.wording.json_text import figure as number_of

MOST_NODES: Final = 100_000
_NOTHING: Final = object()
_NAME: Final = re.compile("[A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff][0-9A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff]*")
_DOTTED: Final = re.compile(rf"\*|{_NAME.pattern[:-2]}-]*")
_LABEL: Final = re.compile(LABEL + r"(?=\])")
_EXPRESSION: Final = re.compile(r"/((?:[^/\\]|\\.)*)/(i?)")
_INT: Final = re.compile(r"0|-?[1-9]\d{0,15}")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_STRING: Final = re.compile(r"\"(?:[^\"\\\x00-\x1f]|\\.)*\"|'(?:[^'\\\x00-\x1f]|\\.)*'", re.S)
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_COMPARISONS: Final = ("==", "!=", "<=", ">=", "<", ">")
_LITERALS: Final = {"true": True, "false": False, "null": None}
_DEEPEST, _LARGEST = 50, 2**53 - 1
_ONE: Final = "a path must choose one value here, by names and numbers alone,"


class BadPath(Exception):
    """Not a JSONPath; the message gives the reason and the character."""


class TooMany(Exception):
    """A query visits more places than the limit."""


class Node(NamedTuple):
    """A value with its place."""

    location: Location
    value: Any


Selector = Callable[["Query", Node], Iterator[Node]]


class Query:
    """A running query: its root, and how many more places it may visit."""

    def __init__(self, root: Any) -> None:
        self.root, self._left = Node((), root), MOST_NODES

    def visit(self) -> None:
        """Count a place. Raises TooMany."""
        self._left -= 1
        if self._left < 0:
            raise TooMany


class Segment(NamedTuple):
    """A step from each node to others, by selectors. descends: also from nodes below. single: at most one result."""

    selectors: tuple[Selector, ...]
    descends: bool
    single: bool


class JsonPath:
    """A compiled query. Raises BadPath."""

    def __init__(self, text: str) -> None:
        reader = _Reader(text)
        reader.expect("$")
        self._segments = reader.segments()
        if not reader.at_end():
            raise reader.wrong("expected '.', '[' or the end")

    def find(self, root: Any) -> list[Location]:
        """Return the chosen places, each once, in the order found. Raises TooMany."""
        query = Query(root)
        return list(dict.fromkeys(node.location for node in _chosen(query, [query.root], self._segments)))


def _chosen(query: Query, nodes: Sequence[Node], segments: Sequence[Segment]) -> Sequence[Node]:
    for segment in segments:
        found: list[Node] = []
        for node in nodes:
            for start in _below(query, node) if segment.descends else (node,):
                for select in segment.selectors:
                    found.extend(select(query, start))
        nodes = found
    return nodes


def _below(query: Query, node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        query.visit()
        yield node
        waiting.extend(reversed(list(_children(query, node))))


def _inside(query: Query, node: Node, keys: Iterable[str | int]) -> Iterator[Node]:
    for key in keys:
        query.visit()
        yield Node((*node.location, key), node.value[key])


def _children(query: Query, node: Node) -> Iterator[Node]:
    if isinstance(node.value, list):
        return _inside(query, node, range(len(node.value)))
    return _inside(query, node, node.value if isinstance(node.value, dict) else ())


def _by_name(name: str) -> Selector:
    return lambda query, at: _inside(query, at, (name,) if isinstance(at.value, dict) and name in at.value else ())


def _by_label(label: str) -> Selector:
    """Select an item by its label in a change, and a member by its name."""
    by_name = _by_name(label)

    def select(query: Query, node: Node) -> Iterator[Node]:
        yield from by_name(query, node)
        key = key_of(node.value)
        for at, item in enumerate(node.value if key is not None else ()):
            query.visit()
            if item[key] == label:
                yield Node((*node.location, at), item)

    return select


def _by_slice(start: int | None, end: int | None, step: int) -> Selector:
    def select(query: Query, node: Node) -> Iterator[Node]:
        has = isinstance(node.value, list) and step
        return _inside(query, node, range(*slice(start, end, step).indices(len(node.value))) if has else ())

    return select


Test = Callable[[Query, Node], bool]
Value = Callable[[Query, Node], Any]
Nodes = Callable[[Query, Node], Sequence[Node]]


def _compared(left: Any, sign: str, right: Any) -> bool:
    left, right = number_of(left), number_of(right)
    equal = _equal(left, right)
    if sign in ("==", "!="):
        return equal is (sign == "==")
    if sign in ("<=", ">=") and equal:
        return True
    numbers = _is_number(left) and _is_number(right)
    if not numbers and not (isinstance(left, str) and isinstance(right, str)):
        return False
    return bool(left < right) if sign[0] == "<" else bool(left > right)


def _equal(left: Any, right: Any) -> bool:
    if left is _NOTHING or right is _NOTHING:
        return left is right
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def wrong(self, why: str) -> BadPath:
        return BadPath(f"{why} at character {self._at + 1}")

    def at_end(self) -> bool:
        return self.sees("") and self._at == len(self._text)

    def sees(self, *marks: str) -> bool:
        """Whether one of these is next, after white space."""
        self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]  # it always matches
        return self._text.startswith(marks, self._at)

    def takes(self, mark: str) -> bool:
        if self.sees(mark):
            self._at += len(mark)
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.takes(mark):
            raise self.wrong(f"expected {mark!r}")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def segments(self) -> tuple[Segment, ...]:
        found = list[Segment]()
        while True:
            if self.takes(".."):
                selectors = self._bracketed() if self.sees("[") else (self._dotted(),)
                found.append(Segment(tuple(select for select, _ in selectors), descends=True, single=False))
            elif self.sees(".", "["):
                selectors = (self._dotted(),) if self.takes(".") else self._bracketed()
                single = len(selectors) == 1 and selectors[0][1]
                found.append(Segment(tuple(select for select, _ in selectors), descends=False, single=single))
            else:
                return tuple(found)

    def _dotted(self) -> tuple[Selector, bool]:
        name = self.match(_DOTTED)
        if name is None:
            raise self.wrong("expected a name or '*'")
        return (_children, False) if name == "*" else (_by_name(name), True)

    def _bracketed(self) -> tuple[tuple[Selector, bool], ...]:
        self.expect("[")
        found = list[tuple[Selector, bool]]()
        while True:
            found.append(self._selector())
            if self.takes("]"):
                return tuple(found)
            self.expect(",")

    def _selector(self) -> tuple[Selector, bool]:
        if self.takes("*"):
            return _children, False
        if self.sees('"', "'"):
            return _by_label(self._string()), True
        if self.takes("?"):
            test = self._either()
            return (lambda query, node: (child for child in _children(query, node) if test(query, child))), False
        if (label := self.match(_LABEL)) is not None:
            return _by_label(label), True
        start = self._int()
        if not self.takes(":"):
            if start is None:
                raise self.wrong("expected a name in quotes, a number, '*' or '?'")
            return _by_slice(start, start + 1 or None, 1), True
        end = self._int()
        step = self._int() if self.takes(":") else None
        return _by_slice(start, end, 1 if step is None else step), False

    def _int(self) -> int | None:
        self.sees("")
        found = self.match(_INT)
        if found is not None and abs(int(found)) > _LARGEST:
            raise self.wrong("this number is too large")
        return None if found is None else int(found)

    def _string(self) -> str:
        found = self.match(_STRING)
        if found is None:
            raise self.wrong("this quoted text has no end, or a character that must be escaped")
        inside = found[1:-1]
        if found[0] == "'":
            inside = inside.replace("\\'", "'").replace('"', '\\"')
        try:
            text = str(json.loads(f'"{inside}"'))
            text.encode()
        except ValueError:
            raise self.wrong("this quoted text has an invalid JSON escape") from None
        return text

    # --- filters ---------------------------------------------------------------------------------------------------

    def _either(self) -> Test:
        return self._joined("||", any, lambda: self._joined("&&", all, self._test))

    def _joined(self, mark: str, of: Callable[[Iterable[bool]], bool], part: Callable[[], Test]) -> Test:
        tests = [part()]
        while self.takes(mark):
            tests.append(part())
        return tests[0] if len(tests) == 1 else lambda query, node: of(test(query, node) for test in tests)

    def _test(self) -> Test:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.wrong("this is nested too deeply")
        try:
            if not self.sees("!=") and self.takes("!"):
                test = self._test()
                return lambda query, node: not test(query, node)
            if self.takes("("):
                test = self._either()
                self.expect(")")
                return test
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Test:
        start = self._at
        left, nodes, single = self._operand()
        if self.takes("=~"):
            pattern = self._expression()
            return lambda query, node: isinstance(text := left(query, node), str) and bool(pattern.search(text))
        sign = next((sign for sign in _COMPARISONS if self.takes(sign)), None)
        if sign is None:
            if nodes is None:
                self._at = start
                raise self.wrong("expected a comparison, or a path that begins with '@' or '$'")
            return lambda query, node: bool(nodes(query, node))
        right, _, right_single = self._operand()
        if not (single and right_single):
            raise self.wrong(_ONE)
        return lambda query, node: _compared(left(query, node), sign, right(query, node))

    def _expression(self) -> re.Pattern[str]:
        """Read a regular expression; the caller bounds the time of its use."""
        self.sees("")
        found = _EXPRESSION.match(self._text, self._at)
        if found is None:
            raise self.wrong("expected a regular expression, as /abc/ or /abc/i")
        try:
            pattern = re.compile(found[1].replace("\\/", "/"), re.I if found[2] else 0)
        except (re.error, RecursionError, OverflowError) as error:
            raise self.wrong(f"this is not a regular expression ({error})") from None
        self._at = found.end()
        return pattern

    def _operand(self) -> tuple[Value, Nodes | None, bool]:
        """Return a function for the value, a path's function for its nodes, and whether there is at most one."""
        if self.sees('"', "'"):
            text = self._string()
            return (lambda query, node: text), None, True
        if self.sees("@", "$"):
            nodes, single = self._path()
            return _one_of(nodes), nodes, single
        if (found := self.match(_NUMBER)) is not None:
            figure = number_of(Number(found))
            return (lambda query, node: figure), None, True
        name = self.match(_NAME)
        if name in _LITERALS:
            value = _LITERALS[name]
            return (lambda query, node: value), None, True
        if name in ("length", "count", "value"):
            return self._function(name), None, True
        raise self.wrong(f"{name} is not known here" if name else "expected a value")

    def _path(self) -> tuple[Nodes, bool]:
        from_root = self.takes("$")
        if not from_root:
            self.expect("@")
        segments = self.segments()
        single = all(segment.single for segment in segments)
        return (lambda query, node: _chosen(query, [query.root if from_root else node], segments)), single

    def _function(self, name: str) -> Value:
        self.expect("(")
        value, nodes, single = self._operand()
        self.expect(")")
        if name == "length":
            if not single:
                raise self.wrong(_ONE)
            sized = (str, list, dict)
            return lambda query, node: len(it) if isinstance(it := value(query, node), sized) else _NOTHING
        if nodes is None:
            raise self.wrong(f"{name} needs a path that begins with '@' or '$'")
        if name == "value":
            return value
        return lambda query, node: len(nodes(query, node))


def _one_of(nodes: Nodes) -> Value:
    """Return a function for the value of a path that chooses exactly one node, else nothing."""

    def value(query: Query, node: Node) -> Any:
        found = nodes(query, node)
        return found[0].value if len(found) == 1 else _NOTHING

    return value
