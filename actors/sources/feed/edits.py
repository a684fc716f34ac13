"""Edits of entries: which to report. The rules of pages (`changes.difference`), for entries. Pure.

Lines that change alike in most entries are furniture. A text that returns after a brief other one alternates with it,
and a line that is replaced repeatedly is restless: both are held until they stay. So is an edit of nearly all entries
at once, which may be another server's rendering. A held edit is reported when it has stayed for some checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.difference import BRIEF, MOST_BRIEF

_HEAD = 8
"""Bytes of the prints of title and text; those of the lines follow."""
_LINE = 3
_MOST_LINES = 40 * _LINE
_FEWEST = 3
_FEWEST_AT_ONCE = 5
_NEARLY_ALL = 0.8
_LASTS = 4
"""Checks that a held edit must survive; doubled after each further return."""
_MOST_TURNS = 4
_MOST_FURNITURE = 200 * _LINE
_FORMERS = 3 * _HEAD


class EditHistory(Struct, frozen=True, array_like=True):
    """The history of an entry's text. at: the check of the last change. formers: prints reported before.

    brief: consecutive replacements of one line. turns: how often a former text returned. waiting: the print of a held
    text, there since the check `since`.
    """

    at: int
    formers: bytes = b""
    brief: int = 0
    turns: int = 0
    waiting: bytes = b""
    since: int = 0


class Edit(NamedTuple):
    """A known entry with another text. was: the prints of its reported title and text; lines: of its lines, or b""."""

    was: bytes
    lines: bytes
    prints: bytes
    turns: EditHistory | None

    def difference(self) -> frozenset[bytes]:
        return _lines(self.lines) ^ _lines(self.prints[_HEAD:])

    def is_retitled(self) -> bool:
        return self.was[:4] != self.prints[:4]

    def replaces_one_line(self) -> bool:
        """Return whether exactly one line was replaced, among others that stay."""
        before, now = _lines(self.lines), _lines(self.prints[_HEAD:])
        return len(before - now) == len(now - before) == 1 < len(before) and not self.is_retitled()


class EditVerdict(NamedTuple):
    """Whether to report an edit. waits: report it if it stays."""

    told: bool
    waits: bool
    turns: EditHistory | None


def judge(
    edits: Mapping[int, Edit], compared: int, back: int, number: int, furniture: bytes
) -> tuple[dict[int, EditVerdict], bytes]:
    """Return the verdicts on one document's edits, and the furniture's lines, updated.

    compared: the known entries in it. back: held entries that returned to the reported text. number: of the check.
    """
    rows = {at: edit.difference() for at, edit in edits.items() if edit.lines and not edit.is_retitled()}
    rows = {at: lines for at, lines in rows.items() if lines or len(edits[at].lines) < _MOST_LINES}
    furniture += b"".join(_in_most(rows, compared) - _lines(furniture))
    quiet = {at for at, lines in rows.items() if lines <= _lines(furniture)}
    at_once = back + sum(bool(edit.lines) for at, edit in edits.items() if at not in quiet)
    doubted = at_once >= max(_FEWEST_AT_ONCE, _NEARLY_ALL * compared)
    verdicts = {
        at: EditVerdict(False, False, edit.turns) if at in quiet else _judged(edit, number, doubted=doubted)
        for at, edit in edits.items()
    }
    return verdicts, furniture[-_MOST_FURNITURE:]


def settled(turns: EditHistory, number: int) -> EditHistory:
    """Return the turns of an entry that returned to its reported text."""
    return replace(turns, at=number, waiting=b"") if turns.waiting else turns


def _in_most(rows: Mapping[int, frozenset[bytes]], compared: int) -> frozenset[bytes]:
    """Return the lines that came or went in several entries, if most entries differ only in these."""
    counts = Counter(line for lines in rows.values() for line in lines)
    common = [lines for lines in rows.values() if lines and all(counts[line] > 1 for line in lines)]
    is_most = len(common) > 1 and len(common) >= min(compared, max(_FEWEST, compared / 2))
    return frozenset.union(*common) if is_most else frozenset()


def _judged(edit: Edit, number: int, *, doubted: bool) -> EditVerdict:
    print_ = edit.prints[:_HEAD]
    last = edit.turns or EditHistory(at=-BRIEF - 1)
    is_change = print_ != last.waiting
    brief = number - last.at <= BRIEF
    formers = [last.formers[at : at + _HEAD] for at in range(0, len(last.formers), _HEAD)]
    is_back = print_ in formers and (brief or last.turns > 0)
    turns = min(last.turns + (is_change and is_back), _MOST_TURNS)
    in_a_row = last.brief
    if is_change:
        in_a_row = last.brief + 1 if brief and edit.replaces_one_line() else 0
    now = EditHistory(number if is_change else last.at, last.formers, in_a_row, turns)
    since = number if is_change else last.since
    waits = doubted or is_back or in_a_row > MOST_BRIEF or not is_change
    if waits and number - since < _LASTS << max(0, turns - 1):
        return EditVerdict(False, True, replace(now, waiting=print_, since=since))
    return EditVerdict(True, False, replace(now, formers=(last.formers + edit.was)[-_FORMERS:]))


def _lines(prints: bytes) -> frozenset[bytes]:
    return frozenset(prints[at : at + _LINE] for at in range(0, len(prints), _LINE))
