"""Frames of push sources."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.errors import ContentError
from actors.content.frames import MOST, read_frame

URL = "wss://shore.example/live"


def test_common_field_names_are_read() -> None:
    frame = read_frame(
        '{"id": 7, "headline": "High <b>tide</b>", "link": "https://shore.example/7", "text": "In an hour", '
        '"user": {"name": "ann"}, "timestamp": 1767225600, "tags": ["Sea", 3]}',
        URL,
    )
    assert (frame.key, frame.title, frame.url, frame.content) == (
        "7",
        "High tide",
        "https://shore.example/7",
        "In an hour",
    )
    assert (frame.author, frame.published_at, frame.tags) == ("ann", 1_767_225_600_000, ("category:sea",))


@pytest.mark.parametrize("nest", ["data", "payload", "event", "message"])
def test_fields_one_level_down_are_read(nest: str) -> None:
    frame = read_frame(f'{{"type": "x", "{nest}": {{"title": "T", "body": "B", "uuid": "u1"}}}}', URL)
    assert (frame.key, frame.title, frame.content) == ("u1", "T", "B")


def test_other_text_is_content_and_its_hash_the_key() -> None:
    one, other = read_frame("high tide", URL), read_frame("low tide", URL)
    assert (one.content, one.title) == ("high tide", "")
    assert one.key == read_frame("high tide", URL).key != other.key


def test_json_without_known_fields_is_kept_as_it_is() -> None:
    assert read_frame('{"level": 4.2}', URL).content == '{"level": 4.2}'
    assert read_frame("[1, 2]", URL).content == "[1, 2]"


@pytest.mark.parametrize("text", ['{"a":' * 100_000, '{"id": ' + "9" * 100_000 + "}", "x" * (MOST + 1)])
def test_x23_hostile_frames_are_content_errors(text: str) -> None:
    with pytest.raises(ContentError):
        read_frame(text, URL)


@given(st.text() | st.text().map(lambda text: '{"title":' + text))
def test_nothing_else_is_raised(text: str) -> None:
    try:
        frame = read_frame(text, URL)
    except ContentError:
        return
    (frame.key + frame.title + frame.url).encode()
