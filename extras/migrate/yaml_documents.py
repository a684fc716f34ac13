"""YAML as other programs write it, within bounds.

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
