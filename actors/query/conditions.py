"""Conditions of a query on changes, and the facts of an event that meet them.

    condition = subject [ "." aspect ] sign value
    subject   = price | number | percent | date | version | availability | kind | path | label
    aspect    = before | drop | rise (of numbers) | lowest | highest (of prices, in days)
    sign      = < <= > >= = :

`path:` and `label:` name a place: they narrow the other conditions of their group.

Numbers are compared as integers with a scale. An event with a value but no earlier one (a new entry, a new row) has
only `after`: it has a price, and no drop.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from actors.query.words import TABLES

SUBJECTS: Final = ("price", "number", "percent", "date", "version", "availability", "kind", "path", "label")
_NUMBERS = frozenset({"price", "number", "percent"})
_ORDERED = _NUMBERS | {"date", "version"}
_NAMED_VALUES = frozenset({"availability", "kind", "path", "label"})
_KINDS = ("price", "availability", "date", "number", "version", "name", "negation", "added", "removed", "text")
_STATES = ("in_stock", "limited", "preorder", "backorder", "out_of_stock", "discontinued")
_ASPECTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("drop", "rise"), frozenset({"price", "number", "percent"})),
    **dict.fromkeys(("lowest", "highest"), frozenset({"price"})),
    "before": _ORDERED,
}
_SHAPE = re.compile(
    rf"(?P<subject>{'|'.join(SUBJECTS)})(?:\.(?P<aspect>[a-z]+))?(?P<sign><=|>=|<|>|=|:|≤|≥)(?P<value>.*)", re.I | re.S
)
BEGINS = re.compile(rf"(?:{'|'.join(SUBJECTS)})(?:\.[a-z]+)?(?:<=|>=|<|>|=|:|≤|≥)", re.I)
_COMPARISON = re.compile(r"(?P<subject>[a-z_]*)(?:\.[a-z]*)?(?P<sign>[<>=≤≥]+)(?P<value>.*)", re.I | re.S)
_LABEL = re.compile(r"(?P<subject>[a-z_]+)(?P<sign>:)(?P<value>.+)", re.I | re.S)
_AMOUNT = re.compile(
    r"(?P<sign>[-\u2212]?)(?P<before>[$€£¥])?(?P<number>\d{1,15}(?:[.,]\d{1,9})?)\s?(?P<after>%|[$€£¥]|[A-Za-z°]{1,4})?"
)
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_CODES, _CURRENCY_WORDS = TABLES["currencies"].split(), TABLES["currency_words"].split()
_UNITS = TABLES["units"].split()
_NEXT_CURRENCY = re.compile(rf"\s+(?:{'|'.join(_CODES)}|(?i:{'|'.join(_CURRENCY_WORDS)}))(?![^\s()])")
_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_DAYS = re.compile(r"([1-9]\d{0,3})\s?d(?:ays?)?")
_VERSION = re.compile(r"v?(\d+(?:\.\d+){0,5})")
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, ":": operator.eq,
}  # fmt: skip
_OF_CODE = 3
_MARK = "\x00"
ANY = f"{_MARK}any"  # the key of a text that has any change; no word has such a character


class ConditionError(ValueError):
    """An invalid condition, with a sentence."""


@dataclass(frozen=True)
class Condition:
    """A condition on one change. number, scale: the value. unit: "" is any. places: the change must match them."""

    subject: str
    aspect: str
    sign: str
    raw: str
    number: int = 0
    scale: int = 0
    unit: str = ""
    text: str = ""
    days: int = 0
    is_share: bool = False
    places: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        name = f"{self.subject}.{self.aspect}" if self.aspect else self.subject
        value = f'"{self.raw}"' if re.search(r"[\s()]", self.raw) else self.raw
        return " ".join([*map(str, self.places), f"{name}{self.sign}{value}"])

    @property
    def type(self) -> str:
        return "money" if self.subject == "price" else self.subject

    @property
    def names_place(self) -> bool:
        return self.subject in {"path", "label"}

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Every text that can meet it has at least one of these keys."""
        if self.names_place:
            return (ANY,)
        return (self.key_of("kind", self.text) if self.subject == "kind" else self.key_of("has", self.type),)

    @staticmethod
    def key_of(what: str, name: str) -> str:
        return f"{_MARK}{what}:{name}"

    def within(self, places: tuple[Condition, ...]) -> Condition:
        return replace(self, places=self.places + places)

    def compares(self, left: object, right: object) -> bool:
        return _SIGNS[self.sign](left, right)

    def covers(self, place: str) -> bool:
        """Whether a label contains the named text, or a path begins with it."""
        return self._place.search(place) is not None

    @cached_property
    def _place(self) -> re.Pattern[str]:
        if self.subject == "label":
            return re.compile(re.escape(self.text), re.I)
        steps = re.escape(self.text).replace(r"\[\*\]", r"\[[^\]]*\]").replace(r"\.\*", r"\.[^.\[]*")
        return re.compile(rf"\A{steps}(?![\w])")


def read_condition(source: str) -> Condition | None:
    """Parse a word of a query as a condition; None if it is none. Raises ConditionError."""
    shape = _SHAPE.fullmatch(source)
    if shape is None or not shape["value"].strip():
        return None
    subject, aspect = shape["subject"].lower(), (shape["aspect"] or "").lower()
    sign, value = {"≤": "<=", "≥": ">="}.get(shape["sign"], shape["sign"]), shape["value"].strip()
    if aspect and subject not in _ASPECTS.get(aspect, ()):
        known = sorted(name for name, subjects in _ASPECTS.items() if subject in subjects)
        aspects = f"{subject} has {' and '.join(f'.{name}' for name in known)}" if known else f"{subject} has no parts"
        raise ConditionError(f"{subject}.{aspect} is not known: {aspects}")
    condition = Condition(subject, aspect, sign, value)
    if aspect in {"lowest", "highest"}:
        days = _DAYS.fullmatch(condition.raw)
        if condition.sign != ":" or days is None:
            raise ConditionError(f"price.{aspect} takes days, as in price.{aspect}:90d")
        return replace(condition, days=int(days[1]))
    if subject in _NAMED_VALUES:
        if condition.sign not in {":", "="}:
            raise ConditionError(f"{subject} can't be compared: write {subject}:{condition.raw or '...'}")
        if condition.names_place:
            return replace(condition, text=condition.raw)
        text = re.sub(r"[\s-]+", "_", condition.raw.lower())
        choices = _KINDS if subject == "kind" else _STATES
        if text not in choices:
            raise ConditionError(f"{subject} {value[:40]!r} is not known: it is one of {', '.join(choices)}")
        return replace(condition, text=text)
    if sign == ":" and not aspect and not re.match(r"[v$€£¥-]?\d", value):
        return None  # date:today, version:beta: plain words, as before there were conditions
    if subject == "date":
        if not _DAY.fullmatch(value):
            raise ConditionError("a date is compared with a day, as in date<2026-12-01")
        return replace(condition, text=value)
    if subject == "version":
        if (found := _VERSION.fullmatch(value)) is None:
            raise ConditionError("a version is compared with numbers and dots, as in version>=2.1")
        return replace(condition, text=found[1])
    return _with_amount(condition)


def misspelling(word: str) -> str:
    """Return why a word that is no condition looks like one; "" for other words and URLs.

    >>> misspelling("prise<300")
    'there is no condition prise: did you mean price<300? A text to search for goes in quotation marks'
    >>> misspelling("<300"), misspelling("https://example.org/?a=b"), misspelling("10:30"), misspelling("version:beta")
    ('a condition has no spaces, as in price<300', '', '', '')
    """
    if (found := _COMPARISON.search(word) or _LABEL.match(word)) is None or "/" in word:
        return ""
    subject, sign = found["subject"].lower(), found["sign"]
    if not subject or not found["value"]:
        return "a condition has no spaces, as in price<300"
    if subject in SUBJECTS:
        return "" if sign == ":" else f"{subject} needs a sign before its value, as in price<300"
    close = get_close_matches(subject, SUBJECTS, 1)
    advice = f"did you mean {close[0]}{sign}{found['value']}?" if close else f"there are {', '.join(SUBJECTS)}."
    if subject in ("tag", "source"):
        advice = f"choose the alert's {subject}s beside its query."
    return f"there is no condition {subject[:40]}: {advice} A text to search for goes in quotation marks"


def unknown_unit(node: object, rest: str) -> str:
    """Return why a number's unit or a price's currency is unknown, or the next word seems to be one; else "". rest: of
    the query.
    """
    if not isinstance(node, Condition) or node.is_share or node.subject not in {"price", "number"}:
        return ""
    if node.subject == "number":
        if not node.unit or node.unit in _UNITS:
            return ""
        by_name = {unit.lower(): unit for unit in _UNITS}
        close = get_close_matches(node.unit.lower(), by_name, 1)
        advice = f"did you mean {by_name[close[0]]}?" if close else f"there are {', '.join(_UNITS)}"
        return f"there is no unit {node.unit}: {advice}"
    if node.unit and node.unit not in _CODES:
        return f"there is no currency {node.unit}: write a code, as in price<300EUR"
    advice = "a currency joins its number, as in price<300EUR. A text to search for goes in quotation marks"
    return advice if not node.unit and _NEXT_CURRENCY.match(rest) else ""


def _with_amount(condition: Condition) -> Condition:
    """Return a condition with its number. Raises ConditionError."""
    moves = condition.aspect in {"drop", "rise"}
    example = f"{condition.subject}.{condition.aspect}>=10%" if moves else f"{condition.subject}<300"
    if (found := _AMOUNT.fullmatch(condition.raw)) is None:
        raise ConditionError(f"{condition.subject} is compared with a number, as in {example}")
    whole, mark, decimals = found["number"].replace(",", ".").partition(".")
    if mark and len(decimals) == 3 and "," in found["number"]:
        raise ConditionError(f"{found['number']} is ambiguous: write {whole}{decimals} or {whole}.{decimals}")
    if moves and (condition.sign in {":", "="} or condition.sign[0] == "<"):
        raise ConditionError(f"name the smallest movement, as in {example}")
    if moves and found["sign"]:
        raise ConditionError(f"{condition.aspect} must be 0 or more, as in {example}")
    number = int(whole + decimals)
    condition = replace(condition, number=-number if found["sign"] else number, scale=len(decimals))
    unit = found["before"] or found["after"] or ""
    if found["before"] and found["after"]:
        raise ConditionError("one currency is enough, before or after the number")
    if unit == "%":
        if condition.subject == "price" and not moves:
            raise ConditionError("a price has no percentage: write price.drop>=10% or percent>=10")
        return replace(condition, is_share=moves)
    if unit and condition.subject == "percent":
        raise ConditionError("percent takes no other unit, as in percent>=10")
    if unit and condition.subject == "price":
        code = _CURRENCIES.get(unit, unit.upper())
        if len(code) != _OF_CODE:
            raise ConditionError(f"{unit} is not a currency: write its code, as in price<300EUR")
        return replace(condition, unit=code)
    return replace(condition, unit=unit)


class FactValue(Struct, frozen=True):
    """A value in an event; see `Value` of the records."""

    text: str = ""
    type: str = ""
    number: int | None = None
    scale: int = 0
    unit: str = ""
    value: str = ""


class Fact(Struct, frozen=True):
    """One change; see `TypedChange` of the records."""

    kind: str = ""
    label: str = ""
    path: str = ""
    before: FactValue | None = None
    after: FactValue | None = None
    lowest_since: str = ""
    highest_since: str = ""


class Facts:
    """All changes of an event. emitted_at: RFC 3339."""

    def __init__(self, facts: Sequence[Fact] = (), emitted_at: str = "") -> None:
        self._facts, self._emitted_at = facts, emitted_at

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys like those of words, for an index: every condition that can be met has one of them."""
        kinds = {Condition.key_of("kind", fact.kind) for fact in self._facts}
        sides = (side for fact in self._facts for side in (fact.before, fact.after))
        types = {Condition.key_of("has", side.type) for side in sides if side is not None and side.type}
        return frozenset({ANY, *kinds, *types} if self._facts else ())

    def is_met(self, condition: Condition) -> bool:
        return any(self.matching(condition))

    def matching(self, condition: Condition) -> Iterator[Fact]:
        """Yield the changes that meet a condition, in the place it names."""
        return (
            fact
            for fact in self._facts
            if all(place.covers(fact.path if place.subject == "path" else fact.label) for place in condition.places)
            and self._holds(condition, fact)
        )

    def _holds(self, condition: Condition, fact: Fact) -> bool:
        if condition.subject == "price" and fact.kind == "number":
            return False  # an amount saved is money, but no price
        match condition.subject, condition.aspect:
            case ("kind", _):
                return fact.kind == condition.text
            case ("path" | "label", _):
                return condition.covers(fact.path if condition.subject == "path" else fact.label)
            case ("availability", _):
                after = fact.after
                return after is not None and after.type == "availability" and after.value == condition.text
            case (_, ""):
                return fact.after is not None and _compares(condition, fact.after)
            case (_, "before"):
                return fact.before is not None and _compares(condition, fact.before)
            case (_, "drop" | "rise"):
                return _moved_enough(condition, fact)
            case _:
                since = fact.lowest_since if condition.aspect == "lowest" else fact.highest_since
                if not since or fact.after is None or not _is_of(condition, fact.after):
                    return False
                try:
                    known = datetime.fromisoformat(self._emitted_at) - datetime.fromisoformat(since)
                except (ValueError, TypeError):
                    return False
                return known >= timedelta(days=condition.days)


NO_FACTS = Facts()


def _is_of(condition: Condition, value: FactValue) -> bool:
    return value.type == condition.type and (not condition.unit or value.unit == condition.unit)


def _compares(condition: Condition, value: FactValue) -> bool:
    if not _is_of(condition, value):
        return False
    if condition.type == "date":
        return len(value.value) == len(condition.text) and condition.compares(value.value, condition.text)
    if condition.type == "version":
        return condition.compares(_parts(value.value), _parts(condition.text))
    if value.number is None:
        return False
    return condition.compares(*_level((value.number, value.scale), (condition.number, condition.scale)))


def _moved_enough(condition: Condition, fact: Fact) -> bool:
    before, after = fact.before, fact.after
    if before is None or after is None or not _is_of(condition, after) or before.type != after.type:
        return False
    if before.unit != after.unit or before.number is None or after.number is None:
        return False
    old, new = _level((before.number, before.scale), (after.number, after.scale))
    movement = old - new if condition.aspect == "drop" else new - old
    if movement <= 0:
        return False
    if condition.is_share:
        return old > 0 and condition.compares(movement * 100 * 10**condition.scale, condition.number * old)
    return condition.compares(*_level((movement, max(before.scale, after.scale)), (condition.number, condition.scale)))


def _level(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Scale two numbers to integers of one scale."""
    scale = max(left[1], right[1])
    return left[0] * 10 ** (scale - left[1]), right[0] * 10 ** (scale - right[1])


def _parts(version: str) -> tuple[tuple[int, str], ...]:
    """Return a version's numbers in a sortable form of any length, without trailing zeros: 2.0 is 2."""
    parts = [part.lstrip("0") for part in version.split(".") if part.isdecimal()]
    while parts and not parts[-1]:
        parts.pop()
    return tuple((len(part), part) for part in parts)
