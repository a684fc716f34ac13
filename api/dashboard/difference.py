"""An event's difference as lines for people, and in a changed line the words that differ; `ui.diff` shows it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from storage.records.event import Delta, Diff

MOST_WORDS: Final = 600
"""Words of both sides of a line beyond which all of it counts as changed: comparing takes the product of both."""
LIKE: Final = 0.5
"""Lines that have less than this part in common are one gone and one new, not one that was changed."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of a line; `marked`: the other side has something else there."""

    text: str
    marked: bool = False


class Line(NamedTuple):
    """A line that came ("+"), went ("-"), or says something about the others (" ")."""

    sign: Literal["+", "-", " "]
    pieces: tuple[Piece, ...]


class Changed(Struct, frozen=True):
    """The part of an event that says what changed."""

    diff: Diff | None = None
    delta: Delta | None = None


def lines_of(changed: Changed, most: int | None = None) -> list[Line]:
    """Return the lines of a difference, in reading order where that is known; none when there is no difference.

    most: what is beyond is only counted.
    """
    lines = list(_in_order(changed.delta) if changed.delta is not None else _by_sort(changed.diff))
    shown = lines[:most]
    if len(shown) < len(lines):
        shown.append(_said(f"{len(lines) - len(shown)} more lines: the event has them all."))
    elif (changed.delta or changed.diff or Diff((), (), ())).truncated:
        shown.append(_said("The difference is longer than what an event keeps of it."))
    return shown


def _in_order(delta: Delta) -> Iterator[Line]:
    for op in delta.ops:
        if op.op == "insert":
            yield _whole("+", op.text)
        elif op.op == "delete":
            yield _whole("-", op.text)
        else:
            yield from altered(str(op.before or ""), str(op.after or ""))


def _by_sort(diff: Diff | None) -> Iterator[Line]:
    if diff is None:
        return
    for pair in diff.changed:
        yield from altered(pair.before, pair.after)
    for text in diff.removed:
        yield _whole("-", text)
    for text in diff.added:
        yield _whole("+", text)


def altered(before: str, after: str) -> tuple[Line, Line]:
    """Return a line as it was and as it is, with the words that differ marked.

    >>> [[piece.text for piece in line.pieces if piece.marked] for line in altered("costs 19 euros", "costs 29 euros")]
    [['19'], ['29']]
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        return _whole("-", before), _whole("+", after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < LIKE:
        return _whole("-", before), _whole("+", after)
    steps = matcher.get_opcodes()
    gone = _pieces(old, [(start, end, sort != "equal") for sort, start, end, _, _ in steps])
    came = _pieces(new, [(start, end, sort != "equal") for sort, _, _, start, end in steps])
    return Line("-", gone), Line("+", came)


def _pieces(words: Sequence[str], spans: Sequence[tuple[int, int, bool]]) -> tuple[Piece, ...]:
    return tuple(Piece("".join(words[start:end]), marked) for start, end, marked in spans if end > start)


def _whole(sign: Literal["+", "-"], text: object) -> Line:
    return Line(sign, (Piece(text if isinstance(text, str) else ""),))


def _said(text: str) -> Line:
    return Line(" ", (Piece(text),))
