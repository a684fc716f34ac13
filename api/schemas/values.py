"""Wire shapes of a source's values over time."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from api.schemas.sources import Time
from storage.records.event import ValueType


class ValuesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of the answer."""

    format: Annotated[Literal["json", "csv"], Meta(description="The form of the answer", examples=["csv"])] = "json"


class ValuePoint(Struct, frozen=True, kw_only=True):
    """A value, from a moment on. `value` are its digits, and `number` is it without the point; of a state, a version or
    a date `number` is null, `value` as in `current`, and `text` how the page wrote it. `until`: when it went from the
    page, where it did; null while it stands there, or until the next one.
    """

    at: Time
    number: int | None
    scale: int
    value: str
    text: str = ""
    until: Time | None = None


class ValueSeries(Struct, frozen=True, kw_only=True):
    """One thing's values, oldest first. `label` says of what, in the page's own words; `path` where in a document that
    has paths. `unit`: a currency (ISO 4217), "%", a unit of measure, or "" where none is known. `lowest` and `highest`:
    of dates the earliest and the latest; null of states.
    """

    type: ValueType
    label: str
    path: str
    unit: str
    lowest: ValuePoint | None
    highest: ValuePoint | None
    points: tuple[ValuePoint, ...]


class CurrentValue(Struct, frozen=True, kw_only=True):
    """A value that stands on the page, as it was last told. `text`: as it is written there. `value`: its digits, a date
    (YYYY-MM-DD, YYYY-MM or MM-DD), a version's numbers, or a state such as `in_stock`; `number` is it without the
    point, of what is a number. `label`, `path` and `unit` are those of an event that tells a change of it. `since`:
    from when on it is known to stand there so.
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
    """The values of a source. `current`: what its page says now, in the page's order, at most 500, of which prices are
    kept first; `more`: how many there are besides. `series`: what they were over time, prices first. `since`: from when
    on they are known.
    """

    id: str
    since: Time
    current: tuple[CurrentValue, ...]
    more: int
    series: tuple[ValueSeries, ...]
