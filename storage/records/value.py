"""Values that stand in a text, and what of them a change altered: a price, a date, a state, in numbers that compare.

A number is an integer with a scale, as an event has no floats: 1,099.00 EUR is number 109900, scale 2, unit "EUR".
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
"""Most typed changes of an event: the first ones."""
MOST_VALUE_TEXT = 80
"""Most characters of a value's text, and of a label."""
MOST_STANDING = 500
"""Most values of a page as it stands: prices first, then in the order of the page."""
MOST_SCALE = 9
LARGEST = 2**53 - 1
"""The largest number that a reader in JavaScript reads exactly (RFC 8259, 6)."""


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
        """Return whether both mean the same, however they are written."""
        return self.type == other.type and self.meaning() == other.meaning()

    def meaning(self) -> tuple[int | str, ...]:
        """Return what the value means, without how it is written: 5 and 5.00 are one number."""
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
    """A value of a page as it was last told. block: the number of the text that it is in. label, path: as an event
    that tells a change of it names it.
    """

    value: Value
    block: int
    label: str = ""
    path: str = ""


class StandingValues(Struct, frozen=True, array_like=True):
    """The values of a page as it was last told, at most `MOST_STANDING`. more: how many there are besides.

    began: when the first look was that the page is compared with since (milliseconds); 0 where nobody knows.
    """

    values: tuple[StandingValue, ...] = ()
    more: int = 0
    began: int = 0
