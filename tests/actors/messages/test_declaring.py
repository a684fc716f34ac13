"""Shapes made from records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import pytest
from msgspec import Struct

from actors.messages.declaring import Declared, Time, made_of, mirrored, record_of, shown_whole
from storage.records.identity import Millis

NOON = Millis(43_200_000)


class Inner(NamedTuple):
    at: Millis
    secret: str = "s3cret"


class Stored(Struct):
    id: str
    made_at: Millis
    gone_at: Millis | None
    schedule: int | None
    inner: Inner | None
    many: tuple[Inner, ...] = ()
    secret: str = "s3cret"


@dataclass
class Live:
    id: str
    looks: int


@record_of(Inner, "at")
class InnerShape(Declared, frozen=True):
    """The part of an inner record that is shown."""


@record_of(Stored, "id made_at gone_at schedule inner many looks")
class Shape(Declared, frozen=True):
    """The part of a record that is shown."""

    inner: InnerShape | None
    many: tuple[InnerShape, ...]
    looks: int = 0


STORED = Stored("a", NOON, None, 600, Inner(NOON), (Inner(Millis(0)), Inner(NOON)))


def test_times_schedules_and_nested_records_are_converted_by_the_shape() -> None:
    assert msgspec.to_builtins(made_of(Shape, STORED)) == {
        "id": "a",
        "made_at": "1970-01-01T12:00:00.000Z",
        "gone_at": None,
        "schedule": "10m",
        "inner": {"at": "1970-01-01T12:00:00.000Z"},
        "many": ({"at": "1970-01-01T00:00:00.000Z"}, {"at": "1970-01-01T12:00:00.000Z"}),
        "looks": 0,
    }


def test_a_given_field_wins_then_the_first_record_that_has_it() -> None:
    found = made_of(Shape, STORED, Live("b", 7), gone_at="now")
    assert (found.id, found.looks, found.gone_at) == ("a", 7, "now")
    assert made_of(Shape, Live("b", 7), STORED).id == "b"


def test_a_field_that_no_record_has_is_missing() -> None:
    with pytest.raises(TypeError, match="made_at"):
        made_of(Shape, Live("b", 7))


def test_only_named_fields_of_a_stored_record_are_declared_and_mirrored() -> None:
    assert Shape.__struct_fields__ == ("id", "made_at", "gone_at", "schedule", "inner", "many", "looks")
    assert mirrored(STORED, Shape, ("inner", "many")).keys() == {"id", "made_at", "gone_at", "schedule"}
    assert "s3cret" not in str(made_of(Shape, STORED))


def test_a_record_made_to_be_shown_is_declared_whole_and_in_order() -> None:
    class Preview(Struct):
        fetched_at: Millis
        size: int = 0

    @shown_whole(Preview)
    class PreviewShape(Declared, frozen=True):
        """A preview."""

    assert PreviewShape.__struct_fields__ == ("fetched_at", "size")
    assert msgspec.json.schema(PreviewShape)["$defs"]["PreviewShape"]["required"] == ["fetched_at", "size"]
    assert msgspec.structs.fields(PreviewShape)[0].type == Time
