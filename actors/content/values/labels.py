"""Labels of values in the words of their page, and the paths of values in a JSON block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from actors.content.values.amounts import Writing
from actors.content.values.reading import Found, values_in
from actors.content.wording import json_text
from actors.content.wording.canonical import spelled, stripped
from actors.content.wording.spans import cut, line
from storage.records.event import MOST_VALUE_TEXT, Context

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


HOLE: Final = "\u2205"
_WORDS_OF_LABEL: Final = 48


class Noted(NamedTuple):
    """A text for comparison: its values, and its words with a hole for each value."""

    text: str
    values: tuple[Found, ...]
    around: str


def as_noted(text: str, writing: Writing, cell: str) -> Noted:
    """Read the values of a text. cell: its row and column labels, "" outside tables."""
    return noted_with(text, tuple(values_in(text, writing, cell)))


def noted_with(text: str, values: tuple[Found, ...]) -> Noted:
    """Prepare a text with known values for comparison."""
    parts, at = [], 0
    for one in values:
        parts += [text[at : one.start], f" {HOLE} "]
        at = one.end
    return Noted(text, values, stripped(spelled("".join((*parts, text[at:])))))


def around(noted: Noted, i: int) -> str:
    """Return the words around a value, with dots in its place: "Team … per month"."""
    one = noted.values[i]
    start = noted.values[i - 1].end if i else 0
    end = noted.values[i + 1].start if i + 1 < len(noted.values) else len(noted.text)
    head, tail = line(noted.text[start : one.start]), line(noted.text[one.end : end])
    head, tail = head.strip(" ,;|(·–-").lstrip(". "), tail.strip(" .,;|)·–-")
    if len(head) > _WORDS_OF_LABEL:
        head = head[-_WORDS_OF_LABEL:].partition(" ")[2]
    return fitting(f"{head.rstrip(':')} … {cut(tail, 24)}" if head and tail else head.rstrip(": ") or cut(tail, 24))


def labelled(context: Context | None) -> str:
    """Return a block's row and column; nothing in a document with paths."""
    if context is None:
        return ""
    return fitting(" · ".join(filter(None, (line(context.row), line(context.column)))))


def label_of(context: Context | None) -> str:
    """Return row and column, else the heading above."""
    return labelled(context) or (fitting(line(context.heading)) if context and context.heading else "")


def cell_of(context: Context | None) -> str:
    return "" if context is None else f"{context.row} {context.column}".strip()


def path_of(text: str, context: Context | None, found: Found | None, writing: Writing) -> str:
    """Return the JSON path of a value in a block, "" if unknown. found: None for the block itself."""
    if not writing.exact:
        return ""
    row = context.row if context else ""
    path = path_of_block(text, row) if found is None else path_at(text, row, found.end)
    return "" if path == ROOT else path


def fitting(text: str) -> str:
    """Cut a label to the length in an event."""
    return cut(text, MOST_VALUE_TEXT)


def short(text: str) -> str:
    """Put a text on one line and cut it likewise."""
    return cut(line(text), MOST_VALUE_TEXT)
