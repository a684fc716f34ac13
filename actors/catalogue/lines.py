"""The line of a TOML file in which something stands. Pure.

The TOML parser of the standard library tells the line of a mistake in the syntax only. For a mistake in the meaning the
line is looked up afterwards, by the headers of tables and the names before the equals signs. That finds what is written
as the documentation writes it; for anything more artful it gives the nearest line that it is sure of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_HEADER = re.compile(r"\s*\[\[?\s*([\w-]+)\s*\]\]?\s*(?:#.*)?")
_NAME = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*=")
_STEP = re.compile(r"([\w-]+)|\[(\d+)\]")


def line_of(text: str, place: str) -> int:
    """Return the line, from 1, of a place such as `sources[1].url`; that of its table when it is not in there.

    >>> line_of('id = "a"\\n[[sources]]\\nurl = "x"\\n[[sources]]\\ntype = "html"', "sources[1].type")
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
    """Whether `name` in a table is the place, or holds it."""
    return steps[:1] == [name] if not table[0] else steps[:3] == [*table, name]
