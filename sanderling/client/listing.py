"""Lists for a person at a terminal: headings, columns, shortened ids, ages, colours. Pure except for the width.

Pipes and files get other output: whole ids and times, no headings.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import click

from sanderling.client.rendering import cells, fit, pad
from sanderling.client.status_screen import span
from sanderling.environment import environ, on_terminal, wants_colour
from storage.records.secrecy import plain
from storage.records.states import Mood

LEAST = 6
"""Minimum letters of an id shown."""
GAP = 2
ROOM = 24
"""Minimum cells of the last two columns while another still has more."""
_CODES: Mapping[Mood, str] = {"good": "32", "calm": "36", "warn": "33", "bad": "31"}


class Cell(NamedTuple):
    """Text with a mood that chooses its colour. right: align as a number."""

    text: str
    mood: Mood | None = None
    right: bool = False


def for_a_person() -> bool:
    """Return whether stdout is a terminal."""
    return on_terminal(1)


def print_list(heads: Sequence[str], rows: Sequence[Sequence[Cell | str]]) -> None:
    """Print a list to the terminal; nothing without rows."""
    width = shutil.get_terminal_size((100, 24)).columns
    for line in table(heads, rows, width, colour=wants_colour(environ())) if rows else ():
        click.echo(line)


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell | str]], width: int, *, colour: bool) -> Iterator[str]:
    """Yield headings and rows as lines. The last two columns shrink to fit."""
    whole = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    whole = [[cell._replace(text=plain(" ".join(cell.text.split()))) for cell in row] for row in whole]
    wide = [max(cells(head), *(cells(row[n].text) for row in whole)) for n, head in enumerate(heads)]
    for n, least in ((-1, ROOM), (-2, ROOM), (-1, 0)):
        over = sum(wide) + GAP * (len(wide) - 1) - width
        wide[n] = max(min(wide[n], least), wide[n] - max(0, over))
    right = [row.right for row in whole[0]]
    yield _line([Cell(head, right=right[n]) for n, head in enumerate(heads)], wide, "1" if colour else "")
    for row in whole:
        yield _line(row, wide, "", colour=colour)


def _line(row: Sequence[Cell], wide: Sequence[int], style: str, *, colour: bool = False) -> str:
    found = []
    for cell, width in zip(row, wide, strict=True):
        text = fit(cell.text, width)
        text = " " * (width - cells(text)) + text if cell.right else pad(text, width)
        code = _CODES[cell.mood] if colour and cell.mood else style
        found.append(f"\x1b[{code}m{text}\x1b[0m" if code else text)
    return (" " * GAP).join(found).rstrip()


def short_ids(ids: Sequence[str]) -> Mapping[str, str]:
    """Shorten ids to their shortest unique endings. Ids of the same minute begin alike.

    >>> list(short_ids(["a-8000-000000c1", "a-8000-100000c1", "a-8000-c0ffee"]).values())
    ['c0ffee', '000000c1', '100000c1']
    """
    found: dict[str, str] = {}
    left, letters = list(dict.fromkeys(ids)), LEAST
    while left:
        ends: dict[str, list[str]] = {}
        for id in left:
            ends.setdefault(id[-letters:], []).append(id)
        found.update({same[0]: end for end, same in ends.items() if len(same) == 1 or letters >= len(same[0])})
        left = [id for id in left if id not in found and letters < len(id)]
        letters += 1
    return found


def ago(moment: str | None, now: datetime) -> str:
    """Return the age of a moment (RFC 3339) in its largest unit.

    >>> ago("2026-04-21T10:00:00.000Z", datetime.fromisoformat("2026-04-21T13:10:00Z")), ago(None, datetime.now())
    ('3h ago', 'never')
    """
    if moment is None:
        return "never"
    return f"{_largest(moment, now)} ago"


def within(moment: str, now: datetime) -> str:
    """Return the time until a moment in its largest unit."""
    seconds = (datetime.fromisoformat(moment) - now).total_seconds()
    return f"in {span(seconds).partition(' ')[0]}" if seconds > 0 else "over"


def _largest(moment: str, now: datetime) -> str:
    return span(max(0.0, (now - datetime.fromisoformat(moment)).total_seconds())).partition(" ")[0]
