"""The tree's rows as lines of the terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sanderling.console.text import Line, fit, right
from sanderling.console.words import FAINT, POOR, STYLES, called, named, state_of, until

STATE, HEALTH, RESTARTS, NEXT = 5, 4, 3, 4
_FIXED = 1 + 1 + STATE + 1 + HEALTH + 1 + RESTARTS + 1 + 1 + NEXT
_NARROW, _WIDE = 28, 60
_PLAIN = 80


class Columns(NamedTuple):
    """The two columns that grow: who, and what went wrong last."""

    who: int
    says: int


def columns(width: int) -> Columns:
    """Return the columns of a screen of this width.

    >>> columns(80), columns(120), columns(200)
    (Columns(who=28, says=30), Columns(who=44, says=54), Columns(who=60, says=118))
    """
    who = max(12, min(_WIDE, _NARROW + (width - _PLAIN) * 2 // 5))
    return Columns(who, max(0, width - _FIXED - who))


def heading(width: int) -> Line:
    at = columns(width)
    words = f" {fit('path', at.who)} {fit('state', STATE)} {fit('hlth', HEALTH)} {fit('rst', RESTARTS)} "
    return [(words + f"{fit('last error', at.says)} {right('next', NEXT)}", "bold")]


def who(row: Mapping[str, Any], width: int) -> str:
    """Return who a row is about: its path, and what it is called or else the URL, as far as it goes."""
    short = named(str(row["path"]), 3 if width < 40 else 6)
    return fit(f"{short} {called(row)}", width)


def line_of(row: Mapping[str, Any] | None, width: int, now: str, *, changed: bool = False) -> Line:
    """Return a row as a line of exactly so many cells; None is one that has not come yet."""
    if row is None:
        return [(fit(" …", width), FAINT)]
    at = columns(width)
    state = state_of(row)
    health = "" if row["health"] is None else f"{row['health']:.2f}"
    restarts = "999" if row["restarts"] > 999 else str(row["restarts"])
    return [
        ("*" if changed else " ", POOR),
        (who(row, at.who) + " ", ""),
        (fit(state.short, STATE), STYLES[state.mood]),
        (f" {right(health, HEALTH)} {right(restarts, RESTARTS)} ", ""),
        (fit(str(row["error"]), at.says), ""),
        (f" {right(until(row['next'], now), NEXT)}", ""),
    ]
