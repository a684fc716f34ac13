"""Amounts and days for people. Pure."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from api.dashboard.language.speaking import decimal, say
from api.dashboard.moments import dated
from storage.records.identity import Millis
from storage.records.times import rfc3339

_DAY = 86_400_000
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Return bytes with a unit.

    >>> size(0), size(2048), size(5_000_000)
    ('0 bytes', '2.0 KiB', '4.8 MiB')
    """
    amount, unit = float(count), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{decimal(amount, 1)} {_UNITS[unit]}" if unit else say("%(count)s bytes", count=count)


def by_utc(now: Millis, zone: ZoneInfo) -> str:
    """Return a note that days are in UTC, or "" if the reader's clock is at UTC."""
    return f" {say('(days by UTC)')}" if datetime.fromtimestamp(now / 1000, zone).utcoffset() else ""


def named(day: int) -> str:
    """Return a day for people.

    >>> named(0)
    '1 Jan'
    """
    _, month, number = rfc3339(Millis(day * _DAY))[:10].split("-")
    return dated(int(number), int(month))
