"""Numbers as people write them, and currencies by ISO 4217 code.

A single mark before three digits may group or divide. The language of the text decides; if unknown, the mark groups.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from actors.content.wording.words import word_lists
from storage.records.event import LARGEST, MOST_SCALE

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
UNSPACED_NUMBER = re.compile(r"\d+(?:[.,']\d+|\u00a0\d{3}(?!\d))*")
"""The same, but a plain space separates two numbers."""
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

    @property
    def groups_with_space(self) -> bool:
        return self.spoken not in _NO_SPACE


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
BEFORE = rf"(?<![\w$])(?:(?:{_BEFORE_CODES})(?=[ \u00a0\d]|$)|{_any_of(SIGNS)})"
"""A currency before an amount."""
AFTER = (
    rf"(?:(?:{_any_of(CODES)}|{_LISTS['codes']['lower']})(?!\w)"
    rf"|(?:{_any_of({**SIGNS, **_NAMES})})(?![^\W円元원]))"
)
"""A currency after an amount."""
_PRICE = re.compile(rf"{BEFORE}\s?\d|\d\s?{AFTER}")
WORD_BEFORE = re.compile(rf"(?<!\w)({_any_of(_WORDS_TOO)})[ \u00a0]{{0,2}}$")
"""A code before an amount that is also a word, and counts only in its own country."""
CURRENCY_ENDS = frozenset(word[-1] for word in (*CODES, *SIGNS))
"""Last characters of the currencies before an amount."""
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


def has_three_places(code: str) -> bool:
    return code in _THREE_PLACES
