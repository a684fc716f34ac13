"""Wire shapes of a source's values over time."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from api.schemas.sources import Time
from storage.records.value import ValueType


class ValuesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """In which form."""

    format: Annotated[Literal["json", "csv"], Meta(description="The form of the answer", examples=["csv"])] = "json"


class ValuePoint(Struct, frozen=True, kw_only=True):
    """A value, from a moment on until the next one. `value` are its digits; `number` is it without the point."""

    at: Time
    number: int
    scale: int
    value: str


class ValueSeries(Struct, frozen=True, kw_only=True):
    """One thing's values, oldest first. `label` says of what, in the page's own words; `path` where in a document that
    has paths. `unit`: a currency (ISO 4217), "%", a unit of measure, or "" where none is known.
    """

    type: ValueType
    label: str
    path: str
    unit: str
    lowest: ValuePoint
    highest: ValuePoint
    points: tuple[ValuePoint, ...]


class Values(Struct, frozen=True, kw_only=True):
    """The values that a source told, prices first. `since`: from when on they are known."""

    id: str
    since: Time
    series: tuple[ValueSeries, ...]
