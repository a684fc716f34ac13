"""Paths of the values in a JSON block: `$.plans[Team].limits.seats`, even if the block is a whole object."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from actors.content.wording import json_text

ROOT: Final = "$"


class Member(NamedTuple):
    """A value without members, from `start` to `end` of a text. group: the path of its list if that holds only such
    values, else its own.
    """

    start: int
    end: int
    path: str
    group: str


class _OtherHand(Exception):
    """The text differs from our own JSON format."""


def root_of(row: str) -> str:
    """Return the path of a block's place.

    >>> root_of(""), root_of("plans[Team]"), root_of("[7]")
    ('$', '$.plans[Team]', '$[7]')
    """
    row = row.removeprefix("$").removeprefix(".")
    return f"${row}" if row.startswith("[") or not row else f"$.{row}"


def path_of_block(text: str, row: str) -> str:
    """Return the path of a whole block. row: its place; for a single value, that of its container."""
    name, rest = json_text.named(text)
    is_held = name is not None and rest and rest[0] not in "{["
    return json_text.member(root_of(row), name) if is_held and name is not None else root_of(row)


@lru_cache(maxsize=256)
def members_of(text: str, row: str) -> tuple[Member, ...]:
    """Return the values of a block in order; () if it is a part of one, or no JSON.

    >>> [(one.path, '{"a": 1, "b": [2, 3]}'[one.start : one.end]) for one in members_of('{"a": 1, "b": [2, 3]}', "x")]
    [('$.x.a', '1'), ('$.x.b[0]', '2'), ('$.x.b[1]', '3')]
    """
    _, rest = json_text.named(text)
    value = json_text.loaded(rest)
    if value is json_text.NO_VALUE:
        return ()
    try:
        return tuple(_walk(value, text, len(text) - len(rest), path_of_block(text, row)))
    except (_OtherHand, RecursionError):
        return ()


def _walk(value: Any, text: str, at: int, path: str, group: str = "") -> Iterator[Member]:
    """Yield the values inside the value written at this position."""
    if not isinstance(value, (dict, list)) or not value:
        end = at + len(json_text.on_one_line(value))
        if text[at:end] != json_text.on_one_line(value):
            raise _OtherHand
        yield Member(at, end, path, group or path)
        return
    at += 1
    is_plain = isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value)
    if isinstance(value, dict):
        steps = [(json_text.on_one_line(key), json_text.member(path, key), item) for key, item in value.items()]
    else:
        learned = json_text.key_of(value)
        steps = [("", path + json_text.item_of(value, number, learned), item) for number, item in enumerate(value)]
    for name, below, item in steps:
        start = at + len(name) + 2 if name else at
        yield from _walk(item, text, start, below, path if is_plain else "")
        at = start + len(json_text.on_one_line(item)) + 2


def path_at(text: str, row: str, end: int) -> str:
    """Return the path of the value that ends at this position, else that of the block."""
    found = (one.path for one in members_of(text, row) if one.start < end <= one.end)
    return next(found, path_of_block(text, row))
