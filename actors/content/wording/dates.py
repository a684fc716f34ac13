"""Dates and past times in canonical text, in 40 locales; and whether two texts differ only by a date.

A server's time zone shifts every date of a page by a day. The *meaning* of the dates shows that: 31 January and 1
February are a day apart. If a date can be read in two ways (03/04/2026; "listopad" is October in Croatian and November
in Czech), all readings are kept.

Past times ("3 hours ago") change by themselves. Future times do not: "in 3 days" is a deadline, so no future form is
known here.

Texts are canonical (see `canonical`).

Dates and times in documents, to milliseconds. One reader for feeds, pages, sitemaps and frames. It reads the whole
text or nothing: a partly read date is wrong, and dates decide whether an entry is new. So 03/04/2026 gives no date,
and neither does 30 February.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias

from actors.content.wording.words import word_lists, words_in
from storage.records.identity import Millis

PAST = "⟨ago⟩"
_PAST_MASK = f" {PAST} "

_CLDR, _TIMES = word_lists("cldr"), word_lists("times")
_WORD = re.compile(r"[\w']+")
_SHORTEST, _SHORTEST_BYTES = 3, 6
"""Minimum letters, or UTF-8 bytes, of a word for today inside a text: Hungarian's "ma" is also a word elsewhere."""
_LONGEST_WHOLE = 24
# No letter follows, nor a vowel sign of an Indian or the Thai script, which regular expressions do not count as one.
_START, _END = r"(?<![\w$€£])", r"(?![\w\u0900-\u0dff\u0e31-\u0e4e])"
_FIGURE = r"(?<![\d.,$€£])\d+\s?"
_COUNT = r"\s?(?:\d+|(?:[^\W\d_][\w']*\s){1,3}(?:\d+)?)\s?"
"""A figure inside a form, or number words with an approximation: "vor über einer Woche"."""
_UNSPACED = re.compile("[\u0e01-\u0e5b\u3041-\u30ff\u4e00-\u9fff]")
"""Scripts without spaces between words: a character is not a word."""


def _spaced(phrases: Iterable[str], *, unspaced: bool = False) -> list[str]:
    return [phrase for phrase in phrases if (_UNSPACED.search(phrase) is not None) == unspaced]


def _any_of(phrases: Iterable[str]) -> str:
    """Build an alternation, longest first; a figure may touch its word, and dots are optional."""
    ordered = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    escaped = (re.escape(phrase).replace(r"\#\ ", r"\#").replace(r"\ \#", r"\#") for phrase in ordered)
    return "|".join(phrase.replace(r"\.", r"\.?").replace(r"\#", _COUNT) for phrase in escaped)


_FORMS = {form: word for word, line in _CLDR["ago"].items() for form in line.split("|")}
_BEFORE = _spaced(form for form in _FORMS if not form.startswith("#"))
_AFTER = [form.removeprefix("# ") for form in _FORMS if form.startswith("#")]
_NAMED = [[part.split("|") for part in line.split("; ")] for line in _CLDR["said"].values()]
_TODAY = [word for row in _NAMED for part in (*row[:3], row[4]) for word in part if word]
_PHRASES = "|".join((_CLDR["words"]["past"], *_TIMES["recent"].values())).split("|")
_SAID = [said for said in (*_PHRASES, *_TODAY) if len(said) >= _SHORTEST or len(said.encode()) >= _SHORTEST_BYTES]

_FIGURED_SIGNS = frozenset(part for word in _FORMS.values() for part in _WORD.findall(word))
_SAID_SIGNS = frozenset(max(_WORD.findall(phrase), key=len) for phrase in _spaced(_SAID))
# "A week ago": the figure may be a word if a form names the unit and the past.
_NAMELESS = [form for form in _spaced(_AFTER) if " " in form]
_FIGURED = re.compile(
    rf"{_START}(?:{_any_of(_BEFORE)}){_END}|{_FIGURE}(?:{_any_of(_spaced(_AFTER))}){_END}"
    rf"|{_START}(?:{_any_of(_NAMELESS)}){_END}"
)
_SPOKEN = re.compile(rf"{_START}(?:{_any_of(_spaced(_SAID))}){_END},?")
_DIGIT = re.compile(r"\d")
# "3日前まで" is a deadline.
_JOINED = re.compile(
    rf"{_any_of(_spaced(_SAID, unspaced=True))}"
    rf"|{_FIGURE}(?:{_any_of(_spaced(_AFTER, unspaced=True))})(?:{_END}|(?=に?更新))"
)
_WHOLE = frozenset(word for row in _NAMED for part in row for word in part if word)


def without_past(text: str, signs: Set[str]) -> str:
    """Mask the past times of a short canonical-spelled text. signs: its words."""
    if len(text) <= _LONGEST_WHOLE and text.strip(" .!,") in _WHOLE:
        return _PAST_MASK
    if not _FIGURED_SIGNS.isdisjoint(signs):
        text = _FIGURED.sub(_PAST_MASK, text)
    if not _SAID_SIGNS.isdisjoint(signs):
        text = _SPOKEN.sub(_PAST_MASK, text)
    return text if text.isascii() or not _UNSPACED.search(text) else _JOINED.sub(_PAST_MASK, text)


Reading: TypeAlias = tuple[int, int, int]  # year, month, day; 0 for missing parts

_MOST = 4_000  # characters of a text that are read
_MOST_BETWEEN, _BUDDHIST = 2, 543
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])")
_HALF_DAY, _LAG = 43_200, 150  # seconds after which a time may be written the same again, and of a page from a cache
_LATE, _SOON = 2, 14
"""Days before and after today of a date that a server counts from today: a stamp, a day of delivery."""


class DateSpan(NamedTuple):
    """A date from `start` to `end` of a text, with all its possible meanings."""

    start: int
    end: int
    readings: tuple[Reading, ...]

    @property
    def has_year(self) -> bool:
        return self.readings[0][0] > 0

    @property
    def has_day(self) -> bool:
        return self.readings[0][2] > 0


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    number: int
    """-1 for a word."""


MONTHS: dict[str, tuple[int, ...]] = {}
for _number, _names in _CLDR["months"].items():
    for _name in _names.split("|"):
        MONTHS[_name] = (*MONTHS.get(_name, ()), int(_number))
_PAIRED = frozenset(name.split()[0] for name in MONTHS if " " in name)
"""First parts of two-part names: a Thai short name has a dot in its middle."""
WEEKDAYS = frozenset(_CLDR["words"]["weekdays"].split("|")).union(
    ("tues", "weds", "thur", "thurs"), "月火水木金土日월화수목금토일"
)
ORDINALS = frozenset("st nd rd th er ere re e o a º ª".split())  # noqa: SIM905
BESIDE = frozenset(_CLDR["words"]["beside"].split("|")).union(
    "of the el le der dem da do b e y พ ค ศ คริสต์ศักราช พุทธศักราช".split()  # noqa: SIM905
)
SURE_SHORT = frozenset("jan feb mar apr may jun jul aug sep oct nov dec okt dez mai maj mär avr fév déc ene".split())  # noqa: SIM905
"""Short month names that need no year; "out", "set" and "ago" are other words too."""
TOKEN = re.compile(
    r"\d+|[^\W\d_]+(?:[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e׳॰]+[^\W\d_]*)*"
)
_NUMERIC = re.compile(r"(?<![\w.,/$€£:])(\d{1,4})([./-]) ?(\d{1,2})\2 ?(\d{1,4})(?![\w%€$£/]|[.,:]\d)")
_SPACED = re.compile(
    r"(?<![\w.,/$€£:-])(?:(\d{1,2}) (\d{1,2}) ((?:19|20)\d\d)|((?:19|20)\d\d) (\d{1,2}) (\d{1,2}))"
    r"(?![\w%€$£/]|[.,:-]\d)"
)
_EASTERN = re.compile(r"(?:(\d{4}) ?[年년] ?)?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]?")
_MASK = re.compile(r"⟨\w+⟩")


def dates_in(text: str) -> list[DateSpan]:
    """Return the dates in a canonical text in order, without overlap.

    >>> [found.readings for found in dates_in("from 14 novembre 2026 to 2026-12-01")]
    [((2026, 11, 14),), ((2026, 12, 1),)]
    """
    return list(_dates_in(text[:_MOST]))


@lru_cache(maxsize=1024)
def _dates_in(text: str) -> tuple[DateSpan, ...]:
    """Cached, because one check needs the dates of a block several times."""
    if not _DIGIT.search(text):
        return ()
    found = sorted([*_by_month(text), *_by_number(text)], key=lambda at: (at.start, -at.end))
    kept: list[DateSpan] = []
    for at in found:
        if not kept or at.start >= kept[-1].end:
            kept.append(at)
    return tuple(kept)


def _by_number(text: str) -> Iterator[DateSpan]:
    for found in _NUMERIC.finditer(text):
        if found[2] == "-" and "-" in {text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]}:
            continue
        if readings := _numeric(found[1], found[2], found[3], found[4]):
            yield DateSpan(found.start(), found.end(), readings)
    for found in _SPACED.finditer(text):
        day, month, year = (found[1], found[2], found[3]) if found[1] else (found[6], found[5], found[4])
        if readings := _possible((int(year), int(month), int(day))):
            yield DateSpan(found.start(), found.end(), readings)
    if not text.isascii():
        for found in _EASTERN.finditer(text):
            if readings := _possible((int(found[1] or 0), int(found[2]), int(found[3]))):
                yield DateSpan(found.start(), found.end(), readings)


def _numeric(first: str, mark: str, second: str, third: str) -> tuple[Reading, ...]:
    one, two, three = int(first), int(second), int(third)
    if len(first) == 4:
        return _possible((_year(one), two, three)) if len(third) <= 2 else ()
    is_version = len(third) == 2 and mark != "/" and (len(first), len(second)) != (2, 2)  # as likely: "1.2.26"
    year = _year(three) if len(third) == 4 else 2000 + three
    if len(first) > 2 or len(third) not in {2, 4} or is_version or not year:
        return ()
    dated = _possible((year, two, one))
    return dated if mark == "." else tuple(dict.fromkeys((*dated, *_possible((year, one, two)))))


def _year(number: int) -> int:
    """Return the Gregorian year of a four-digit number, 0 if it is none."""
    if 2400 <= number < 2700:
        return number - _BUDDHIST
    return number if 1900 <= number < 2200 else 0


def _possible(*readings: Reading) -> tuple[Reading, ...]:
    return tuple(reading for reading in readings if reading[0] >= 0 and _ordinal(reading, 2024) is not None)


def _by_month(text: str) -> Iterator[DateSpan]:
    if _MONTH_WORDS.isdisjoint(TOKEN.findall(text)):
        return
    tokens = [
        _Token(found[0], found.start(), found.end(), int(found[0][:9]) if found[0].isdecimal() else -1)
        for found in TOKEN.finditer(text)
    ]
    for i, token in enumerate(tokens):
        if token.number >= 0:
            continue
        last = i
        months = MONTHS.get(token.text, ())
        if token.text in _PAIRED and i + 1 < len(tokens):
            paired = MONTHS.get(f"{token.text} {tokens[i + 1].text}", ())
            months, last = (paired, i + 1) if paired else (months, i)
        if token.text in BESIDE and i + 1 < len(tokens) and token.text in _COUNTED_MONTH:
            number = tokens[i + 1].number
            months, last = ((number,), i + 1) if 1 <= number <= 12 else ((), i)
        if months and (dated := _around(tokens, i, last, months)):
            yield dated


_COUNTED_MONTH = frozenset({"tháng", "thg"})  # vietnamese counts its months: "14 tháng 11 2026"
_MONTH_WORDS = _COUNTED_MONTH.union(MONTHS, _PAIRED)


def _around(tokens: Sequence[_Token], first: int, last: int, months: tuple[int, ...]) -> DateSpan | None:
    left, left_at = _next(tokens, first, -1)
    right, right_at = _next(tokens, last, 1)
    day = year = 0
    start, end = tokens[first].start, tokens[last].end
    if left and _is_day(left):
        day, start = left.number, left.start
        if right and (said := _explicit_year(right)):
            year, end = said, right.end
        else:
            further, _ = _next(tokens, left_at, -1)
            if further and (said := _explicit_year(further)):
                year, start = said, further.start
    elif right and _is_day(right):
        day, end = right.number, right.end
        further, _ = _next(tokens, right_at, 1)
        if left and (said := _explicit_year(left)):
            year, start = said, left.start
        elif further and (said := _explicit_year(further)):
            year, end = said, further.end
    elif right and (said := _explicit_year(right)):
        year, end = said, right.end
    elif left and (said := _explicit_year(left)):
        year, start = said, left.start
    name = tokens[first].text
    if (not day and not year) or (not year and len(name) <= 3 and name.isascii() and name not in SURE_SHORT):
        return None
    readings = _possible(*((year, month, day) for month in months))
    return DateSpan(start, end, readings) if readings else None


def _next(tokens: Sequence[_Token], at: int, step: int) -> tuple[_Token | None, int]:
    for passed in range(1, _MOST_BETWEEN + 2):
        i = at + step * passed
        if not 0 <= i < len(tokens):
            break
        token = tokens[i]
        if token.number >= 0 or not (token.text in BESIDE or token.text in ORDINALS):
            return token, i
    return None, at


def _is_day(token: _Token) -> bool:
    return 1 <= token.number <= 31 and len(token.text) <= 2


def _explicit_year(token: _Token) -> int:
    return _year(token.number) if len(token.text) == 4 and token.number >= 0 else 0


def days_moved(old: str, new: str, steps: Iterable[int] = (1, -1)) -> int:
    """Return the step, in days, by which all dates of two texts moved that are otherwise equal; 0 if none fits.

    >>> days_moved("posted 31 januar 2027 samstag", "posted 1 februar 2027 sonntag")
    1
    """
    if old == new or len(old) > _MOST or len(new) > _MOST:
        return 0
    before, after = dates_in(old), dates_in(new)
    if not before or len(before) != len(after) or around(old, before) != around(new, after):
        return 0
    return next((step for step in steps if all(_moved(*pair, step) for pair in zip(before, after, strict=True))), 0)


def keep_pace(old: str, new: str, today: int, passed: float) -> bool:
    """Whether all dates moved as many days as have passed, and one is near today (an ordinal; 0 if unknown)."""
    steps = [step for step in (int(passed), int(passed) + 1) if step]
    if not today or passed <= 0 or not days_moved(old, new, steps):
        return False
    years = [date.fromordinal(today).year + turn for turn in (-1, 0, 1)]

    def is_near(reading: Reading) -> bool:
        days = (_ordinal(reading, year) for year in years)
        return any(day is not None and -_LATE <= day - today <= _SOON for day in days)

    # A date with another, distant reading may be a deadline.
    return any(all(map(is_near, at.readings)) for at in dates_in(new))


def is_clock(old: str, new: str, passed: float) -> bool:
    """Whether the times of day that differ in two texts, as written, moved by the time that has passed, in days.

    >>> is_clock("Teraz jest 03:03:00", "Teraz jest 09:03:02", 0.25)
    True
    """
    times = list(zip(_TIME.findall(old), _TIME.findall(new), strict=False))
    moved = {_seconds(after) - _seconds(before) for before, after in times if before != after}
    if not moved or passed <= 0 or _TIME.sub("", old) != _TIME.sub("", new):
        return False
    return all(abs((step - passed * 86_400 + _HALF_DAY / 2) % _HALF_DAY - _HALF_DAY / 2) <= _LAG for step in moved)


def has_time(text: str) -> bool:
    return _TIME.search(text) is not None


def _seconds(time: tuple[str, str, str]) -> int:
    hours, minutes, seconds = time
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)


def _moved(old: DateSpan, new: DateSpan, step: int) -> bool:
    if old.has_year != new.has_year or not old.has_day or not new.has_day:
        return False
    # Without a year, either a leap year or another may be meant.
    years = (0,) if old.has_year else (2024, 2025)
    for first in old.readings:
        for second in new.readings:
            for year in years:
                one = _ordinal(first, year)
                other = _ordinal(second, year + (0 if old.has_year else _turn(first, second)))
                if one is not None and other is not None and other - one == step:
                    return True
    return False


def _turn(first: Reading, second: Reading) -> int:
    """Return the difference in years of two dates without a year that are a day apart."""
    return {(12, 1): 1, (1, 12): -1}.get((first[1], second[1]), 0)


def _ordinal(reading: Reading, year: int) -> int | None:
    try:
        return date(reading[0] or year, reading[1], reading[2] or 1).toordinal()
    except ValueError:
        return None


def around(text: str, dates: Sequence[DateSpan]) -> list[str]:
    """Return the texts around the dates, without weekday names, which move with the dates."""
    edges = [0, *(edge for at in dates for edge in (at.start, at.end)), len(text)]
    parts = [text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]
    return [" ".join(it for it in part.split() if it.strip("،,.").removesuffix("ที่") not in WEEKDAYS) for part in parts]


_LABEL_WORDS, _MOST_WORDS = 3, 16
_HEDGE = 3  # maximum words that qualify the time of an edit
_AT = frozenset(
    "at um kl klo à a o в om ore alle las h uhr uur on am pm utc gmt cet est edt pst le den los la les".split()  # noqa: SIM905
)
"""Words next to a date and a time of day."""


def _beside(text: str, dates: Sequence[DateSpan]) -> Iterator[str]:
    """Yield the words of a text outside dates, weekdays, figures and masks."""
    rest = _MASK.sub(" ", " ".join(around(text, dates)))
    for found in TOKEN.finditer(rest):
        token = found[0]
        if not (token.isdecimal() or token in BESIDE or token in ORDINALS):
            yield token


@lru_cache(maxsize=256)
def is_only_date(text: str) -> bool:
    """Whether a canonical text is only dates: with weekdays, times of day, or a month by itself."""
    dates = dates_in(text)
    # Two words are enough to decide; most texts have many more.
    rest = list(islice((word for word in _beside(text, dates) if word not in _AT), 2))
    if dates:
        return not rest
    return len(rest) == 1 and rest[0] in MONTHS and (len(rest[0]) > 3 or rest[0] in SURE_SHORT)


def is_dated(text: str) -> bool:
    """Whether a canonical text is a label with its own date, not the date of a page's edit."""
    if words_in(text) > _MOST_WORDS or speaks_of_edits(text):
        return False
    dates = dates_in(text)
    if len(dates) != 1 or not dates[0].has_year:
        return False
    label, rest = text[: dates[0].start].split(), text[dates[0].end :].split()
    if not BESIDE.issuperset(rest) or any(word in WEEKDAYS and len(word) > 2 for word in label):
        return False
    words = [word for word in label if len(word) > 1 and word not in BESIDE and not _MASK.fullmatch(word)]
    return 1 <= len(words) <= _LABEL_WORDS


def speaks_of_edits(text: str) -> bool:
    """Whether a canonical text has a word for updating, editing, reviewing or accessing a page."""
    return _EDITED.search(text) is not None


def is_same_stamp(left: str, right: str) -> bool:
    """Whether two canonical texts are edit stamps that differ in a few words before a past time.

    >>> is_same_stamp("updated ⟨ago⟩", "updated well over a ⟨ago⟩")
    True
    """
    (short, past, tail), (long, _, long_tail) = (text.partition(PAST) for text in sorted((left, right), key=len))
    few, many = short.split(), long.split()
    hedge = len(many) - len(few)
    if not past or tail != long_tail or not 0 < hedge <= _HEDGE:
        return False
    # The extra words may also precede a final "a".
    fits = any(many[:at] + many[at + hedge :] == few for at in (len(few), len(few) - 1) if at > 0)
    return fits and speaks_of_edits(short + tail)


_EDITS = [word for words in _TIMES["edited"].values() for word in words.split("|")]
_SPACED_EDITS = [
    rf"{re.escape(it[:-1])}\w*" if it.endswith("*") else rf"{re.escape(it)}(?!\w)" for it in _spaced(_EDITS)
]
_JOINED_EDITS = map(re.escape, _spaced(_EDITS, unspaced=True))
_EDITED = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(_SPACED_EDITS))})|{'|'.join(sorted(_JOINED_EDITS))}")


_LONGEST, _DAY, _LAST = 100, 86_400_000, 253_402_300_799_999
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
_KNOWN = _ALONG.union(_ZONES)  # words that may occur next to a date and its time
_ISO = re.compile(r"(?:19|2[01])\d\d(?:-?\d\d-?\d\d|-?W\d\d-?\d)(?:[T ]\S+)?")
_RFC = re.compile(
    r"(?:[A-Z][a-z][a-z], )?(\d\d?) ([A-Z][a-z][a-z]) (\d{4}) (\d\d:\d\d(?::\d\d)?) (?:([+-]\d\d)(\d\d)|GMT|UTC|Z)"
)
_ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK = re.compile(
    r"(?:\b([ap])m *)?(?:(?<=\d)t|(?<![\w:.,+-]))(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: *([ap])m\b)?"
    rf"(?: *({'|'.join(_ZONES)})\b)?(?: *([+-])(\d\d?):?(\d\d)?)?(?![\d:])"
)
_EASTERN_NAME = re.compile(r"(?<!\d)(\d\d?) ?[時时点點시] ?(?:(\d\d?) ?[分분] ?(?:(\d\d?) ?[秒초])?)?")
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
    text = _EASTERN_NAME.sub(lambda found: f" {found[1]}:{found[2] or '0':0>2}:{found[3] or '0':0>2} ", text)
    for pattern, new in _RESPELLED:
        text = pattern.sub(new, text)
    asides = " ".join(_ASIDE.findall(text))
    text = _ASIDE.sub(" ", text)
    clock = _CLOCK.search(text)
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
