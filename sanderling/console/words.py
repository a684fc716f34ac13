"""States, times and sizes in a few letters. Colour never carries meaning alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from storage.records.states import LOOKS, PARTS, Mood, State

GOOD, POOR, BAD, CALM, FAINT = "ansi_green", "ansi_yellow", "ansi_red", "ansi_cyan", "dim"
STYLES: dict[Mood, str] = {"good": GOOD, "calm": CALM, "warn": POOR, "bad": BAD}
GONE = State("gone", "gone", "calm", "It is not there any more.")
"""For a fetched row that has since disappeared."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))
MARKS = {state.short: "" if state.mood == "calm" else STYLES[state.mood] for state in LOOKS.values()}
"""Styles of check marks in a row; routine ones are plain."""
VERDICTS = {verdict.name.lower(): state for verdict, state in LOOKS.items()}
"""Outcomes of checks by their API names."""


def state_of(row: Mapping[str, Any]) -> State:
    """Return the state of a row. A source's health is separate."""
    return PARTS.get(row["state"], GONE)


def short(seconds: float) -> str:
    """Return a duration in at most four cells.

    >>> [short(s) for s in (-3, 0.4, 59, 61, 7200, 1e6, 9e8)]
    ['now', 'now', '59s', '1m', '2h', '11d', '9999']
    """
    if seconds < 1:
        return "now"
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{min(999, int(seconds / size))}{unit}" if seconds < 1000 * 86_400 else "9999"
    return f"{int(seconds)}s"


def until(moment: str | None, now: str) -> str:
    """Return the time until a moment (RFC 3339), "-" for None."""
    return "-" if moment is None or not now else short(apart(now, moment))


def age(moment: str | None, now: str) -> str:
    """Return the time since a moment, "-" for None."""
    return "-" if moment is None or not now else short(apart(moment, now))


def ago(moment: str | None, now: str) -> str:
    """Return a moment's age as text."""
    return "never" if moment is None else f"{short(apart(moment, now))} ago".replace("now ago", "just now")


def apart(earlier: str, later: str) -> float:
    """Both moments are RFC 3339."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def clock(moment: str, zone: tzinfo | None = None) -> str:
    """Return a moment (RFC 3339) as time of day, in local time by default.

    >>> from datetime import UTC
    >>> clock('2026-04-21T12:00:41.120Z', UTC), clock('soon')
    ('12:00:41', 'soon')
    """
    return _there(moment, "%H:%M:%S", zone)


def day_and_clock(moment: str, zone: tzinfo | None = None) -> str:
    """Return a moment as date and time of day.

    >>> from datetime import UTC
    >>> day_and_clock('2026-04-21T12:00:41.120Z', UTC)
    '2026-04-21 12:00:41'
    """
    return _there(moment, "%Y-%m-%d %H:%M:%S", zone)


def _there(moment: str, form: str, zone: tzinfo | None) -> str:
    try:
        return datetime.fromisoformat(moment).astimezone(zone).strftime(form)
    except (ValueError, OverflowError):
        return moment


def bare(url: str) -> str:
    """Strip http:// or https://.

    >>> bare('https://shop.test/p'), bare('wss://feed.test')
    ('shop.test/p', 'wss://feed.test')
    """
    return url.removeprefix("https://").removeprefix("http://")


def named(path: str, letters: int = 3) -> str:
    """Shorten the id in a tree path to its end, the distinctive part.

    >>> named('sources/019db0a4-5c00-7000-8000-0000000003f2'), named('log')
    ('sources/…3f2', 'log')
    """
    kind, slash, id = path.partition("/")
    return f"{kind}/…{id[-letters:]}" if slash else kind
