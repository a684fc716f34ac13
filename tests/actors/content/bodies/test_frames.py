"""Frames of push sources."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies.frames import MOST, SMALL, read_frame, told
from actors.content.errors import ContentError

URL = "wss://shore.example/live"


def test_common_field_names_are_read() -> None:
    frame = read_frame(
        '{"id": 7, "headline": "High <b>tide</b>", "link": "https://shore.example/7", "text": "In an hour", '
        '"user": {"name": "ann"}, "timestamp": 1767225600, "tags": ["Sea", 3]}',
        URL,
    )
    assert (frame.id, frame.title, frame.url, frame.content) == (
        "7",
        "High tide",
        "https://shore.example/7",
        "In an hour",
    )
    assert (frame.author, frame.published_at, frame.tags) == ("ann", 1_767_225_600_000, ("category:sea",))


@pytest.mark.parametrize("nest", ["data", "payload", "event", "message"])
def test_fields_one_level_down_are_read(nest: str) -> None:
    frame = read_frame(f'{{"type": "x", "{nest}": {{"title": "T", "body": "B", "uuid": "u1"}}}}', URL)
    assert (frame.id, frame.title, frame.content) == ("u1", "T", "B")


def test_other_text_is_content_and_all_of_it_is_its_mark() -> None:
    one, other = read_frame("high tide", URL), read_frame("low tide", URL)
    assert (one.content, one.title, one.id) == ("high tide", "", "")
    assert one.mark == read_frame("high tide", URL).mark != other.mark


def test_with_an_id_of_its_own_the_same_news_sent_at_another_time_is_the_same() -> None:
    first, again, edited, other = (
        read_frame(f'{{"id": {n}, "text": "{text}", "ts": {at}}}', URL)
        for n, text, at in ((1, "high", 5), (1, "high", 6), (1, "higher", 7), (2, "high", 5))
    )
    assert first.mark == again.mark
    assert len({first.mark, edited.mark, other.mark}) == 3


def test_an_absurdly_long_id_counts_but_is_not_kept() -> None:
    one, other = (read_frame(f'{{"id": "{"x" * 300}{n}", "text": "t"}}', URL) for n in (1, 2))
    assert one.id == other.id == ""
    assert one.mark != other.mark


def test_what_an_event_holds_is_cut_after_it_was_hashed() -> None:
    short, long = told(read_frame("x " * 40_000, URL)), told(read_frame("x " * 40_001, URL))
    assert (len(short.content), short.content_truncated) == (1 << 16, True)
    assert short.content == long.content
    assert short.content_hash != long.content_hash


def test_json_without_known_fields_is_kept_as_it_is() -> None:
    assert read_frame('{"level": 4.2}', URL).content == '{"level": 4.2}'
    assert read_frame("[1, 2]", URL).content == "[1, 2]"


@pytest.mark.parametrize("text", ['{"a":' * 100_000, '{"id": ' + "9" * 100_000 + "}", "x" * (MOST + 1)])
def test_x23_hostile_frames_are_content_errors(text: str) -> None:
    with pytest.raises(ContentError):
        read_frame(text, URL)


@pytest.mark.parametrize(
    "text", ['{"a":' * (SMALL // 5), '{"id": ' + "9" * (SMALL - 8) + "}", "<p" + " a" * (SMALL // 2 - 1)]
)
def test_x23_small_hostile_frames_do_no_harm_in_the_loop(text: str) -> None:
    with suppress(ContentError):
        read_frame(text, URL)


@given(st.text() | st.text().map(lambda text: '{"title":' + text))
def test_nothing_else_is_raised(text: str) -> None:
    try:
        frame = read_frame(text, URL)
    except ContentError:
        return
    (frame.id + frame.title + frame.url).encode()
