"""Doctests of the dashboard's pure modules, and forms of every kind."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest
from msgspec import Meta

from api.dashboard import drawing, events, forms, sessions, system, today
from api.dashboard.account import keys, settings
from api.dashboard.drawing import ZULU, moment_of, zone_of
from api.dashboard.forms import Draft, Form, InvalidForm, fields_of, read_form
from storage.records.identity import Millis

NOW = Millis(1_800_000_000_000)
MODULES = (events, drawing, forms, keys, sessions, settings, system, today)
NO_ZONES = ("", "../../etc/passwd", "Europe/Nowhere", "x" * 99, "/etc/localtime", "Europe", "\x00")


class Sample(Form, frozen=True):
    verbatim: ClassVar[tuple[str, ...]] = ("secret",)
    name: Annotated[str, Meta(min_length=2, max_length=5)]
    count: int = 3
    on: bool = False
    tags: tuple[str, ...] = ()
    secret: str = ""
    file: bytes = b""


def test_a_form_is_read_with_its_types_and_defaults() -> None:
    raw = b"name=+abc+&count=&on=true&tags=a&tags=&tags=+b&secret=+x+&token=t"
    form = read_form(fields_of(raw, "application/x-www-form-urlencoded"), Sample)
    assert form == Sample(name="abc", count=3, on=True, tags=("a", "b"), secret=" x ")


def test_all_errors_of_a_form_are_sentences() -> None:
    with pytest.raises(InvalidForm) as caught:
        read_form({"name": ["x"], "count": ["many"]}, Sample)
    assert caught.value.errors == {"name": "At least 2 characters.", "count": "Enter a number."}
    with pytest.raises(InvalidForm, match="no field 'extra'"):
        read_form({"name": ["abc"], "extra": ["1"]}, Sample)
    with pytest.raises(InvalidForm, match="Fill in this field"):
        read_form({"name": ["  "]}, Sample)


def test_a_file_comes_as_bytes_and_an_empty_file_field_as_none() -> None:
    def multipart(filename: str) -> bytes:
        parts = (
            b'form-data; name="name"\r\n\r\nabc',
            b'form-data; name="file"; filename="%b"\r\n\r\n\xff\x00' % filename.encode(),
        )
        return b"".join(b"--x\r\nContent-Disposition: " + part + b"\r\n" for part in parts) + b"--x--\r\n"

    media = "multipart/form-data; boundary=x"
    assert read_form(fields_of(multipart("a.opml"), media), Sample).file == b"\xff\x00"
    assert read_form(fields_of(multipart(""), media), Sample).file == b""


def test_a_form_shows_the_input_or_else_the_stored_value() -> None:
    blank, typed = Draft(), Draft({"name": ["x"], "tags": ["a"]}, {"name": "no"})
    assert (blank.value("name", "old"), blank.value("count", 3), blank.value("none", None)) == ("old", "3", "")
    assert (typed.value("name", "old"), typed.value("count", 3)) == ("x", "")
    assert blank.holds("tags", "a", True) and typed.holds("tags", "a") and not typed.holds("on", "true", True)
    assert typed.faulty and not blank.faulty and typed.error("name") == "no"


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "Europe/Nowhere", "x" * 99, "/etc/localtime", "Europe", "\x00"]
)
def test_an_invalid_zone_is_utc(name: str) -> None:
    assert zone_of(name) is ZULU


def test_a_time_is_shown_in_the_readers_zone_and_exactly_in_utc() -> None:
    stockholm = zone_of("Europe/Stockholm")
    shown = moment_of("2027-01-15T23:30:00.000Z", NOW, stockholm)
    assert shown.words == "16 Jan, 00:30" and shown.exact == "2027-01-15 23:30:00 UTC" and shown.ago == "in 15 h"
    assert moment_of(Millis(NOW - 86_400_000 * 400), NOW, ZULU).words == "11 Dec 2025, 08:00"
    assert moment_of(None, NOW, ZULU).words == moment_of("", NOW, ZULU).ago == "never"
