"""Values in a text, and their changes: prices, dates, states and others, in a comparable form.

Events have no floats, so a number is an integer with a scale: 1,099.00 EUR is number 109900, scale 2, unit "EUR".
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import UNSET, Struct, UnsetType

ValueType = Literal["money", "number", "percent", "date", "time", "version", "availability"]
Availability = Literal["in_stock", "limited", "preorder", "backorder", "out_of_stock", "discontinued"]
ChangeKind = Literal[
    "price", "availability", "date", "number", "version", "name", "negation", "added", "removed", "text"
]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
AVAILABILITIES: tuple[Availability, ...] = get_args(Availability)

MOST_CHANGES = 20
"""Most typed changes of an event; the first ones are kept."""
MOST_VALUE_TEXT = 80
"""Most characters of a value's text or a label."""
MOST_STANDING = 500
"""Most current values of a page: prices first, then in page order."""
MOST_SCALE = 9
LARGEST = 2**53 - 1
"""The largest integer that JavaScript reads exactly (RFC 8259, 6)."""


class Value(Struct, frozen=True, omit_defaults=True):
    """A value as it stands (`text`), and what it is; a piece of plain text has no type.

    money, number and percent have `number` and `scale` (decimal places); `unit` is the currency (ISO 4217), "%", or a
    unit of measure ("GB"), absent where none is known. date: `value` is YYYY-MM-DD, YYYY-MM or MM-DD; time: HH:MM;
    version: its numbers with dots; availability: one of `AVAILABILITIES`.
    """

    text: str
    type: ValueType | UnsetType = UNSET
    number: int | UnsetType = UNSET
    scale: int = 0
    unit: str = ""
    value: str = ""

    def same_as(self, other: Value) -> bool:
        """Return whether both mean the same, in whatever notation."""
        return self.type == other.type and self.meaning() == other.meaning()

    def meaning(self) -> tuple[int | str, ...]:
        """Return the value without its notation: 5 and 5.00 are the same number."""
        if isinstance(self.number, int):
            number, scale = self.number, self.scale
            while scale and not number % 10:
                number, scale = number // 10, scale - 1
            return number, scale, self.unit
        return (self.value or self.text,)


class TypedChange(Struct, frozen=True, omit_defaults=True):
    """One thing that changed. `before` or `after` is absent where it came, or went.

    label: what the value is of ("Team · Seats"), in the page's own words. path: where it stands in a document that has
    paths. lowest_since, highest_since: of a price, from when on it was never lower, or higher, as far as is known
    (RFC 3339).
    """

    kind: ChangeKind
    label: str = ""
    path: str = ""
    before: Value | UnsetType = UNSET
    after: Value | UnsetType = UNSET
    lowest_since: str | UnsetType = UNSET
    highest_since: str | UnsetType = UNSET


class StandingValue(Struct, frozen=True, array_like=True):
    """A value of a page at its last report. block: the number of its text. label, path: as in an event that reports
    its change.
    """

    value: Value
    block: int
    label: str = ""
    path: str = ""


class StandingValues(Struct, frozen=True, array_like=True):
    """The values of a page at its last report, at most `MOST_STANDING`. more: how many others it has.

    began: time of the first check with this baseline, in milliseconds; 0 if unknown.
    """

    values: tuple[StandingValue, ...] = ()
    more: int = 0
    began: int = 0
