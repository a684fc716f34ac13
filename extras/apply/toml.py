"""TOML tables written, and the places of values in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def key_of(name: str) -> str:
    """Return a key, quoted if necessary.

    >>> key_of("day-tickets"), key_of("no. 5")
    ('day-tickets', '"no. 5"')
    """
    return name if _BARE.fullmatch(name) else text_of(name)


def text_of(text: str) -> str:
    """Quote text; several lines become a multi-line string.

    >>> text_of("ten\\nlines").splitlines()
    ['\"\"\"', 'ten', 'lines\"\"\"']
    """
    several = "\n" in text and "\\" not in text
    return f'"""\n{_quoted(text)[1:-1].replace(chr(92) + "n", chr(10))}"""' if several else _quoted(text)


def _quoted(text: str) -> str:
    """Quote as in JSON, which equals TOML except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value_of(value: Any) -> str:
    """Return a value as TOML.

    >>> value_of(True), value_of(("a", "b")), value_of({"env": "X"}), value_of(0.5)
    ('true', '["a", "b"]', '{ env = "X" }', '0.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(name)} = {value_of(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_quoted(one) if isinstance(one, str) else value_of(one) for one in value) + "]"
    return repr(value)


_HEADER = re.compile(r"\s*\[+([^\]]*)\]")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[=.]""")
_STEP = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))\s*(?:\.|$)""")


def line_of(text: str, table: str, key: str = "") -> int:
    """Return the line (from 1) of a key in a table such as `sources.day-tickets`; without the key, the line of the
    table's header; else 0.

    >>> line_of('a = 1\\n[sources."x"]\\nurl = 2\\n[sources.y]\\nurl = 3\\ntags = []', "sources.y", "tags")
    6
    """
    found, inside = 0, not table
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            inside = _joined(header[1]) == table
            found = number if inside and not found else found
        elif inside and key and (named := _KEY.match(line)) and _one(named.groups()) == key:
            return number
    return found


def _joined(header: str) -> str:
    return ".".join(_one(step.groups()) for step in _STEP.finditer(header))


def _one(groups: tuple[str | None, ...]) -> str:
    return next((group for group in groups if group is not None), "")
