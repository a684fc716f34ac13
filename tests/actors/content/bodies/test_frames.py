from __future__ import annotations

import random
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies.frames import MOST, MOST_EVENTS, MOST_SMALL, Frame, cap_content, is_small, read_frames
from actors.content.errors import ContentError
from actors.egress.decoding import inflated
from tests.actors.content.bodies.frame_kinds import HELD_OUT, KINDS

URL = "wss://shore.example/live"


def read_frame(text: str, url: str) -> Frame:
    (found,) = read_frames(text, url)
    return found


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


def test_a_frame_with_an_id_sent_again_later_is_a_duplicate() -> None:
    first, again, edited, other = (
        read_frame(f'{{"id": {n}, "text": "{text}", "ts": {at}}}', URL)
        for n, text, at in ((1, "high", 5), (1, "high", 6), (1, "higher", 7), (2, "high", 5))
    )
    assert first.mark == again.mark
    assert len({first.mark, edited.mark, other.mark}) == 3


def test_an_overlong_id_counts_but_is_not_stored() -> None:
    one, other = (read_frame(f'{{"id": "{"x" * 300}{n}", "text": "t"}}', URL) for n in (1, 2))
    assert one.id == other.id == ""
    assert one.mark != other.mark


def test_an_events_text_is_hashed_before_it_is_cut() -> None:
    short, long = cap_content(read_frame("x " * 40_000, URL)), cap_content(read_frame("x " * 40_001, URL))
    assert (len(short.content), short.content_truncated) == (1 << 16, True)
    assert short.content == long.content
    assert short.content_hash != long.content_hash


def test_json_without_known_fields_is_stored_unchanged() -> None:
    assert read_frame('{"level": 4.2}', URL).content == '{"level": 4.2}'
    assert read_frame("[1, 2]", URL).content == "[1, 2]"


@pytest.mark.parametrize("text", ['{"a":' * 100_000, '{"id": ' + "9" * 100_000 + "}", "x" * (MOST + 1)])
def test_x23_hostile_frames_are_content_errors(text: str) -> None:
    with pytest.raises(ContentError):
        read_frame(text, URL)


@pytest.mark.parametrize(
    "text", ['{"a":' * (MOST_SMALL // 5), '{"id": ' + "9" * (MOST_SMALL - 8) + "}", "<p" + " a" * (MOST_SMALL // 2 - 1)]
)
def test_x23_small_hostile_frames_do_no_harm_in_the_loop(text: str) -> None:
    with suppress(ContentError):
        assert len(read_frame(text, URL).content) <= MOST_SMALL


_SURROGATE = re.compile("[\ud800-\udfff]")


@given(st.text() | st.text().map(lambda text: '{"title":' + text))
def test_nothing_else_is_raised(text: str) -> None:
    with suppress(ContentError):
        for frame in read_frames(text, URL):
            assert not _SURROGATE.search(frame.id + frame.title + frame.url)


@pytest.mark.parametrize("name", [*KINDS, *HELD_OUT])
def test_each_kind_of_frame_yields_its_event_only(name: str) -> None:
    kind = (KINDS | HELD_OUT)[name]
    for seed in range(20):
        message, news = kind(random.Random(f"{name} {seed}"))
        text = message if isinstance(message, str) else (inflated(message, MOST) or b"").decode()
        found = read_frames(text, URL)
        assert [(each.title, each.url, each.content) for each in found] == [each[1:] for each in news], text
        assert len({each.mark for each in found}) == len(found)


def test_a_list_of_scalars_and_an_unknown_object_are_content_as_they_are() -> None:
    for text in ("[1, 2]", '["low", "high"]', '{"level": 4.2}', '{"id": 5}', "42", "3", '{"meta": {"level": 4}}'):
        assert [frame.content for frame in read_frames(text, URL)] == [text]


def test_an_envelope_with_its_own_text_is_an_event_with_any_list() -> None:
    frame = read_frame('{"title": "Two boats", "url": "/b", "items": [{"title": "One"}, {"title": "Other"}]}', URL)
    assert frame.title == "Two boats"


def test_the_words_of_an_event_go_before_those_of_its_envelope() -> None:
    frame = read_frame('{"title": "Channel", "text": "x", "data": {"headline": "News", "time": 1790000000}}', URL)
    assert (frame.title, frame.content, frame.published_at) == ("News", "x", 1_790_000_000_000)


@pytest.mark.parametrize("text", ["[" + "{}," * MOST_EVENTS + "{}]", '{"data":[' + '{"a":1},' * MOST_EVENTS + "{}]}"])
def test_x23_more_events_than_a_frame_may_hold_are_refused(text: str) -> None:
    assert not is_small(text)
    with pytest.raises(ContentError, match="at most 5000"):
        read_frames(text, URL)


def test_a_stream_names_the_kind_of_its_events() -> None:
    (frame,) = read_frames('{"title": "T", "tags": ["sea"]}', URL, "Update")
    assert frame.tags == ("category:sea", "category:update")
