"""A feed's hints about the next check: ttl, skipHours, skipDays, the syndication module's period.

feedparser keeps only the last of several hours, so patterns read the head of the document.
"""

from __future__ import annotations

import re

from msgspec import Struct

_HEAD = 64 * 1024
_TTL = re.compile(r"<ttl>\s*(\d{1,6})\s*</ttl>", re.I)
_HOURS = re.compile(r"<skipHours>(.{0,2000}?)</skipHours>", re.I | re.S)
_DAYS = re.compile(r"<skipDays>(.{0,1000}?)</skipDays>", re.I | re.S)
_HOUR = re.compile(r"<hour>\s*(\d{1,2})\s*</hour>", re.I)
_DAY = re.compile(r"<day>\s*(\w{3,10})\s*</day>", re.I)
_PERIOD = re.compile(r"<sy:updatePeriod>\s*(\w+)\s*</sy:updatePeriod>", re.I)
_FREQUENCY = re.compile(r"<sy:updateFrequency>\s*(\d{1,5})\s*</sy:updateFrequency>", re.I)
_PERIODS = {"hourly": 3600, "daily": 86_400, "weekly": 7 * 86_400, "monthly": 30 * 86_400, "yearly": 365 * 86_400}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class FeedHints(Struct, frozen=True):
    """Seconds to live, hours (UTC, 0..23) and weekdays (0 = Monday) to skip, seconds between updates."""

    ttl_s: int | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    period_s: int | None = None


NO_HINTS = FeedHints()


def hints_of(text: str) -> FeedHints:
    """Read the hints in an XML feed. RSS 0.91 counts hours from 1 to 24: 24 means midnight.

    >>> hints_of("<ttl>60</ttl><skipHours><hour>24</hour><hour>3</hour></skipHours>")
    FeedHints(ttl_s=3600, skip_hours=(0, 3), skip_days=(), period_s=None)
    """
    head = text[:_HEAD]
    ttl = _TTL.search(head)
    hours = {int(hour) % 24 for hour in _HOUR.findall(_inside(_HOURS, head)) if int(hour) <= 24}
    days = {day.lower() for day in _DAY.findall(_inside(_DAYS, head))}
    period = _PERIOD.search(head)
    seconds = _PERIODS.get(period[1].lower()) if period else None
    frequency = _FREQUENCY.search(head)
    return FeedHints(
        ttl_s=int(ttl[1]) * 60 if ttl and int(ttl[1]) else None,
        skip_hours=tuple(sorted(hours)),
        skip_days=tuple(i for i, name in enumerate(_WEEKDAYS) if name in days),
        period_s=max(1, seconds // max(1, int(frequency[1]) if frequency else 1)) if seconds else None,
    )


def _inside(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""
