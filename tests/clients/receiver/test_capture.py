from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling_client.receiver.capture import Capture, encode, is_capture, of_json
from storage.records.identity import Millis

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CAPTURES = st.builds(
    Capture,
    method=st.just("POST"),
    path=TEXT,
    query=TEXT,
    headers=st.lists(st.tuples(TEXT, TEXT), max_size=4).map(tuple),
    body=st.binary(max_size=40) | TEXT.map(str.encode),
    received_at=st.none() | st.integers(0, 10**13).map(Millis),
)


@given(CAPTURES)
def test_a_saved_capture_is_read_back_unchanged(capture: Capture) -> None:
    value = json.loads(encode(capture))
    assert is_capture(value)
    assert of_json(value) == capture


def test_a_text_body_is_readable_in_the_file() -> None:
    capture = Capture("POST", "/", "", (("A", "b"),), '{"å":1}'.encode(), Millis(0))
    assert json.loads(encode(capture))["body"] == '{"å":1}'


def test_headers_may_be_an_object_and_of_a_repeated_name_the_first_counts() -> None:
    found = of_json({"headers": {"Webhook-Id": "x"}, "body": "y"})
    assert (found.fields(), found.method, found.received_at) == ({"webhook-id": "x"}, "POST", None)
    assert of_json({"headers": [["A", "1"], ["a", "2"]], "body": ""}).fields() == {"a": "1"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"headers": [], "body": "x", "truncated": True}, "was cut"),
        ({"headers": [["a"]], "body": "x"}, "neither pairs"),
        ({"headers": "a: b", "body": "x"}, "neither pairs"),
        ({"headers": [], "body": None}, "neither a body"),
        ({"headers": [], "body_base64": "%"}, "not base64"),
        ({"headers": [], "body": "x", "received_at": "now"}, "now"),
    ],
)
def test_a_capture_that_cannot_be_used_says_why(value: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        of_json(value)
