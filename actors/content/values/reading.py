"""All values of a text, from left to right, without overlap: dates and versions first, then numbers.

Reads only the beginning of a text, in linear time. An availability ("In stock", "ausverkauft", "残りわずか") is read in
short texts only, the labels of shops: in a paragraph the same words mean something else.

Names that came, went or changed, recognised by capitals and by the words around them. A capital means little at the
beginning of a sentence, in a title-case heading, and in languages that capitalise every noun. There a name needs a
legal form ("moinbits GbR"), an abbreviation ("TDDDG"), or several capitals in a row.

Numbers as people write them, and currencies by ISO 4217 code. A single mark before three digits may group or divide.
The language of the text decides; if unknown, the mark groups.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from actors.content.wording.dates import dates_in
from actors.content.wording.words import gaps, word_lists, words_of
from storage.records.event import LARGEST, MOST_SCALE, MOST_VALUE_TEXT, Availability, Value, ValueType

_COMMA, _POINT, _POINT_REGIONS, _COMMA_REGIONS, _NO_SPACE = (
    frozenset(word_lists("values")["marks"][use].split("|"))
    for use in ("comma", "point", "point regions", "comma regions", "plain")
)
"""The last: languages where a plain space never groups: "iPhone 15 999 €" has two numbers."""

_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f\u200a\u2002\u2003"), "\u00a0")
_OTHERS = {
    **dict.fromkeys(map(ord, "’‘ʼ＇´`"), "'"),
    **dict.fromkeys(map(ord, "٫"), "."),
    **dict.fromkeys(map(ord, "٬"), "'"),
    **dict.fromkeys(map(ord, "−–—‒‑﹣－"), "-"),
    **dict.fromkeys(map(ord, "．"), "."),
    **dict.fromkeys(map(ord, "，、"), ","),
    **dict.fromkeys(map(ord, "％٪"), "%"),
    **dict.fromkeys(map(ord, "＄﹩"), "$"),
    ord("￥"): "¥",
    ord("￡"): "£",
    ord("："): ":",
}
_DIRECTING = dict.fromkeys((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF), "\u00a0")
_MARKS = {**_SPACES, **_OTHERS, **_DIRECTING}

NUMBER = re.compile(r"\d+(?:[.,']\d+|[ \u00a0]\d{3}(?!\d))*")
"""The longest possible number in the output of `levelled`; `read` interprets it."""
UNSPACED_NUMBER = re.compile(r"\d+(?:[.,']\d+|\u00a0\d{3}(?!\d))*")  # the same, but a plain space separates two numbers
_MOST_DIGITS = 16
_GROUPED = re.compile(r"\d{1,3}(?:[ \u00a0']\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*")


class Writing(Struct, frozen=True):
    """A text's number format. language: as declared ("de-ch") or "". exact: a program's: no groups, a point divides."""

    language: str = ""
    exact: bool = False

    @property
    def spoken(self) -> str:
        return self.language.replace("_", "-").partition("-")[0].lower()

    @property
    def divider(self) -> str:
        """The decimal mark, "" if unknown."""
        tag = "-".join(self.language.replace("_", "-").lower().split("-")[:2])
        if self.exact or tag in _POINT_REGIONS:
            return "."
        if tag in _COMMA_REGIONS or self.spoken in _COMMA:
            return ","
        return "." if self.spoken in _POINT else ""


class Amount(NamedTuple):
    """An integer and the number of its decimals."""

    number: int
    scale: int


def levelled(text: str) -> str:
    """Unify digits, spaces and marks; the length stays, so positions remain valid."""
    if text.isascii():
        return text
    return text.translate(_MARKS).translate(_digits(frozenset(text)))


@lru_cache(maxsize=64)
def _digits(characters: frozenset[str]) -> dict[int, str]:
    return {
        ord(char): str(unicodedata.decimal(char))
        for char in characters
        if not char.isascii() and unicodedata.decimal(char, None) is not None
    }


def read(written: str, writing: Writing, *, at_home: bool = True) -> Amount | None:
    """Read a match of `NUMBER`; None if it is no number but for example a version or an address.

    at_home: False for an amount in a currency foreign to the language's countries, whose marks may differ.

    >>> read("1.099,00", Writing()), read("1,09,900", Writing("en")), read("1.2.3", Writing())
    (Amount(number=109900, scale=2), Amount(number=109900, scale=0), None)
    """
    if writing.exact:
        return _made(*written.partition(".")[::2]) if re.fullmatch(r"\d+(?:\.\d+)?", written) else None
    if any(mark in written for mark in " \u00a0'"):
        if not _GROUPED.fullmatch(written):
            return None
        head, _, tail = re.sub(r"[ \u00a0']", "", written).replace(",", ".").partition(".")
        return _made(head, tail)
    points, commas = written.count("."), written.count(",")
    if not points and not commas:
        return _made(written, "")
    if points and commas:
        divider = "." if written.rfind(".") > written.rfind(",") else ","
        if written.count(divider) > 1:
            return None
        head, _, tail = written.partition(divider)
        groups = head.split("," if divider == "." else ".")
        return _made("".join(groups), tail) if _are_groups(groups) else None
    mark = "." if points else ","
    groups = written.split(mark)
    if len(groups) > 2:
        return _made("".join(groups), "") if _are_groups(groups) else None
    head, tail = groups
    if len(tail) == 3 and 1 <= len(head) <= 3 and head.strip("0"):
        divides = writing.divider == mark and at_home
        return _made(head, tail) if divides else _made(head + tail, "")
    return _made(head, tail)


def _are_groups(groups: list[str]) -> bool:
    """Whether digits are grouped by thousands, or in the Indian way: the last three, before them pairs."""
    first, *rest = groups
    if not rest or not 1 <= len(first) <= 3 or len(rest[-1]) != 3:
        return False
    if all(len(group) == 3 for group in rest):
        return True
    return len(first) <= 2 and all(len(group) == 2 for group in rest[:-1])


def _made(head: str, tail: str) -> Amount | None:
    if len(head) > _MOST_DIGITS:
        return None
    tail = tail[:MOST_SCALE]
    number = int(head + tail)
    while number > LARGEST and tail:
        tail = tail[:-1]
        number = int(head + tail)
    return Amount(number, len(tail)) if number <= LARGEST else None


_LISTS = word_lists("currencies")
CODES = frozenset(_LISTS["codes"]["all"].split("|"))
_WORDS_TOO = frozenset(_LISTS["codes"]["words"].split("|"))
"""Codes that are also words and names: before a number they are ignored ("AMD 7800", "TOP 10")."""
SIGNS, _NAMES = _LISTS["signs"], _LISTS["names"]
"""Codes by sign, and by a name that only follows an amount; "" is the currency of the language's country."""
_OF_LANGUAGE = {name: dict(pair.split(":") for pair in pairs.split("|")) for name, pairs in _LISTS["shared"].items()}
_HOME = {language: frozenset(codes.split("|")) for language, codes in _LISTS["home"].items()}
_THREE_PLACES = frozenset(_LISTS["codes"]["thousandths"].split("|"))


def _any_of(words: Mapping[str, str] | frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if word)


_BEFORE_CODES = _any_of(CODES - _WORDS_TOO)
BEFORE = rf"(?<![\w$])(?:(?:{_BEFORE_CODES})(?=[ \u00a0\d]|$)|{_any_of(SIGNS)})"  # a currency before an amount
AFTER = (
    rf"(?:(?:{_any_of(CODES)}|{_LISTS['codes']['lower']})(?!\w)"
    rf"|(?:{_any_of({**SIGNS, **_NAMES})})(?![^\W円元원]))"
)
"""A currency after an amount."""
_PRICE = re.compile(rf"{BEFORE}\s?\d|\d\s?{AFTER}")
WORD_BEFORE = re.compile(rf"(?<!\w)({_any_of(_WORDS_TOO)})[ \u00a0]{{0,2}}$")
"""A code before an amount that is also a word, and counts only in its own country."""
CURRENCY_ENDS = frozenset(word[-1] for word in (*CODES, *SIGNS))  # last characters of the currencies before an amount
CURRENCY = re.compile(rf"(?<!\w)(?:{_any_of(CODES - _WORDS_TOO)}|{_any_of(SIGNS)})(?!\w)")
"""A currency alone, as in column heads: "Price (EUR)"."""


def code_of(written: str, writing: Writing) -> str:
    """Return the code of a written currency; "" if the text does not determine it."""
    if written.upper() in CODES:
        return written.upper()
    plain = SIGNS.get(written, _NAMES.get(written, ""))
    name = {"kr.": "kr", "Kr": "kr", "Rs.": "Rs", ":-": "own", ",-": "own", "": "own"}.get(written, written)
    shared = _OF_LANGUAGE.get(name, {})
    tag = "-".join(writing.language.replace("_", "-").lower().split("-")[:2])
    return shared.get(tag) or shared.get(writing.spoken) or plain


def is_at_home(code: str, writing: Writing) -> bool:
    """Whether countries with the text's language use a currency, so that their number format applies."""
    return code in _HOME.get(writing.spoken, frozenset())


def has_price(text: str) -> bool:
    return _PRICE.search(text) is not None


MOST_READ = 4_000  # characters of a text that are read
MOST_VALUES = 200

_LABELS = word_lists("values")["labels"]
_DIGIT = re.compile(r"\d")
_EXACT = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_BEFORE = re.compile(rf"({BEFORE})[ \u00a0]{{0,2}}$")
_LONGEST_BEFORE, _LONGEST_KEY = 8, 70
_AFTER = re.compile(rf"(?:[.,:]?-{{1,2}}(?!\d))?[ \u00a0]{{0,2}}({AFTER})")
_HASH = re.compile(r"(?:\b[0-9a-f]{4} ){7,}[0-9a-f]{4}\b")  # a hash in groups of four digits; none is a number
_HYPHEN, _NO_CENTS = re.compile(r"[^\W\d_]-$"), re.compile(r"[.,:]-{1,2}(?![\d-])")
_TIMES = {word: int(power) for word, power in word_lists("values")["times"].items()}
"""Powers of ten between an amount and its currency, or after both."""
_MANY = "|".join(re.escape(word) for word in sorted(_TIMES, key=len, reverse=True))
_TIMES_AFTER = re.compile(rf"[ \u00a0]?({_MANY})(?![^\W円元원])")
UNITS = "GHz MHz GiB MiB TB GB MB kB KB kWh MWh kW MW W kg mg g t km cm mm m ml cl dl l °C °F mAh px dpi".split()  # noqa: SIM905
_UNIT = re.compile(rf"[ \u00a0]?({'|'.join(UNITS)})(?!\w)")
_SHARE_BEFORE, _SHARE = re.compile(r"%[ \u00a0]?$"), re.compile(r"[ \u00a0]?%")
_CLOCK = re.compile(r"(?<![\d:.,])([01]?\d|2[0-4])[:.h]([0-5]\d)(?::[0-5]\d)?(?![\d:]|[.,]\d)(?: ?([ap])\.?m\b)?")
_VERSION = re.compile(
    r"(?=[v\d])(?<![^\W_])(?<![.$€£])(?:v(\d+(?:\.\d+)*)|(\d+\.\d+\.\d+(?:\.\d+)*)"
    r"|(?<=version )(\d+(?:\.\d+)*)|(?<=release )(\d+(?:\.\d+)*))"
    r"(?:-(?:alpha|beta|rc|dev|pre)[\w.]*)?(?![\w]|\.\d)"
)
_KEY = re.compile(r'"([\w.$ -]{1,60})" ?: ?"?-?$')
_PRICE_KEY = re.compile(r"price|amount$|cost$|total$|fee$|preis$|prix$|pris$|precio$", re.I)
_CURRENCY_KEY = re.compile(r'"\w*currency\w*" ?: ?"([A-Z]{3})"', re.I)
_PRICE_LABEL, _SAVED = re.compile(_LABELS["price"], re.I), re.compile(_LABELS["saved"], re.I)
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
    found = _apart([*_dates(text, lowered, writing), *_clocks(text, lowered), *_versions(text, lowered), *said])
    taken = {at for value in found for at in range(value.start, value.end)}
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
    for value in sorted(found, key=lambda at: (at.start, -at.end)):
        if not kept or value.start >= kept[-1].end:
            kept.append(value)
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


def _clocks(text: str, lowered: str) -> Iterator[ValueSpan]:
    for at in _CLOCK.finditer(lowered):
        if at[0][len(at[1])] == "." and not at[3]:
            continue  # as likely a number with two decimals
        hour = int(at[1])
        if at[3] and hour <= _HOUR_OF_NOON:
            hour = hour % _HOUR_OF_NOON + (_HOUR_OF_NOON if at[3] == "p" else 0)
        yield ValueSpan(*at.span(), Value(_cut(text, *at.span()), "time", value=f"{hour:02}:{at[2]}"))


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
        pattern = _EXACT if writing.exact else UNSPACED_NUMBER if writing.spoken in _NO_SPACE else NUMBER
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
        amount = read(at[0], writing, at_home=is_at_home(code, writing) or code in _THREE_PLACES)
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


MOST_WORDS = 12  # maximum words of a label
_BARE_WORDS = 4  # maximum words of a label where "available" alone counts

_STATES = word_lists("values")["availability"]
_SCHEMA = word_lists("values")["schema"]  # the members of schema.org's ItemAvailability, in lower case
_OF_SCHEMA = re.compile(rf"schema\.org/({'|'.join(_SCHEMA)})\b")
_FLAG = re.compile(r'"((?:is_?)?(?:(?:in_?)?stock|available|sold_?out|out_?of_?stock))" ?: ?(true|false)')
_STATE = re.compile("|".join(f"(?P<{state}>{words})" for state, words in _STATES.items()))
_BY_ITSELF, _TIME_LEFT = re.compile(_LABELS["bare"]), re.compile(_LABELS["left"])
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
    are_few = any(state.state == "limited" for state in said)
    yield from (state for state in said if not (are_few and state.state == "in_stock"))
    bare = None if said or words > _BARE_WORDS else _BY_ITSELF.search(lowered)
    if bare is not None and _stands_alone(lowered, bare.start(), bare.end()):
        yield AvailabilitySpan(bare.start(), bare.end(), "in_stock")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter touches a match, except in scripts without spaces."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not any(_LETTER.match(beside) and not _UNSPACED.match(beside) for beside in (before, after))


_MOST_WORDS, _MOST_IN_SENTENCE = 5, 15
_LABEL_WORDS = 20
_PART = re.compile(r"[^\W\d_][\w'’.-]*")
_OWNER = re.compile(r"['’]s?$")
_IN_NAMES, _AROUND, _FORMS, _OF_THE_YEAR = (
    frozenset(word_lists("values")["names"][use].split("|")) for use in ("inside", "around", "forms", "seasons")
)
_FIGURES, _SENTENCE = re.compile(r"\S*\d\S*"), re.compile(r"[.!?:]\s+$")
_ENDS = (".", "!", "?", ":")
_APART = re.compile(r"[.!?:;]")
_CAPITALISED_NOUNS = frozenset({"de", "lb"})  # languages that capitalise every noun
_TITLED, _SHORT, _ABBREVIATED = 0.7, 4, 2


class _Rating(IntEnum):
    NO = 0
    MAY_BE = 1
    SURE = 2


class _WordDifference(NamedTuple):
    """Words that differ, with their neighbours in the same sentence, or "". begins: both sides begin a sentence."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    before: str
    behind: str
    begins: bool
    figures: bool
    ends: bool


def names_in(before: str, after: str, writing: Writing) -> tuple[str, str] | None:
    """Return the old and the new names, if no other words differ."""
    found = list(_stretches(before, after))
    stretches = [stretch for _, _, stretch in found if stretch.old != stretch.new]
    others = [stretch for stretch in stretches if _letters(stretch.old) != _letters(stretch.new)]
    likely = [_likely(stretch, before, after, writing) for stretch in others or stretches]
    if not likely or min(likely) is _Rating.NO or max(likely) is not _Rating.SURE:
        return None
    if len(stretches) > 1:
        return before, after
    return next((old, new) for old, new, stretch in found if stretch.old != stretch.new)


def same_wording(before: str, after: str) -> bool:
    """Whether texts differ only in figures and connecting words."""
    return all(stretch.old == stretch.new for _, _, stretch in _stretches(before, after))


def _stretches(before: str, after: str) -> Iterator[tuple[str, str, _WordDifference]]:
    olds, news = words_of(before), words_of(after)
    for a, b, c, d in gaps([before[i:j] for i, j in olds], [after[i:j] for i, j in news]):
        old = before[olds[a][0] : olds[b - 1][1]] if a < b else ""
        new = after[news[c][0] : news[d - 1][1]] if c < d else ""
        text, spans, first, last = (after, news, c, d) if c < d else (before, olds, a, b)
        begins = (a == b or _begins(before, olds[a][0])) and (c == d or _begins(after, news[c][0]))
        figures = bool(_FIGURES.search(old) or _FIGURES.search(new))
        ends = (old or new).rstrip()[-1:] in _ENDS
        beside = _beside(text, spans, first, first - 1), _beside(text, spans, last, last)
        yield old, new, _WordDifference(_named(old), _named(new), *beside, begins, figures, ends)


def _beside(text: str, spans: Sequence[tuple[int, int]], gap: int, word: int) -> str:
    """Return a word next to a gap, which is before the word with its number; "" if a sentence ends in the gap."""
    if not 0 < gap < len(spans) or _APART.search(text[spans[gap - 1][1] : spans[gap][0]]):
        return ""
    return text[slice(*spans[word])]


def _begins(text: str, at: int) -> bool:
    """Whether a sentence begins here, where every word has a capital."""
    return _SENTENCE.search(text[max(0, at - 3) : at]) is not None or not text[:at].strip()


def _named(text: str) -> tuple[str, ...]:
    parts = (_OWNER.sub("", each) for each in _PART.findall(_FIGURES.sub(" ", text)))
    words = [word for word in parts if word.strip(".-")]
    while words and words[0].lower() in _AROUND:
        del words[0]
    while words and words[-1].lower() in _AROUND:
        del words[-1]
    return tuple(words)


def _letters(words: Sequence[str]) -> str:
    return "".join(sign for word in words for sign in word.casefold() if sign.isalnum())


def _likely(edit: _WordDifference, before: str, after: str, writing: Writing) -> _Rating:
    text = after if len(after) >= len(before) else before
    if edit.behind.rstrip(".") in _FORMS and 0 < max(len(edit.old), len(edit.new)) <= _MOST_WORDS:
        return _Rating.SURE
    if not edit.old or not edit.new:
        return _one_sided(edit, text, writing)
    is_whole = len(_named(before)) == len(edit.old) and len(_named(after)) == len(edit.new)
    is_one_word = len(edit.old) < 2 and len(edit.new) < 2
    most = _MOST_WORDS if _is_titled(text) else _MOST_IN_SENTENCE
    are_names = _is_name(edit.old, most) and _is_name(edit.new, most)
    is_first_word = is_one_word and edit.begins and not is_whole
    if not are_names or is_first_word or text.isupper() or _OF_THE_YEAR.issuperset(map(str.lower, edit.old + edit.new)):
        return _Rating.NO
    if is_one_word and edit.figures:
        return _Rating.MAY_BE  # "01069 Dresden" to "20095 Hamburg", but also "10 Views" to "12 Comments"
    if writing.spoken not in _CAPITALISED_NOUNS:
        return _Rating.SURE
    are_short = _is_short_form(edit.old, text) and _is_short_form(edit.new, text)
    return _Rating.SURE if are_short or min(_capitals(edit.old), _capitals(edit.new)) > 1 else _Rating.MAY_BE


def _one_sided(edit: _WordDifference, text: str, writing: Writing) -> _Rating:
    """Rate words that only one side has; a heading before a text is no name."""
    words = edit.old or edit.new
    if not words or edit.ends or text.isupper() or not _is_name(words, _MOST_IN_SENTENCE):
        return _Rating.NO
    if edit.begins and edit.behind[:1].isupper() and not _is_titled(text):
        return _Rating.NO
    if _capitals(words) > 1:
        return _Rating.SURE
    if not edit.before[:1].isupper() and not edit.behind[:1].isupper():
        return _Rating.NO
    if _is_titled(text):
        return _Rating.SURE if _is_of_company(text) or _is_short_form(words, text) else _Rating.NO
    is_noun = writing.spoken in _CAPITALISED_NOUNS and not _is_short_form(words, text)
    return _Rating.NO if is_noun or edit.begins else _Rating.SURE


def _is_name(words: Sequence[str], most: int) -> bool:
    if not 1 <= len(words) <= most or not words[0][0].isupper() or any("_" in word for word in words):
        return False
    return all(word[0].isupper() or word.lower() in _IN_NAMES for word in words)


def _capitals(words: Sequence[str]) -> int:
    return sum(word[0].isupper() for word in words)


def _is_short_form(words: Sequence[str], text: str) -> bool:
    """Whether words are abbreviations, in a text that is not all capitals."""
    return not text.isupper() and all(len(word) > _ABBREVIATED and word.isupper() for word in words)


def _is_titled(text: str) -> bool:
    words = [word for word in _PART.findall(text) if len(word) >= _SHORT]
    return _capitals(words) >= _TITLED * len(words)


def _is_of_company(text: str) -> bool:
    """Whether a short text contains a legal form, and so is a company's name or address."""
    words = _PART.findall(text)
    return len(words) <= _LABEL_WORDS and any(word.rstrip(".") in _FORMS for word in words)
