from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.overseer.rows import ERROR_CAP, Row, badness, first_line, parse_filter
from storage.records.identity import Millis
from storage.records.source import PartState


def a_row(**changes: Any) -> Row:
    plain: dict[str, Any] = {
        "path": "sources/1",
        "name": "https://shop.example/p",
        "kind": "html",
        "state": "ok",
        "health": 1.0,
        "flag": "ok",
        "restarts": 0,
        "since": Millis(0),
        "error": "",
        "next": None,
        "tags": ("topic:price",),
        "title": "Kettles of steel",
    }
    return Row(**plain | changes)


def test_every_state_has_its_place_in_the_order() -> None:
    assert min(get_args(PartState), key=lambda state: badness(a_row(state=state))) == "quarantined"


def test_the_worst_state_comes_first() -> None:
    rows = [
        a_row(state="quarantined"),
        a_row(state="backoff"),
        a_row(state="failing", health=0.1),
        a_row(state="resting", health=0.2),
        a_row(flag="rotten", health=0.0),
        a_row(flag="rotten", health=0.2),
        a_row(flag="degraded", health=0.5),
        a_row(state="starting"),
        a_row(),
        a_row(state="paused", flag="rotten", health=0.0),
    ]
    assert sorted(rows, key=badness) == rows


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("", True),
        ("SHOP example", True),
        ("shop nothing", False),
        ("kettles", True),
        ("parse", True),
        ("sources/1", True),
        ("state:quar", True),
        ("state:degr", True),
        ("state:fail", False),
        ("state:fail state:quar", True),
        ("host:shop.example", True),
        ("host:sources", False),
        ("tag:price", True),
        ("tag:other", False),
        ("kind:html tag:price", True),
        ("kind:push", False),
        ("state:", False),
        ("https://shop", True),
    ],
)
def test_a_filter_is_words_and_qualifiers(text: str, admitted: bool) -> None:
    row = a_row(state="quarantined", flag="degraded", error="ParseError: bad")
    assert parse_filter(text).matches(row) is admitted


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("resting", "rest"),
        ("throttled", "throttled"),
        ("throttled", "thr"),
        ("backoff", "backing"),
        ("held", "on"),
        ("paused", "pau"),
    ],
)
def test_a_state_is_found_by_the_word_that_screens_show_and_by_its_name(state: PartState, text: str) -> None:
    assert parse_filter(f"state:{text}").matches(a_row(state=state))
    assert not parse_filter(f"state:{text}").matches(a_row(state="quarantined"))


@given(st.text())
def test_a_row_is_found_by_its_name_whatever_it_is(text: str) -> None:
    assert parse_filter(text).matches(a_row(name=text)) or parse_filter(text).qualified


@given(st.text())
def test_x18_an_error_is_one_line_of_plain_text(text: str) -> None:
    line = first_line(text)
    assert len(line) <= ERROR_CAP and (line.isprintable() or not line)
