"""A watch's hours (`time_schedule_limit`) as a source's hours. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from actors.hours import read_hours
from extras.migrate.fields import mapping, text, truth

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY: Final = 24 * 60


def hours_of(limit: Mapping[str, Any]) -> str | None:
    """Return the hours if all days have the same start and length; else None, also for invalid times.

    >>> night = {"enabled": True, "start_time": "22:30", "duration": {"hours": "8", "minutes": "0"}}
    >>> hours_of({"friday": night, "sunday": {"enabled": False}, "timezone": "Europe/Rome"})
    'fri 22:30-06:30 Europe/Rome'
    """
    days = {name[:3]: day for name in _DAYS if truth((day := mapping(limit.get(name))).get("enabled"))}
    spans = {(_minutes(text(day, "start_time")), _lasting(mapping(day.get("duration")))) for day in days.values()}
    if len(spans) != 1:
        return None
    ((start, lasting),) = spans
    if start is None or not 0 < lasting <= _DAY:
        return None
    end = start + lasting
    until = "24:00" if (start, lasting) == (0, _DAY) else _clock(end % _DAY)
    words = f"{','.join(days)} {_clock(start)}-{until} {text(limit, 'timezone')}".strip()
    try:
        read_hours(words)
    except ValueError:
        return None
    return words


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _minutes(clock: str) -> int | None:
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", clock)
    return None if found is None else int(found[1]) * 60 + int(found[2])


def _lasting(parts: Mapping[str, Any]) -> int:
    numbers = [str(parts.get(name) or 0) for name in ("hours", "minutes")]
    if not all(number.isascii() and number.isdigit() and len(number) < 4 for number in numbers):
        return 0
    return int(numbers[0]) * 60 + int(numbers[1])
