"""The line of a place in a TOML file. Pure.

The standard library's TOML parser only reports lines of syntax errors. For a semantic error the line is found
afterwards, by table headers and the names before equals signs. That works for files written as documented; for
anything more elaborate it returns the nearest certain line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_HEADER = re.compile(r"\s*\[\[?\s*([\w-]+)\s*\]\]?\s*(?:#.*)?")
_NAME = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*=")
_STEP = re.compile(r"([\w-]+)|\[(\d+)\]")


def line_of(text: str, place: str) -> int:
    r"""Return the line, from 1, of a place such as `sources[1].url`, or that of its table if it is missing.

    >>> line_of('id = "a"\n[[sources]]\nurl = "x"\n[[sources]]\ntype = "html"', "sources[1].type")
    5
    """
    steps = [name or int(number) for name, number in _STEP.findall(place)]
    found, table = 1, ("", 0)
    seen: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            table = (header[1], seen[header[1]])
            seen[header[1]] += 1
            if steps[:2] == [*table] or steps[:1] == [table[0]] == steps:
                found = number
        elif (named := _NAME.match(line)) and _leads_to(table, named[1], steps):
            return number
    return found


def _leads_to(table: tuple[str, int], name: str, steps: Sequence[str | int]) -> bool:
    """Return whether `name` in a table is the place, or contains it."""
    return steps[:1] == [name] if not table[0] else steps[:3] == [*table, name]
