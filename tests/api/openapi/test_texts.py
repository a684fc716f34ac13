"""The examples of the description are those that the service would write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from actors import practice
from api.fields.sources import SourceRecord
from api.openapi.document import (
    FOLDER,
    KINDS_SENT,
    NOUNS,
    ROUTES,
    bodies_of,
    by_noun,
    example_of,
    examples,
    filled,
    operations,
    page_of,
    structs_of,
)
from api.problems import Problem
from api.streams.export import HEADER, line_of
from api.streams.sse import event_frame, keepalive, opening
from storage.records.event import Event

TYPES = {
    struct.__name__: struct
    for kind in (Problem, *KINDS_SENT, *(kind for route in ROUTES for kind in bodies_of(route)))
    for struct in structs_of(kind)
}
EVENT = msgspec.json.encode(example_of(Event))


def text(label: str, media: str) -> str:
    shown = operations()[label].answers["200"][media]
    return shown if isinstance(shown, str) else "\n".join(shown)


def unknown(said: Any, record: Any, where: str) -> Iterator[str]:
    """Yield the places of an example that its record lacks, or has otherwise."""
    if isinstance(said, dict) and isinstance(record, dict):
        for name, value in said.items():
            yield from unknown(value, record.get(name, ...), f"{where}.{name}")
    elif isinstance(said, list) and isinstance(record, list | tuple) and len(said) == len(record):
        for one, other in zip(said, record, strict=True):
            yield from unknown(one, other, f"{where}[]")
    elif said != record:
        yield where


def test_the_example_of_a_type_has_no_field_that_the_type_lacks(subtests: pytest.Subtests) -> None:
    for name in examples("types").keys() & TYPES.keys():
        with subtests.test(name):
            assert list(unknown(filled(examples("types")[name]), example_of(TYPES[name]), name)) == []


def test_the_example_of_a_type_is_shown_or_is_part_of_one() -> None:
    named = "".join(each.read_text("utf-8") for each in FOLDER.iterdir() if each.name.endswith(".json"))
    assert [name for name in examples("types") if name not in TYPES and f'"{{{name}}}"' not in named] == []


def test_an_example_may_omit_only_fields_with_a_default() -> None:
    said = filled(examples("types")["SourceRecord"])
    assert "bar" in said and example_of(SourceRecord) == msgspec.to_builtins(msgspec.convert(said, SourceRecord))
    with pytest.raises(msgspec.ValidationError, match="url"):
        msgspec.convert({name: value for name, value in said.items() if name != "url"}, SourceRecord)


def test_each_noun_has_its_words_and_no_name_appears_twice() -> None:
    there = {each.name.partition(".")[0] for each in FOLDER.iterdir()}
    assert there == {noun.name for noun in NOUNS} | {"introduction", "problems", "types"}
    assert [noun.name for noun in NOUNS if set(page_of(noun.name).operations) - set(operations())] == []
    for part in ("parameters", "headers", "operations", "queries", "schemas", "types"):
        assert len(examples(part)) == sum(len(noun.get(part, {})) for noun in by_noun()), part
    assert examples("operations").keys() - {words.name for words in operations().values()} == set()


def test_the_example_of_a_stream_is_written_as_streams_are() -> None:
    begun, alive = opening("sse", "019db0a4-6000-7000-8000-000000000042"), keepalive("sse", example_of(Event)["id"])
    for label in ("GET /v1/stream", "GET /v1/streams/{channel}"):
        assert text(label, "text/event-stream") == (begun + event_frame(EVENT) + alive).decode()
        assert text(label, "application/x-ndjson") == f"{EVENT.decode()}\n"


def test_the_example_of_an_export_is_written_as_exports_are() -> None:
    assert text("GET /v1/events/export", "text/csv") == (HEADER + line_of(EVENT)).decode()
    assert text("GET /v1/events/export", "application/x-ndjson") == f"{EVENT.decode()}\n"


def test_the_practice_example_is_the_served_answer() -> None:
    assert text("GET /practice/{what}", "text/html") == practice.page_at(1).decode()
    assert text("GET /practice/{what}", "application/rss+xml") == practice.feed_at(1).decode()
    change = examples("types")["PracticeChange"]
    assert change["says"] == practice.page_change(1)
