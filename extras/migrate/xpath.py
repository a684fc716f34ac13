"""XPath and YAML as other programs write them, within bounds.

PyYAML only parses; the meaning of nodes is decided here, so that no tag ever constructs an object. Tags, anchors,
aliases and merge keys are refused: job files need none, and bombs are built from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from actors.content.bodies.encoding import decode
from extras.migrate.plan import NotReadable

LONGEST: Final = 1000
_TEXT = re.compile(r"/{1,2}(?:text\(\)|node\(\))$")
_STEP = re.compile(r"(?P<axis>//?)(?P<name>[A-Za-z][\w-]*|\*)(?P<rest>(?:\[(?:[^\[\]\"']|\"[^\"]*\"|'[^']*')*\])*)")
_PREDICATE = re.compile(r"\[\s*((?:[^\[\]\"']|\"[^\"]*\"|'[^']*')*?)\s*\]")
_VALUE: Final = r"(?:\"(?P<v>[^\"\\]*)\"|'(?P<w>[^'\\]*)')"
_NAME: Final = r"@(?P<a>[A-Za-z_][\w-]*)"
_FORMS: Final = (
    (re.compile(rf"{_NAME}\s*=\s*{_VALUE}"), "="),
    (re.compile(rf"contains\(\s*{_NAME}\s*,\s*{_VALUE}\s*\)"), "*="),
    (re.compile(rf"starts-with\(\s*{_NAME}\s*,\s*{_VALUE}\s*\)"), "^="),
    (re.compile(_NAME), ""),
)
_HAS_CLASS = re.compile(
    r"contains\(\s*concat\(\s*['\"] ['\"]\s*,\s*(?:normalize-space\(\s*@class\s*\)|@class)\s*,\s*['\"] ['\"]\s*\)\s*,"
    r"\s*['\"] (?P<name>[\w-]+) ['\"]\s*\)"
)
_POSITION = re.compile(r"(?:position\(\)\s*=\s*)?([1-9]\d{0,5})")


def css_of(path: str) -> str | None:
    """Return the CSS selector that matches the same elements; None if there is none.

    >>> css_of('//div[@id="main"]/p[2]')
    'div[id="main"] > p:nth-of-type(2)'
    >>> css_of("/html/body//*[contains(@class, 'price')]/text()")
    'html > body *[class*="price"]'
    >>> css_of("//a/@href"), css_of("//h2[text()='News']"), css_of("(//h1)[1]")
    (None, None, None)
    """
    if len(path) > LONGEST:
        return None
    sides = [_side(side.strip()) for side in re.split(r"\|(?![^\[]*\])", path)]
    return ", ".join(side for side in sides if side) if all(sides) else None


def _side(path: str) -> str | None:
    path = _TEXT.sub("", path.removeprefix("."))
    if not path.startswith("/"):
        path = f"//{path}"
    css, at = "", 0
    while at < len(path):
        step = _STEP.match(path, at)
        element = None if step is None else _element(step["name"], step["rest"])
        if step is None or element is None:
            return None
        if at == 0 and step["axis"] == "/" and step["name"] != "html":
            return None
        css += element if at == 0 else f"{' > ' if step['axis'] == '/' else ' '}{element}"
        at = step.end()
    return css or None


def _element(name: str, rest: str) -> str | None:
    """Return one element with its conditions. A position is translated only as the first condition."""
    css = name
    for number, predicate in enumerate(_PREDICATE.findall(rest)):
        position = _POSITION.fullmatch(predicate)
        last = predicate == "last()"
        if position or last:
            if number or name == "*":
                return None
            css += ":last-of-type" if position is None else f":nth-of-type({position[1]})"
            continue
        condition = _condition(predicate)
        if condition is None:
            return None
        css += condition
    return css


def _condition(predicate: str) -> str | None:
    if found := _HAS_CLASS.fullmatch(predicate):
        return f".{found['name']}"
    for form, sign in _FORMS:
        if found := form.fullmatch(predicate):
            value = "" if not sign else found["v"] if found["v"] is not None else found["w"]
            if sign in ("*=", "^=") and not value:
                return None
            return f'[{found["a"]}{sign}"{value}"]' if sign else f"[{found['a']}]"
    return None


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
    """Yield non-empty documents with their first line. Raises NotReadable."""
    text = decode(data, "").text
    try:
        yield from _Reader(yaml.parse(text, _PARSER)).documents()
    except yaml.YAMLError as error:
        raise NotReadable(f"It is not YAML: {' '.join(str(error).split())[:300]}.") from None


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
            raise NotReadable(f"Line {line}: it is nested too deeply, or has too many parts.")
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise NotReadable(f"Line {line}: anchors and aliases (& and *) are not read: write the value out.")
        if event.tag is not None:
            raise NotReadable(f"Line {line}: tags such as {str(event.tag)[:60]} are not read.")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return [self._value(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)]
        return dict(self._pair(key, depth + 1) for key in self._until(yaml.MappingEndEvent))

    def _pair(self, key: Any, depth: int) -> tuple[str, Any]:
        if not isinstance(key, yaml.ScalarEvent):
            raise NotReadable(f"Line {key.start_mark.line + 1}: a name must be a text.")
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
