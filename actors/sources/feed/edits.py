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
    """at: the check of the last change. formers: prints reported before. brief_replacements: consecutive ones of one
    line. returns: how often a former text returned. held_text: its print, there since the check `since`.
    """

    at: int
    formers: bytes = b""
    brief_replacements: int = 0
    returns: int = 0
    held_text: bytes = b""
    since: int = 0


class Edit(NamedTuple):
    """A known entry with another text. reported: the prints of its title and text; lines: of its lines, or b""."""

    reported: bytes
    lines: bytes
    prints: bytes
    history: EditHistory | None

    def difference(self) -> frozenset[bytes]:
        return _lines(self.lines) ^ _lines(self.prints[_HEAD:])

    def is_retitled(self) -> bool:
        return self.reported[:4] != self.prints[:4]

    def replaces_one_line(self) -> bool:
        before, now = _lines(self.lines), _lines(self.prints[_HEAD:])
        return len(before - now) == len(now - before) == 1 < len(before) and not self.is_retitled()


class EditVerdict(NamedTuple):
    """Whether to report an edit. is_held: report it if it stays."""

    is_reported: bool
    is_held: bool
    history: EditHistory | None


def judge(
    edits: Mapping[int, Edit], compared: int, reverted: int, number: int, furniture: bytes
) -> tuple[dict[int, EditVerdict], bytes]:
    """Return the verdicts on one document's edits, and the furniture's lines, updated. compared: the known entries in
    it. reverted: held entries that returned to the reported text. number: of the check.
    """
    rows = {at: edit.difference() for at, edit in edits.items() if edit.lines and not edit.is_retitled()}
    rows = {at: lines for at, lines in rows.items() if lines or len(edits[at].lines) < _MOST_LINES}
    furniture += b"".join(_in_most(rows, compared) - _lines(furniture))
    furniture_only = {at for at, lines in rows.items() if lines <= _lines(furniture)}
    at_once = reverted + sum(bool(edit.lines) for at, edit in edits.items() if at not in furniture_only)
    is_doubtful = at_once >= max(_FEWEST_AT_ONCE, _NEARLY_ALL * compared)
    verdicts = {
        at: EditVerdict(False, False, edit.history)
        if at in furniture_only
        else _verdict(edit, number, is_doubtful=is_doubtful)
        for at, edit in edits.items()
    }
    return verdicts, furniture[-_MOST_FURNITURE:]


def settle(history: EditHistory, number: int) -> EditHistory:
    return replace(history, at=number, held_text=b"") if history.held_text else history


def _in_most(rows: Mapping[int, frozenset[bytes]], compared: int) -> frozenset[bytes]:
    """Return the lines that came or went in several entries, if most entries differ only in these."""
    counts = Counter(line for lines in rows.values() for line in lines)
    common = [lines for lines in rows.values() if lines and all(counts[line] > 1 for line in lines)]
    is_most = len(common) > 1 and len(common) >= min(compared, max(_FEWEST, compared / 2))
    return frozenset.union(*common) if is_most else frozenset()


def _verdict(edit: Edit, number: int, *, is_doubtful: bool) -> EditVerdict:
    print_ = edit.prints[:_HEAD]
    last = edit.history or EditHistory(at=-BRIEF - 1)
    is_change = print_ != last.held_text
    brief = number - last.at <= BRIEF
    formers = [last.formers[at : at + _HEAD] for at in range(0, len(last.formers), _HEAD)]
    is_return = print_ in formers and (brief or last.returns > 0)
    returns = min(last.returns + (is_change and is_return), _MOST_TURNS)
    in_a_row = last.brief_replacements
    if is_change:
        in_a_row = last.brief_replacements + 1 if brief and edit.replaces_one_line() else 0
    history = EditHistory(number if is_change else last.at, last.formers, in_a_row, returns)
    since = number if is_change else last.since
    is_held = is_doubtful or is_return or in_a_row > MOST_BRIEF or not is_change
    if is_held and number - since < _LASTS << max(0, returns - 1):
        return EditVerdict(False, True, replace(history, held_text=print_, since=since))
    return EditVerdict(True, False, replace(history, formers=(last.formers + edit.reported)[-_FORMERS:]))


def _lines(prints: bytes) -> frozenset[bytes]:
    return frozenset(prints[at : at + _LINE] for at in range(0, len(prints), _LINE))
