"""Labels of values in the words of their page: row and column, surrounding words, or the place in a document."""

from __future__ import annotations

from typing import Final, NamedTuple

from actors.content.values.amounts import Writing
from actors.content.values.members import ROOT, path_at, path_of_block
from actors.content.values.reading import Found, values_in
from actors.content.wording.canonical import spelled, stripped
from actors.content.wording.one_line import cut, line
from storage.records.event import Context
from storage.records.value import MOST_VALUE_TEXT

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
