"""X18: a hostile page's text in a log can neither forge nor colour a line."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import category

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from sanderling.logs import LINE_CAP, make_log


@pytest.fixture(autouse=True)
def _keep_handlers() -> Iterator[None]:
    handlers = logging.getLogger().handlers
    yield
    logging.getLogger().handlers = handlers


def lines(*said: tuple[str, dict[str, Any]], level: str = "info", words: bool = False) -> list[str]:
    stream = io.StringIO()
    log = make_log(stream, lambda: 1.5, level=level, words=words, colour=False)
    for event, fields in said:
        log(event, **fields)
    return stream.getvalue().splitlines()


def test_a_line_is_one_json_object_with_time_level_and_event_first() -> None:
    (line,) = lines(("looked", {"source_id": "x", "status": 304}))
    assert list(json.loads(line).items()) == [
        ("ts", "1970-01-01T00:00:01.500Z"),
        ("level", "info"),
        ("event", "looked"),
        ("source_id", "x"),
        ("status", 304),
    ]


@given(st.text(), st.booleans())
def test_x18_any_text_stays_on_one_line_without_control_characters(text: str, words: bool) -> None:
    stream = io.StringIO()
    make_log(stream, lambda: 0.0, level="info", words=words, colour=False)("event", title=text)
    written = stream.getvalue()
    assert len(written.splitlines()) == 1
    assert all(category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in written.removesuffix("\n"))


def test_x18_a_line_is_at_most_4_kib_and_says_that_it_was_cut() -> None:
    (line,) = lines(("big", {f"field{n}": "é" * 5000 for n in range(9)}))
    assert len(line.encode()) <= LINE_CAP
    assert json.loads(line)["cut"] is True
    (line,) = lines(("big", {f"field{n}": "é" * 5000 for n in range(9)}), words=True)
    assert len(line.encode()) <= LINE_CAP


def test_less_severe_lines_are_left_out() -> None:
    said = [("a", {"level": "debug"}), ("b", {"level": "info"}), ("c", {"level": "warning"}), ("d", {"level": "error"})]
    assert [json.loads(line)["event"] for line in lines(*said, level="warning")] == ["c", "d"]


def test_a_log_that_cannot_be_written_does_not_end_the_service() -> None:
    class Closed(io.StringIO):
        tries = 0

        def write(self, _text: str) -> int:
            self.tries += 1
            raise BrokenPipeError

    stream = Closed()
    make_log(stream, lambda: 0.0, level="info", words=False, colour=False)("event")
    assert stream.tries == 1


def test_libraries_warn_through_the_same_log() -> None:
    stream = io.StringIO()
    make_log(stream, lambda: 0.0, level="info", words=False, colour=False)
    logging.getLogger("hypercorn.error").warning("odd %s\n", "thing")
    line = json.loads(stream.getvalue())
    assert (line["level"], line["event"], line["logger"]) == ("warning", "odd thing\\n", "hypercorn.error")


async def test_a_line_names_its_own_actor_unless_it_is_about_another() -> None:
    stream = io.StringIO()
    kept: list[Mapping[str, Any]] = []
    log = make_log(stream, lambda: 0.0, level="info", words=False, colour=False, keep=kept.append)

    async def inner() -> None:
        log("inner")

    async def actor() -> None:
        log("own")
        log("of another", actor="sanderling/log")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(inner)

    log("of nobody")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(actor, name="sanderling/sources/1")
    written = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line.get("actor")) for line in written] == [
        ("of nobody", None),
        ("own", "sources/1"),
        ("of another", "log"),
        ("inner", "sources/1"),
    ]
    assert kept == written


def test_x18_stored_log_lines_are_as_safe_as_printed_ones() -> None:
    kept: list[Mapping[str, Any]] = []
    log = make_log(io.StringIO(), lambda: 0.0, level="info", words=True, colour=True, keep=kept.append)
    log("shown", title="a\x1b[31m\nb svc_" + "k" * 43)
    log("not shown", level="debug")
    (line,) = kept
    assert line["title"] == "a\\x1b[31m\\nb svc_kkkkkkkk..."
