"""Dates and times in documents, to milliseconds.

One reader for feeds, pages, sitemaps and frames. It reads the whole text or nothing: a partly read date is wrong, and
dates decide whether an entry is new. So 03/04/2026 gives no date, and neither does 30 February.
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from actors.content.wording.dates import BESIDE, MONTHS, TOKEN, WEEKDAYS, Reading, dates_in
from actors.content.wording.words import word_lists
from storage.records.identity import Millis

_LONGEST = 100
_DAY = 86_400_000
_LAST = 253_402_300_799_999
_SECONDS_END = 100_000_000_000
"""A bare number below this counts seconds (until the year 5138), above it milliseconds (since 1973)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_OFFSET = 14 * 60
_ZONES = {zone: int(minutes) for zone, minutes in word_lists("times")["zones"].items()}
"""Minutes ahead of UTC. Ambiguous names mean the zone that feeds use: IST is India's, BST Britain's, CST America's."""
_ALONG = ({f"{name}ที่" for name in WEEKDAYS} | BESIDE | WEEKDAYS - {"pt", "pet"}).union(
    "at um uhr kl klo godz pukul ore om hrs hs à às las les στισ v u ob в у ч plkst kell เวลา lúc ngày בשעה ב".split(),  # noqa: SIM905
    "alle la के को बजे ساعت 号 號 года году року".split(),  # noqa: SIM905
)
_KNOWN = _ALONG.union(_ZONES)
"""Words that may occur next to a date and its time."""
_ISO = re.compile(r"(?:19|2[01])\d\d(?:-?\d\d-?\d\d|-?W\d\d-?\d)(?:[T ]\S+)?")
_RFC = re.compile(
    r"(?:[A-Z][a-z][a-z], )?(\d\d?) ([A-Z][a-z][a-z]) (\d{4}) (\d\d:\d\d(?::\d\d)?) (?:([+-]\d\d)(\d\d)|GMT|UTC|Z)"
)
_ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = re.compile(
    r"(?:\b([ap])m *)?(?:(?<=\d)t|(?<![\w:.,+-]))(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: *([ap])m\b)?"
    rf"(?: *({'|'.join(_ZONES)})\b)?(?: *([+-])(\d\d?):?(\d\d)?)?(?![\d:])"
)
_EASTERN = re.compile(r"(?<!\d)(\d\d?) ?[時时点點시] ?(?:(\d\d?) ?[分분] ?(?:(\d\d?) ?[秒초])?)?")
_SHORT_YEAR = re.compile(r"(?<![\w.:])(\d\d?[ -])([^\W\d_]{3,})(\.?[ -])(\d\d)(?![\w:.])")
_ASIDE = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_SIGNS = re.compile(r"[\s,،.|/·•@_-]*")
_SPELLING = str.maketrans("‐‑‒–—−", "------", "\u200e\u200f\u061c\u202a\u202b\u202c\ufeff")
_RESPELLED = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"上午|午前|오전", " am "),
        (r"下午|午後|오후", " pm "),
        (r"(?<=[\d ])([ap])\.? ?m\b\.?", r" \1m "),
        (r"(?<![\w:.,])(\d\d?) ?h ?([0-5]\d)(?!\w)", r"\1:\2"),
        (r"(?<![\w:.,])(\d\d?) +([ap]m) ", r"\1:00 \2 "),
        (r"(/\d{4}):(?=\d\d:)", r"\1 "),  # the common log format
        (r"^(\d{4}):(\d\d):(\d\d)(?= )", r"\1-\2-\3"),  # Exif
        (r"^(\d{4})(\d\d)(\d\d)(?=[t _]|\d{4}(?:\d\d)?(?!\d))", r"\1-\2-\3t"),
        (r"(?<=\dt)[t _]?(\d\d)(\d\d)(?!\d|:)", r"\1:\2"),
        (r"(?<=\dt)[t _]?(\d\d)(\d\d)(\d\d)(?!\d|:)", r"\1:\2:\3"),
        (r"(?<=\dt)[t _](?=\d)", ""),
        (r"(\d{4}\.?,? (?:[^\W\d]+\.? )?)(\d\d?)\.([0-5]\d)(?:\.([0-5]\d))?$", r"\1\2:\3"),
        (r"^(\d{4}-\d\d-\d\d)(?=\+\d\d:\d\d$)", r"\1t00:00"),
    )
)


def moment(text: str) -> Millis | None:
    """Parse a date, with or without a time; UTC without a zone. None for anything else.

    >>> moment("Fri, 02 Jan 1970 01:00:01 CET"), moment("1970年1月2日 午後1時"), moment("2026-02-30")
    (86401000, 133200000, None)
    """
    text = text.strip()
    if text.isdecimal() and len(text) in (9, 10, 13):
        return moment_of(int(text))
    # The format of most feeds, at a tenth of the cost.
    if (rfc := _RFC.fullmatch(text)) is not None and rfc[2] in _ENGLISH:
        month = _ENGLISH.index(rfc[2]) + 1
        text = f"{rfc[3]}-{month:02}-{rfc[1]:0>2}T{rfc[4]}{rfc[5] or '+00'}{rfc[6] or ''}"
    if _ISO.fullmatch(text):
        with suppress(ValueError):
            at = datetime.fromisoformat(text)
            return _moment(at.replace(tzinfo=at.tzinfo or UTC))
    return _written(text) if len(text) <= _LONGEST else None


def moment_of(value: object) -> Millis | None:
    """Parse a JSON value: a text, or seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return moment(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _DAY / 1000 <= value < _LAST:
        return None
    return Millis(round(value * 1000 if value < _SECONDS_END else value))


def _moment(at: datetime) -> Millis | None:
    """Return a moment; None before 1970 and on its first day, which is a program's zero."""
    if (at.year, at.month, at.day) == (1970, 1, 1):
        return None
    ms = round((at - _EPOCH).total_seconds() * 1000)
    return Millis(ms) if ms >= _DAY else None


def _written(text: str) -> Millis | None:
    text = " ".join(unicodedata.normalize("NFKC", text).translate(_SPELLING).casefold().split())
    text = _EASTERN.sub(lambda found: f" {found[1]}:{found[2] or '0':0>2}:{found[3] or '0':0>2} ", text)
    for pattern, new in _RESPELLED:
        text = pattern.sub(new, text)
    asides = " ".join(_ASIDE.findall(text))
    text = _ASIDE.sub(" ", text)
    clock = _TIME.search(text)
    if clock is not None:
        text = f"{text[: clock.start()]} {text[clock.end() :]}"
    text = _SHORT_YEAR.sub(_with_century, text)
    first = TOKEN.search(text)
    # A weekday's name may also be a month ("mar") or a zone ("pt").
    for said in (text, text[first.end() :] if first is not None and first[0] in WEEKDAYS else ""):
        for day in dates_in(said):
            if day.has_year and day.has_day and len(day.readings) == 1:
                rest = f"{said[: day.start]} {said[day.end :]}"
                if (at := _joined(day.readings[0], clock, rest, asides)) is not None:
                    return at
    return None


def _with_century(found: re.Match[str]) -> str:
    """Expand the two-digit year of a date to four (RFC 5322, 4.3)."""
    century = ("20" if found[4] < "50" else "19") if found[2] in MONTHS else ""
    return f"{found[1]}{found[2]}{found[3]}{century}{found[4]}"


def _joined(day: Reading, clock: re.Match[str] | None, rest: str, asides: str) -> Millis | None:
    words, others = TOKEN.findall(rest), TOKEN.findall(asides)
    if not _SIGNS.fullmatch(TOKEN.sub("", rest)) or not _KNOWN.issuperset(words):
        return None
    hour, minute, second = (int(clock[n] or 0) for n in (2, 3, 4)) if clock is not None else (0, 0, 0)
    half = (clock[1] or clock[6]) if clock is not None else None
    if half is not None and hour <= 12:
        hour = hour % 12 + 12 * (half == "p")
    elif half == "a" or (hour, minute, second) > (24, 0, 0) or second > 60:
        return None
    if clock is not None and clock[8]:
        if int(clock[10] or 0) > 59:
            return None
        ahead = int(f"{clock[8]}1") * (60 * int(clock[9]) + int(clock[10] or 0))
    else:
        words += [clock[7]] if clock is not None and clock[7] else []
        named = {_ZONES[word] for word in words if word in _ZONES}
        if not named and not _KNOWN.issuperset(others):
            return None
        named = named or {_ZONES[word] for word in others if word in _ZONES} or {0}
        ahead = min(named) if len(named) == 1 else _MOST_OFFSET + 1
    if abs(ahead) > _MOST_OFFSET:
        return None
    try:
        at = datetime(*day, hour % 24, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    at += timedelta(days=hour // 24, minutes=-ahead)
    fraction = int(f"{(clock[5] if clock is not None else None) or '0':0<3}"[:3])
    return _moment(at + timedelta(milliseconds=fraction))
