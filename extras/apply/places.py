"""Find the line of a table or key in a TOML file, for error messages only. Pure."""

from __future__ import annotations

import re

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
