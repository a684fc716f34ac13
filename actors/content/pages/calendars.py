"""Calendars (iCalendar, RFC 5545) as lines, one for each event, task or journal entry. Pure.

Leaves out parts that readers of a calendar do not see: the fields that programs renew on each export (UID, DTSTAMP,
SEQUENCE, CREATED, LAST-MODIFIED), attendees, alarms and time zone rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Final, NamedTuple

_FOLD: Final = re.compile(r"\r?\n[ \t]")
_LINE: Final = re.compile(r"([\w-]+)((?:;[\w-]+=(?:\"[^\"]*\"|[^\";:]*))*):(.*)", re.S)
_ZONE: Final = re.compile(r";TZID=(?:\"([^\"]*)\"|([^\";:]*))", re.I)
_ESCAPE: Final = re.compile(r"\\(.)", re.S)
_MOMENT: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_DAY: Final = re.compile(r"(\d{4})(\d\d)(\d\d)")
_COMPONENTS: Final = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_WORDS: Final = ("SUMMARY", "LOCATION", "STATUS", "RRULE", "URL", "DESCRIPTION")
_LONGEST: Final = 600
_USUAL: Final = frozenset({"CONFIRMED", "OPAQUE", "NEEDS-ACTION"})


class Property(NamedTuple):
    """A raw value, and its time zone ("" for none)."""

    value: str
    zone: str = ""


def entries_of(text: str) -> Iterator[str]:
    """Yield each entry of a calendar as one line: time, title, place, and the rest, as far as present."""
    held: dict[str, Property] | None = None
    within = 0  # components inside an entry: its alarms
    for line in _FOLD.sub("", text).splitlines():
        found = _LINE.fullmatch(line.strip("\r"))
        if found is None:
            continue
        name, value = found[1].upper(), found[3]
        kind = value.strip().upper()
        if name == "BEGIN":
            if held is None and kind in _COMPONENTS:
                held = {}
            elif held is not None:
                within += 1
        elif name == "END":
            if within:
                within -= 1
            elif held is not None:
                if said := " | ".join(_parts(held)):
                    yield said
                held = None
        elif held is not None and not within and name not in held:
            zone = _ZONE.search(found[2])
            held[name] = Property(value, (zone[1] or zone[2]) if zone else "")


def _parts(held: Mapping[str, Property]) -> Iterator[str]:
    start, end = (held.get(name, Property("")) for name in ("DTSTART", "DTEND"))
    if end.value == "":
        end = held.get("DUE", Property(""))
    if when := _span(start, end):
        yield when
    if again := _moment(held.get("RECURRENCE-ID", Property(""))):
        yield f"instead of {again}"
    for name in _WORDS:
        words = " ".join(_ESCAPE.sub(_unescaped, held.get(name, Property("")).value).split())
        if words and words.upper() not in _USUAL:
            yield words[:_LONGEST]


def _span(start: Property, end: Property) -> str:
    """Return the period; one day or one shared zone appears only once."""
    first, last = _moment(start), _moment(end if start.value == "" else _inclusive(end))
    if not last or last == first:
        return first
    day, _, rest = first.partition(" ")
    if first and last.startswith(f"{day} "):
        clock, _, zone = rest.partition(" ")
        until, _, other = last.removeprefix(f"{day} ").partition(" ")
        if zone == other:
            return f"{day} {clock}-{until} {zone}".strip()
    return f"{first} to {last}" if first else f"until {last}"


def _inclusive(end: Property) -> Property:
    """Return the last day of a whole-day entry: the RFC names the day after it."""
    day = _DAY.fullmatch(end.value.strip())
    try:  # strptime would import more of Python on first use, which a jailed worker may not do
        return Property(f"{date(*map(int, day.groups())) - timedelta(days=1):%Y%m%d}") if day else end
    except (ValueError, OverflowError):
        return end


def _moment(found: Property) -> str:
    moment = _MOMENT.fullmatch(found.value.strip())
    if moment is None:
        return " ".join(found.value.split())[:40]
    year, month, day, hour, minute, utc = moment.groups()
    clock = f" {hour}:{minute} {'UTC' if utc else found.zone}".rstrip() if hour else ""
    return f"{year}-{month}-{day}{clock}"


def _unescaped(found: re.Match[str]) -> str:
    return " " if found[1] in "nN" else found[1]
