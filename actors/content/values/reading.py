"""All values of a text, from left to right, without overlap: dates and versions first, then numbers.

Reads only the beginning of a text, in linear time. An availability ("In stock", "ausverkauft", "残りわずか") is read in
short texts only, the labels of shops: in a paragraph the same words mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from actors.content.values.amounts import (
    AFTER,
    BEFORE,
    CURRENCY,
    CURRENCY_ENDS,
    NUMBER,
    UNSPACED_NUMBER,
    WORD_BEFORE,
    Amount,
    Writing,
    code_of,
    has_three_places,
    is_at_home,
    levelled,
    read,
)
from actors.content.wording.dates import dates_in
from actors.content.wording.words import word_lists
from storage.records.event import LARGEST, MOST_SCALE, MOST_VALUE_TEXT, Availability, Value, ValueType

MOST_READ = 4_000
"""Characters of a text that are read."""
MOST_VALUES = 200

_LABELS = word_lists("values")["labels"]
_DIGIT = re.compile(r"\d")
_EXACT = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_BEFORE = re.compile(rf"({BEFORE})[ \u00a0]{{0,2}}$")
_LONGEST_BEFORE, _LONGEST_KEY = 8, 70
_AFTER = re.compile(rf"(?:[.,:]?-{{1,2}}(?!\d))?[ \u00a0]{{0,2}}({AFTER})")
_HASH = re.compile(r"(?:\b[0-9a-f]{4} ){7,}[0-9a-f]{4}\b")
"""A hash in groups of four digits; none is a number."""
_HYPHEN = re.compile(r"[^\W\d_]-$")
_NO_CENTS = re.compile(r"[.,:]-{1,2}(?![\d-])")
_TIMES = {word: int(power) for word, power in word_lists("values")["times"].items()}
"""Powers of ten between an amount and its currency, or after both."""
_MANY = "|".join(re.escape(word) for word in sorted(_TIMES, key=len, reverse=True))
_TIMES_AFTER = re.compile(rf"[ \u00a0]?({_MANY})(?![^\W円元원])")
_UNITS = "GHz MHz GiB MiB TB GB MB kB KB kWh MWh kW MW W kg mg g t km cm mm m ml cl dl l °C °F mAh px dpi".split()  # noqa: SIM905
_UNIT = re.compile(rf"[ \u00a0]?({'|'.join(_UNITS)})(?!\w)")
_SHARE_BEFORE = re.compile(r"%[ \u00a0]?$")
_SHARE = re.compile(r"[ \u00a0]?%")
_CLOCK = re.compile(r"(?<![\d:.,])([01]?\d|2[0-4])[:.h]([0-5]\d)(?::[0-5]\d)?(?![\d:]|[.,]\d)(?: ?([ap])\.?m\b)?")
_VERSION = re.compile(
    r"(?=[v\d])(?<![^\W_])(?<![.$€£])(?:v(\d+(?:\.\d+)*)|(\d+\.\d+\.\d+(?:\.\d+)*)"
    r"|(?<=version )(\d+(?:\.\d+)*)|(?<=release )(\d+(?:\.\d+)*))"
    r"(?:-(?:alpha|beta|rc|dev|pre)[\w.]*)?(?![\w]|\.\d)"
)
_KEY = re.compile(r'"([\w.$ -]{1,60})" ?: ?"?-?$')
_PRICE_KEY = re.compile(r"price|amount$|cost$|total$|fee$|preis$|prix$|pris$|precio$", re.I)
_CURRENCY_KEY = re.compile(r'"\w*currency\w*" ?: ?"([A-Z]{3})"', re.I)
_PRICE_LABEL = re.compile(_LABELS["price"], re.I)
_SAVED = re.compile(_LABELS["saved"], re.I)
_MONTH_FIRST = frozenset({"en", "en-us", "en-ph", "fil"})
_HOUR_OF_NOON = 12


class ValueSpan(NamedTuple):
    """A value from `start` to `end` of a text."""

    start: int
    end: int
    value: Value


def values_in(text: str, writing: Writing, label: str = "") -> list[ValueSpan]:
    """Return the values of a text in order. label: its row and column labels, if it is a cell.

    >>> [found.value.number for found in values_in("from 1.099,00 € to 12,5 %", Writing("de"))]
    [109900, 125]
    """
    text = text[:MOST_READ]
    flat = levelled(text)
    lowered = flat.lower()
    if len(lowered) != len(flat):
        lowered = flat
    said = [
        ValueSpan(at.start, at.end, Value(_cut(text, at.start, at.end), "availability", value=at.state))
        for at in availability_in(lowered)
    ]
    if not _DIGIT.search(flat):  # no other value lacks a figure
        return _apart(said)[:MOST_VALUES]
    found = _apart(
        [*_dates(text, lowered, writing), *_clocks(text, lowered, writing), *_versions(text, lowered), *said]
    )
    taken = {at for one in found for at in range(one.start, one.end)}
    taken.update(at for hash in _HASH.finditer(lowered) for at in range(*hash.span()))
    found += _Numbers(text, flat, writing, label).read(taken)
    return _apart(found)[:MOST_VALUES]


def has_prices(text: str, writing: Writing) -> bool:
    """Whether a text may have a price, a percentage or a version; a quick test, as most have none."""
    flat = levelled(text[:MOST_READ])
    return "%" in flat or _Numbers(text, flat, writing, "").has_money() or bool(_VERSION.search(flat.lower()))


def is_price(found: ValueSpan, text: str) -> bool:
    """Whether a value of a text is a price, not a discount."""
    return found.value.type == "money" and not _SAVED.search(text[max(0, found.start - 24) : found.start])


def _apart(found: Sequence[ValueSpan]) -> list[ValueSpan]:
    kept: list[ValueSpan] = []
    for one in sorted(found, key=lambda at: (at.start, -at.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _cut(text: str, start: int, end: int) -> str:
    return text[start:end].strip()[:MOST_VALUE_TEXT]


def _dates(text: str, lowered: str, writing: Writing) -> Iterator[ValueSpan]:
    month_first = writing.language.replace("_", "-").lower() in _MONTH_FIRST
    for at in dates_in(lowered):
        year, month, day = at.readings[-1 if month_first else 0]
        parts = [f"{year:04}" if year else "", f"{month:02}" if month else "", f"{day:02}" if day else ""]
        if said := "-".join(filter(None, parts)):
            yield ValueSpan(at.start, at.end, Value(_cut(text, at.start, at.end), "date", value=said))


def _clocks(text: str, lowered: str, writing: Writing) -> Iterator[ValueSpan]:
    for at in _CLOCK.finditer(lowered):
        if at[0][len(at[1])] == "." and not at[3]:
            continue  # as likely a number with two decimals
        hour = int(at[1])
        if at[3] and hour <= _HOUR_OF_NOON:
            hour = hour % _HOUR_OF_NOON + (_HOUR_OF_NOON if at[3] == "p" else 0)
        yield ValueSpan(
            at.start(), at.end(), Value(_cut(text, at.start(), at.end()), "time", value=f"{hour:02}:{at[2]}")
        )


def _versions(text: str, lowered: str) -> Iterator[ValueSpan]:
    for at in _VERSION.finditer(lowered):
        bare = next(group for group in at.groups() if group)
        if not at[1] and at[2] and read(bare, Writing()) is not None:
            continue  # 1.234.567 is a number
        yield ValueSpan(at.start(), at.end(), Value(_cut(text, at.start(), at.end()), "version", value=bare))


class _Numbers:
    """The numbers of a text, each with its unit. flat: the text, levelled."""

    def __init__(self, text: str, flat: str, writing: Writing, label: str) -> None:
        self._text, self._flat, self._writing, self._label = text, flat, writing, label

    def read(self, taken: set[int]) -> list[ValueSpan]:
        """Return the numbers outside the `taken` positions; both ends of a range share its currency."""
        found: list[ValueSpan] = []
        for at in self._candidates():
            if at.start() in taken or at.end() - 1 in taken or (one := self._one(at)) is None:
                continue
            last = found[-1] if found else None
            between = "" if last is None else self._flat[last.end : one.start].strip(" \u00a0")
            if last is not None and between == "-" and "" in {last.value.unit, one.value.unit}:
                if one.value.type == "money":
                    found[-1] = last._replace(value=replace(last.value, type="money", unit=one.value.unit))
                elif last.value.type == "money" and one.value.type == "number":
                    one = one._replace(value=replace(one.value, type="money", unit=last.value.unit))
            found.append(one)
            if len(found) >= MOST_VALUES:
                break
        return found

    def has_money(self) -> bool:
        return any(self._code(at.start(), *self._currencies(at)[:2]) is not None for at in self._candidates())

    def _candidates(self) -> Iterator[re.Match[str]]:
        writing = self._writing
        pattern = _EXACT if writing.exact else NUMBER if writing.groups_with_space else UNSPACED_NUMBER
        return pattern.finditer(self._flat)

    def _currencies(self, at: re.Match[str]) -> tuple[re.Match[str] | None, re.Match[str] | None, re.Match[str] | None]:
        """Return the currency before a number, the one after it, and a power of ten in between."""
        flat, end = self._flat, at.end()
        bare = _signed(flat[max(0, at.start() - _LONGEST_BEFORE) : at.start()])[1]
        currency = None
        if bare.rstrip(" \u00a0")[-1:] in CURRENCY_ENDS:
            currency = _BEFORE.search(bare)
            if currency is None and (word := WORD_BEFORE.search(bare)) and is_at_home(word[1], self._writing):
                currency = word
        times = _TIMES_AFTER.match(flat, end)
        return currency, (_AFTER.match(flat, times.end()) if times else None) or _AFTER.match(flat, end), times

    def _one(self, at: re.Match[str]) -> ValueSpan | None:
        flat, writing = self._flat, self._writing
        start, end = at.span()
        before = flat[max(0, start - _LONGEST_BEFORE) : start]
        sign, bare = _signed(before)
        currency, after, times = self._currencies(at)
        if currency is None and (_HYPHEN.search(before) or (before == bare and bare[-1:].isalpha())):
            return None  # F-35, A320
        is_word = flat[end : end + 1].isalpha() and not _UNIT.match(flat, end)
        if currency is None and after is None and is_word:
            return None  # 2nd, 4K
        code = self._code(start, currency, after)
        if code is None:
            return self._plain(at, sign)
        amount = read(at[0], writing, at_home=is_at_home(code, writing) or has_three_places(code))
        if after is not None:
            end = max(end, after.end())
        if times is None and currency is not None:
            times = _TIMES_AFTER.match(flat, end)
        if amount is not None and times is not None and (currency or after):
            amount, end = _multiplied(amount, _TIMES[times[1]]), max(end, times.end())
        if amount is None:
            return None
        if after is None and (no_cents := _NO_CENTS.match(flat, end)):
            end = no_cents.end()
        if currency is not None:
            start -= len(before) - len(bare) + len(currency[0])
            sign = sign or _sign_before(flat, start)
        start -= bool(_sign_before(flat, start)) if sign else 0
        number = -amount.number if sign else amount.number
        return ValueSpan(start, end, Value(_cut(self._text, start, end), "money", number, amount.scale, code))

    def _code(self, start: int, currency: re.Match[str] | None, after: re.Match[str] | None) -> str | None:
        if after is not None and (currency is None or (after[1].isupper() and after[1].isalpha())):
            return code_of(after[1], self._writing)
        if currency is not None:
            return code_of(currency[1], self._writing)
        if self._writing.exact:
            if _PRICE_KEY.search(self._key(start)):
                named = _CURRENCY_KEY.search(self._flat)
                return named[1].upper() if named else ""
            return None
        if self._label and _PRICE_LABEL.search(self._label):
            named = CURRENCY.search(self._label)
            return code_of(named[0], self._writing) if named else ""
        return None

    def _key(self, start: int) -> str:
        """Return the key before a JSON value, else the last part of its path."""
        key = _KEY.search(self._flat[max(0, start - _LONGEST_KEY) : start])
        return key[1] if key is not None else self._label.rstrip("]'\" ").rpartition(".")[2]

    def _plain(self, at: re.Match[str], sign: str) -> ValueSpan | None:
        start, end = at.span()
        amount = None if "e" in at[0].lower() else read(at[0], self._writing)
        if amount is None:
            return None
        start -= bool(sign)
        type: ValueType = "percent"
        if share := _SHARE.match(self._flat, end):
            end, unit = share.end(), "%"
        elif share := _SHARE_BEFORE.search(self._flat[max(0, start - 2) : start]):
            start, unit = start - len(share[0]), "%"
        else:
            measured = _UNIT.match(self._flat, end)
            type, end, unit = "number", measured.end() if measured else end, measured[1] if measured else ""
        number = -amount.number if sign else amount.number
        return ValueSpan(start, end, Value(_cut(self._text, start, end), type, number, amount.scale, unit))


def _signed(before: str) -> tuple[str, str]:
    return (_sign_before(before, len(before)), before[:-1]) if _sign_before(before, len(before)) else ("", before)


def _sign_before(flat: str, at: int) -> str:
    """Return "-" for a minus before a position, unless it is a hyphen or a range's dash."""
    if at == 0 or flat[at - 1 : at] != "-":
        return ""
    outside = flat[at - 2 : at - 1] if at >= 2 else ""
    is_range = outside in (" ", "\u00a0") and flat[: at - 2].rstrip()[-1:].isdigit()
    return "" if outside.isalnum() or is_range else "-"


def _multiplied(amount: Amount, power: int) -> Amount | None:
    """Multiply an amount by a power of ten; None if it exceeds the limits."""
    less = min(power, amount.scale)
    number, scale = amount.number * 10 ** (power - less), amount.scale - less
    return Amount(number, scale) if number <= LARGEST and scale <= MOST_SCALE else None


MOST_WORDS = 12
"""Maximum words of a label."""
_BARE_WORDS = 4
"""Maximum words of a label where "available" alone counts."""

_STATES = word_lists("values")["availability"]
_SCHEMA = word_lists("values")["schema"]
"""The members of schema.org's ItemAvailability, in lower case."""
_OF_SCHEMA = re.compile(rf"schema\.org/({'|'.join(_SCHEMA)})\b")
_FLAG = re.compile(r'"((?:is_?)?(?:(?:in_?)?stock|available|sold_?out|out_?of_?stock))" ?: ?(true|false)')
_STATE = re.compile("|".join(f"(?P<{state}>{words})" for state, words in _STATES.items()))
_BY_ITSELF = re.compile(_LABELS["bare"])
_TIME_LEFT = re.compile(_LABELS["left"])
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class AvailabilitySpan(NamedTuple):
    """An availability from `start` to `end` of a text."""

    start: int
    end: int
    state: Availability


def availability_in(lowered: str) -> Iterator[AvailabilitySpan]:
    """Yield the availabilities in a short lower-case text or in a program's record, in order."""
    for found in _OF_SCHEMA.finditer(lowered):
        yield AvailabilitySpan(found.start(), found.end(), _SCHEMA[found[1]])  # type: ignore[arg-type]  # a state
    for found in _FLAG.finditer(lowered):
        has = (found[2] == "true") != ("sold" in found[1] or "out" in found[1])
        yield AvailabilitySpan(found.start(), found.end(), "in_stock" if has else "out_of_stock")
    words = len(lowered.split())
    if words > MOST_WORDS or len(lowered) > 160:
        return
    said = [
        AvailabilitySpan(found.start(), found.end(), found.lastgroup)  # type: ignore[arg-type]  # a name of `_STATES`
        for found in _STATE.finditer(lowered)
        if _stands_alone(lowered, found.start(), found.end())
        and not (found.lastgroup == "limited" and _TIME_LEFT.match(lowered, found.end()))
    ]
    are_few = any(one.state == "limited" for one in said)
    yield from (one for one in said if not (are_few and one.state == "in_stock"))
    bare = None if said or words > _BARE_WORDS else _BY_ITSELF.search(lowered)
    if bare is not None and _stands_alone(lowered, bare.start(), bare.end()):
        yield AvailabilitySpan(bare.start(), bare.end(), "in_stock")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter touches a match, except in scripts without spaces."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not any(_LETTER.match(one) and not _UNSPACED.match(one) for one in (before, after))
