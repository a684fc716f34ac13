"""Spellings of known moments, written without the reader's code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

from babel.dates import format_date

from actors.content.wording.words import word_lists

ZONES = {
    "GMT": 0, "UTC": 0, "UT": 0, "Z": 0, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360,
    "PST": -480, "PDT": -420, "AKST": -540, "HST": -600, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "WET": 0,
    "WEST": 60, "BST": 60, "IST": 330, "JST": 540, "KST": 540, "MSK": 180, "AEST": 600, "AEDT": 660, "ACST": 570,
    "AWST": 480, "NZST": 720, "NZDT": 780, "SAST": 120, "BRT": -180, "NST": -210, "HKT": 480, "SGT": 480, "PKT": 300,
}  # fmt: skip
LOCALES = word_lists("cldr")["words"]["locales"].split("|")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TWO_MONTHS = frozenset({"lip", "srp", "lis", "listopad", "listopada"})


class Spelling(NamedTuple):
    """at: the true moment in milliseconds; None for a text that is no date or has two readings."""

    text: str
    at: int | None


def spellings(seed: int, count: int) -> Iterator[Spelling]:
    """Yield spellings of random moments; one in eight must not be read."""
    chance = Random(seed)
    for _ in range(count):
        yield _none(chance) if chance.random() < 0.125 else _dated(chance)


def _dated(chance: Random) -> Spelling:
    at = datetime(2001, 9, 10) + timedelta(seconds=chance.randrange(30 * 365 * 86_400))
    return chance.choice(WRITERS)(chance, at)


def _ms(at: datetime, ahead: int = 0) -> int:
    whole = at.replace(tzinfo=UTC) - timedelta(minutes=ahead)
    return round(whole.timestamp() * 1000)


def _zone(chance: Random) -> tuple[str, int]:
    """Return a zone as written after a time, and its minutes ahead of UTC."""
    kind = chance.randrange(5)
    if kind == 0:
        return "", 0
    if kind <= 2:
        name = chance.choice(list(ZONES))
        return f" {name}", ZONES[name]
    ahead = chance.choice([-720, -570, -480, -300, -60, 0, 60, 120, 330, 345, 540, 765, 840])
    sign, hours, minutes = "+-"[ahead < 0], abs(ahead) // 60, abs(ahead) % 60
    forms = [f" {sign}{hours:02}{minutes:02}", f" {sign}{hours:02}:{minutes:02}", f" GMT{sign}{hours:02}{minutes:02}"]
    return chance.choice([*forms, f" {sign}{hours}"] if not minutes else forms), ahead


def _clock(chance: Random, at: datetime) -> tuple[str, datetime]:
    """Return a time as text, and the moment at the text's precision."""
    kind = chance.randrange(6)
    minute, hour = at.replace(second=0), at.hour % 12 or 12
    half = "AM" if at.hour < 12 else "PM"
    if kind == 0:
        return f"{at.hour}:{at:%M}", minute
    if kind == 1:
        return f"{hour}:{at:%M} {half}", minute
    if kind == 2:
        return f"{hour:02}:{at:%M:%S}{chance.choice([' ', ''])}{half.lower()}", at
    if kind == 3:
        return f"{hour} {half}", minute.replace(minute=0)
    return f"{at:%H:%M:%S}", at


def _rfc822(chance: Random, at: datetime) -> Spelling:
    clock, at = _clock(chance, at)
    zone, ahead = _zone(chance)
    weekday = chance.choice(["", f"{WEEKDAYS[at.weekday()]}, ", f"{at:%A}, ", f"{WEEKDAYS[at.weekday()]} "])
    year = f"{at:%y}" if chance.random() < 0.15 else str(at.year)
    day = chance.choice([str(at.day), f"{at.day:02}"])
    month = chance.choice([MONTHS[at.month - 1], f"{at:%B}", MONTHS[at.month - 1].lower()])
    between = chance.choice([" ", " ", "-"])
    return Spelling(f"{weekday}{day}{between}{month}{between}{year} {clock}{zone}", _ms(at, ahead))


def _american(chance: Random, at: datetime) -> Spelling:
    clock, at = _clock(chance, at)
    zone, ahead = _zone(chance)
    ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(at.day, "th")
    month = chance.choice([MONTHS[at.month - 1], f"{at:%B}", MONTHS[at.month - 1] + "."])
    weekday = chance.choice(["", f"{at:%A}, ", f"{WEEKDAYS[at.weekday()]}, "])
    day = chance.choice([f"{at.day}", f"{at.day}{ending}"])
    between = chance.choice([" ", ", ", " at ", " - "])
    return Spelling(f"{weekday}{month} {day}, {at.year}{between}{clock}{zone}", _ms(at, ahead))


def _asctime(chance: Random, at: datetime) -> Spelling:
    zone = chance.choice(["", "EST ", "UTC ", "CEST "])
    text = f"{WEEKDAYS[at.weekday()]} {MONTHS[at.month - 1]} {at.day:2} {at:%H:%M:%S} {zone}{at.year}"
    return Spelling(text, _ms(at, ZONES.get(zone.strip(), 0)))


def _script(chance: Random, at: datetime) -> Spelling:
    ahead = chance.choice([-300, 0, 60, 330])
    offset = f"{'+-'[ahead < 0]}{abs(ahead) // 60:02}{abs(ahead) % 60:02}"
    month = MONTHS[at.month - 1]
    text = f"{WEEKDAYS[at.weekday()]} {month} {at.day:02} {at.year} {at:%H:%M:%S} GMT{offset} (Some Standard Time)"
    return Spelling(text, _ms(at, ahead))


def _iso(chance: Random, at: datetime) -> Spelling:
    ahead = chance.choice([0, 60, -480, 330])
    offset = f"{'+-'[ahead < 0]}{abs(ahead) // 60:02}:{abs(ahead) % 60:02}"
    fraction = chance.choice(["", "", ".5", ".123", ".123456"])
    ms = int(f"{fraction[1:]:0<3}"[:3]) if fraction else 0
    forms = [
        (f"{at:%Y-%m-%dT%H:%M:%S}{fraction}{offset}", ahead, ms),
        (f"{at:%Y-%m-%dT%H:%M:%S}{fraction}Z", 0, ms),
        (f"{at:%Y-%m-%d %H:%M:%S}{fraction}", 0, ms),
        (f"{at:%Y-%m-%d %H:%M:%S} UTC", 0, 0),
        (f"{at:%Y-%m-%d %H:%M:%S} {offset.replace(':', '')}", ahead, 0),
        (f"{at:%Y%m%dT%H%M%S}Z", 0, 0),
        (f"{at:%Y%m%dT%H%M%S}", 0, 0),
        (f"{at:%Y%m%d%H%M%S}", 0, 0),
        (f"{at:%Y-%m-%dT%H:%M:%S}{offset}[Region/City]", ahead, 0),
        (f"{at:%Y:%m:%d %H:%M:%S}", 0, 0),
        (f"{at:%d}/{MONTHS[at.month - 1]}/{at:%Y:%H:%M:%S} {offset.replace(':', '')}", ahead, 0),
    ]
    text, ahead, ms = chance.choice(forms)
    return Spelling(text, _ms(at, ahead) + ms)


def _day(chance: Random, at: datetime) -> Spelling:
    year, week, weekday = at.isocalendar()
    forms = [
        f"{at:%Y-%m-%d}", f"{at:%Y%m%d}", f"{at:%Y/%m/%d}", f"{at.year}/{at.month}/{at.day}", f"{at:%Y.%m.%d}",
        f"{at:%d.%m.%Y}", f"{at.day}.{at.month}.{at.year}", f"{at.day}. {at.month}. {at.year}",
        f"{year}-W{week:02}-{weekday}", f"{at.day} {MONTHS[at.month - 1]} {at.year}",
    ]  # fmt: skip
    return Spelling(chance.choice(forms), _ms(datetime(at.year, at.month, at.day)))


def _numbers(chance: Random, at: datetime) -> Spelling:
    clock, at = _clock(chance, at)
    zone, ahead = _zone(chance)
    american = f"{at.month}/{at.day}/{at.year}" if at.day > 12 else f"{at:%Y/%m/%d}"
    day = chance.choice([f"{at:%Y/%m/%d}", f"{at.year}-{at.month}-{at.day}", f"{at:%d.%m.%Y}", american])
    return Spelling(f"{day} {clock}{zone}", _ms(at, ahead))


def _eastern(chance: Random, at: datetime) -> Spelling:
    minute, hour = at.replace(second=0), at.hour % 12 or 12
    japanese, chinese, korean = "月火水木金土日", "一二三四五六日", "오전" if at.hour < 12 else "오후"
    half = ("午前", "上午") if at.hour < 12 else ("午後", "下午")
    day = f"{at.year}年{at.month}月{at.day}日"
    forms = [
        (f"{day} {at:%H:%M}", minute),
        (f"{day}({japanese[at.weekday()]}) {at:%H:%M}", minute),
        (f"{day}（{japanese[at.weekday()]}）{at.hour}時{at.minute}分", minute),
        (f"{day} {half[0]}{hour}時{at.minute:02}分", minute),
        (f"{day} 星期{chinese[at.weekday()]} {half[1]}{hour}:{at:%M}", minute),
        (f"{at:%Y年%m月%d日 %H时%M分%S秒}", at), (day, minute.replace(hour=0, minute=0)),
        (f"{at.year}년 {at.month}월 {at.day}일 {at:%H:%M}", minute),
        (f"{at.year}년 {at.month}월 {at.day}일 {korean} {hour}시 {at.minute}분", minute),
        (f"{at.year}. {at.month}. {at.day}. {at:%H:%M}", minute),
        (f"{at:%Y/%m/%d}({japanese[at.weekday()]}) {at:%H:%M}", minute),
    ]  # fmt: skip
    text, at = chance.choice(forms)
    return Spelling(text, _ms(at))


def _local(chance: Random, at: datetime) -> Spelling:
    locale = chance.choice(LOCALES)
    day = format_date(at, chance.choice(["medium", "long", "full"]), locale)
    clock = chance.choice(["", f" {at:%H:%M}", f", {at:%H:%M}"])
    minute = at.replace(second=0) if clock else datetime(at.year, at.month, at.day)
    two = at.day < 31 and not TWO_MONTHS.isdisjoint(day.casefold().replace(".", "").split())
    return Spelling(day + clock, None if two else _ms(minute))


def _unix(chance: Random, at: datetime) -> Spelling:
    ms = _ms(at) + chance.randrange(1000)
    return Spelling(*chance.choice([(str(ms // 1000), ms // 1000 * 1000), (str(ms), ms)]))


def _none(chance: Random) -> Spelling:
    year, month, day = chance.randrange(2001, 2030), chance.randrange(1, 13), chance.randrange(1, 13)
    clock = f"{chance.randrange(24):02}:{chance.randrange(60):02}"
    impossible = chance.choice([(2, 30), (2, 31), (4, 31), (6, 31), (9, 31), (11, 31), (13, 1), (1, 32), (0, 5)])
    forms = [
        f"{year}-{impossible[0]:02}-{impossible[1]:02}", f"{year}-{impossible[0]:02}-{impossible[1]:02}T{clock}:00Z",
        f"{year}/{impossible[0]:02}/{impossible[1]:02} {clock}", clock,
        f"31 Feb {year} {clock}:00 GMT", f"{clock}:00",
        f"Tue, 31 Apr {year} {clock} +0000", "0000-00-00 00:00:00", f"0000-{month:02}-{day:02}", "1970-01-01",
        "Thu, 01 Jan 1970 00:00:00 +0000", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
        f"{year}-{month:02}", f"{year}",
        f"{month}/{day % 12 + 1 if day == month else day}/{year} {clock}", f"{day} {MONTHS[month - 1]} {year} 25:10:00",
        f"{day} {MONTHS[month - 1]} {year} {clock}:00 QQQ", f"{MONTHS[month - 1]} {year}",
        "yesterday", "3 hours ago", "soon",
        f"{year}-{month:02}-{day:02} 13:61", f"{day} {MONTHS[month - 1]} {clock}",
        f"{year}-{month:02}-{day:02} and more",
    ]  # fmt: skip
    return Spelling(chance.choice(forms), None)


WRITERS: tuple[Callable[[Random, datetime], Spelling], ...] = (
    _rfc822, _rfc822, _american, _asctime, _script, _iso, _iso, _day, _numbers, _eastern, _local, _local, _unix,
)  # fmt: skip
