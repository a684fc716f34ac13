"""The changes of an event, by kind and with values; and the test whether they meet a condition.

Numbers are compared as integers with a scale. An event with a value but no earlier one (a new entry, a new row) has
only `after`: it has a price, and no drop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property

from msgspec import Struct

from actors.query.conditions import ANY, Condition

_DAY = 86_400


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

    def __repr__(self) -> str:
        return f"<Facts: {', '.join(fact.kind for fact in self._facts)}>"

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys like those of words, for an index: every condition that can be met has one of them."""
        return frozenset(key for fact in self._facts for key in _keys_of(fact))

    def meet(self, asked: Condition) -> bool:
        """Whether one of the changes meets a condition, in the place it names."""
        return any(self._is_met(asked, fact) for fact in self._facts if _is_there(asked, fact))

    def _is_met(self, asked: Condition, fact: Fact) -> bool:
        if asked.subject == "price" and fact.kind == "number":
            return False  # an amount saved is money, but no price
        match asked.subject, asked.aspect:
            case ("kind", _):
                return fact.kind == asked.text
            case ("path" | "label", _):
                return asked.stands_at(fact.path if asked.subject == "path" else fact.label)
            case ("availability", _):
                return fact.after is not None and fact.after.type == "availability" and fact.after.value == asked.text
            case (_, ""):
                return fact.after is not None and _compares(asked, fact.after)
            case (_, "before"):
                return fact.before is not None and _compares(asked, fact.before)
            case (_, "drop" | "rise"):
                return _moved(asked, fact)
            case _:
                return self._is_record(asked, fact)

    def _is_record(self, asked: Condition, fact: Fact) -> bool:
        """Whether a value is the lowest or highest of this many days, by the event's own data."""
        since = fact.lowest_since if asked.aspect == "lowest" else fact.highest_since
        if not since or fact.after is None or not _is_of(asked, fact.after):
            return False
        try:
            known = datetime.fromisoformat(self._emitted_at) - datetime.fromisoformat(since)
        except (ValueError, TypeError):
            return False
        return known.total_seconds() >= asked.days * _DAY


NO_FACTS = Facts()


def _keys_of(fact: Fact) -> Iterator[str]:
    yield ANY
    yield Condition.key_of("kind", fact.kind)
    for side in (fact.before, fact.after):
        if side is not None and side.type:
            yield Condition.key_of("has", side.type)


def _is_there(asked: Condition, fact: Fact) -> bool:
    return all(one.stands_at(fact.path if one.subject == "path" else fact.label) for one in asked.narrowed)


def _is_of(asked: Condition, value: FactValue) -> bool:
    return value.type == asked.type and (not asked.unit or value.unit == asked.unit)


def _compares(asked: Condition, value: FactValue) -> bool:
    if not _is_of(asked, value):
        return False
    if asked.type == "date":
        return asked.compares(_as_day(value.value), asked.text) if _as_day(value.value) else False
    if asked.type == "version":
        return asked.compares(_parts(value.value), _parts(asked.text))
    if value.number is None:
        return False
    return asked.compares(*_level((value.number, value.scale), (asked.number, asked.scale)))


def _as_day(value: str) -> str:
    """Return a date with year, month and day; "" for any other."""
    return value if len(value) == len("2026-12-01") else ""


def _moved(asked: Condition, fact: Fact) -> bool:
    before, after = fact.before, fact.after
    if before is None or after is None or not _is_of(asked, after) or before.type != after.type:
        return False
    if before.unit != after.unit or before.number is None or after.number is None:
        return False
    old, new = _level((before.number, before.scale), (after.number, after.scale))
    moved = old - new if asked.aspect == "drop" else new - old
    if moved <= 0:
        return False
    if asked.is_share:
        return old > 0 and asked.compares(moved * 100 * 10**asked.scale, asked.number * old)
    return asked.compares(*_level((moved, max(before.scale, after.scale)), (asked.number, asked.scale)))


def _level(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Scale two numbers to integers of one scale."""
    scale = max(one[1], other[1])
    return one[0] * 10 ** (scale - one[1]), other[0] * 10 ** (scale - other[1])


def _parts(version: str) -> tuple[tuple[int, str], ...]:
    """Return a version's numbers in a sortable form of any length, without trailing zeros: 2.0 is 2."""
    parts = [part.lstrip("0") for part in version.split(".") if part.isdecimal()]
    while parts and not parts[-1]:
        parts.pop()
    return tuple((len(part), part) for part in parts)
