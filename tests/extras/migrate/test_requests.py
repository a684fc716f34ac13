"""A watch's request settings, as those of a source."""

from __future__ import annotations

import json
from typing import Any

import pytest

from extras.migrate.changedetection import read_changedetection
from extras.migrate.drafting import Drafting
from extras.migrate.requests import basic_of, cookies_of, pairs_of, request_of
from extras.migrate.urlwatch import read_urlwatch


def asked(pairs: list[tuple[str, str]], body: str | None = None) -> tuple[str | None, list[str]]:
    drafting = Drafting()
    text = request_of(drafting, "watch", pairs, body=body)
    return text, [f"{one.what} {one.grade}: {one.says}" for one in drafting.plan("urls").findings]


def test_fields_of_a_check_are_left_out_by_name_and_never_by_value() -> None:
    text, says = asked([("User-Agent", "secret"), ("X-Key", "a  b"), ("Cookie", "{{ secret }}"), ("ö", "secret")])
    assert text == "X-Key: a b"
    assert says[0] == "headers impossible: User-Agent: User-Agent is set by the look itself"
    assert len(says) == 4 and not any("secret" in one for one in says)


def test_a_body_is_posted_with_its_type() -> None:
    assert asked([("Content-Type", "text/plain")], "q=1")[0] == "POST\nContent-Type: text/plain\n\nq=1"
    assert asked([("Content-Type", "text/plain")])[0] is None
    assert asked([], "")[0] == "POST\n\n"
    assert asked([], "x" * 40_000)[0] is None and asked([], "{% now %}")[0] is None


def test_more_headers_than_a_source_may_have_are_named() -> None:
    text, says = asked([(f"X-{number}", "a") for number in range(12)])
    assert text is not None and text.count("\n") == 9
    assert [one for one in says if "at most 10" in one] == [
        "headers impossible: X-10: a source has at most 10",
        "headers impossible: X-11: a source has at most 10",
    ]


@pytest.mark.parametrize(
    ("value", "pairs"),
    [
        ({"A": "b", "C": 5, "D": None}, [("A", "b"), ("C", "5")]),
        ("A: b\nnonsense\nC:d", [("A", " b"), ("C", "d")]),
        (["A: b", 7], [("A", " b")]),
        (None, []),
    ],
)
def test_headers_are_read_however_they_are_written(value: Any, pairs: list[tuple[str, str]]) -> None:
    assert pairs_of(value) == pairs


def test_cookies_and_passwords_become_headers() -> None:
    assert cookies_of({"a": "1", "b": 2}) == [("Cookie", "a=1; b=2")] and cookies_of(" ") == [] and cookies_of(5) == []
    assert basic_of("me", "päss") == [("Authorization", "Basic bWU6cMOkc3M=")] and basic_of("", "x") == []


def test_a_job_of_urlwatch_that_posts_a_form_becomes_a_source_that_does() -> None:
    job = "url: https://a.example/\ndata: {q: 'a b', n: 5}\ncookies: {s: x}\nhttp_credentials: me:pw\n"
    (source,) = read_urlwatch(job.encode()).sources
    assert source.body.headers == "POST\nCookie: s=x\nAuthorization: Basic bWU6cHc=\n\nq=a+b&n=5"
    assert read_urlwatch(b"url: https://a.example/\nmethod: DELETE\n").sources == ()


def test_a_groups_headers_hold_for_its_watches() -> None:
    watch = {"url": "https://a.example/", "tags": ["g"], "headers": {"X-B": "2"}}
    store = {
        "watching": {"w": watch},
        "settings": {"application": {"tags": {"g": {"title": "G", "headers": {"X-A": "1"}}}}},
    }
    (source,) = read_changedetection(json.dumps(store).encode()).sources
    assert source.body.headers == "X-A: 1\nX-B: 2"
