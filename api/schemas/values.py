"""Wire shapes of a source's values over time."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from actors.messages.declaring import Time
from storage.records.event import ValueType


class ValuesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of the answer."""

    format: Annotated[Literal["json", "csv"], Meta(description="The form of the answer", examples=["csv"])] = "json"


class ValuePoint(Struct, frozen=True, kw_only=True):
    """A value from `at` on. `value`: its digits. `number`: the digits without the point. For a state, a version or a
    date `number` is null, `value` is as in `current`, and `text` as written on the page. `until`: when it was removed
    from the page; null if it is still there or the next point replaces it.
    """

    at: Time
    number: int | None
    scale: int
    value: str
    text: str = ""
    until: Time | None = None


class ValueSeries(Struct, frozen=True, kw_only=True):
    """The values of one item, oldest first. `label`: its name in the page's own words. `path`: its place in a
    structured document. `unit`: a currency (ISO 4217), "%", a unit of measure, or "" if unknown. `lowest` and
    `highest`: for dates the earliest and the latest; null for states.
    """

    type: ValueType
    label: str
    path: str
    unit: str
    lowest: ValuePoint | None
    highest: ValuePoint | None
    points: tuple[ValuePoint, ...]


class CurrentValue(Struct, frozen=True, kw_only=True):
    """A value on the page, as last reported. `text`: as written there. `value`: its digits, a date (YYYY-MM-DD, YYYY-MM
    or MM-DD), a version's numbers, or a state such as `in_stock`. `number`: the digits of a number without the point.
    `label`, `path` and `unit`: as in the event of a change. `since`: the first time that this value is known.
    """

    type: ValueType
    text: str
    value: str
    label: str
    path: str
    unit: str
    since: Time
    number: int | None = None
    scale: int = 0


class Values(Struct, frozen=True, kw_only=True):
    """The values of a source. `current`: the values on its page now, in the page's order, at most 500 with prices
    preferred. `more`: the number of the others. `series`: values over time, prices first. `since`: the start of the
    record.
    """

    id: str
    since: Time
    current: tuple[CurrentValue, ...]
    more: int
    series: tuple[ValueSeries, ...]
