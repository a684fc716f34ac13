"""Bad input gets a problem that names the field, the rule and the value; never a 500, never half a source."""

from __future__ import annotations

import ast
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct, json

from api.problems import KINDS, Refusal
from api.validation import read_body, read_query
from tests.api.house import House
from tests.rules.source_files import modules, tree_of

U = '{"url": "https://a.test/"'


class Inner(Struct, forbid_unknown_fields=True):
    url: str


class Outer(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(max_length=5)]
    items: tuple[Inner, ...] = ()


class Many(Struct, forbid_unknown_fields=True):
    things: tuple[Inner, ...]


class Params(Struct, forbid_unknown_fields=True):
    n: int = 1
    tag: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("body", "location", "says"),
    [
        (b"", "body", "required"),
        (b"  ", "body", "required"),
        (b"{", "body", "line 1"),
        (b"{}x", "body", "line 1"),
        (b"[]", "body", "Expected `object`"),
        (b"null", "body", "Expected `object`"),
        (b"{}", "body.url", "missing"),
        (b'{"url": 5}', "body.url", "Expected `str`"),
        (b'{"url": null}', "body.url", "Expected `str`"),
        (b'{"url": ""}', "body.url", "length >= 1"),
        (U.encode() + b', "nothing": 1}', "body.nothing", "unknown"),
        (U.encode() + b', "url": "https://b.test/"}', "body", "twice"),
        (U.encode() + b', "backfill": NaN}', "body", "NaN"),
        (U.encode() + b', "backfill": Infinity}', "body", "Infinity"),
        (U.encode() + b', "backfill": 1e999}', "body", "too large"),
        (U.encode() + b', "backfill": 51}', "body.backfill", "<= 50"),
        (U.encode() + b', "backfill": -1}', "body.backfill", ">= 0"),
        (U.encode() + b', "backfill": 1.5}', "body.backfill", "Expected `int`"),
        (U.encode() + b', "backfill": true}', "body.backfill", "Expected `int`"),
        (U.encode() + b', "backfill": "1"}', "body.backfill", "Expected `int`"),
        (U.encode() + b', "backfill": ' + b"9" * 5000 + b"}", "body", "2^53"),
        (U.encode() + b', "backfill": 9007199254740992}', "body", "2^53"),
        (b'{"url": "\\ud800"}', "body", "surrogate"),
        (b'{"url": "\xff"}', "body", "UTF-8"),
        (b"\xef\xbb\xbf{}", "body", "BOM"),
        (U.encode() + b', "tags": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "body", "deep"),
        (U.encode() + b', "type": "rss"}', "body.type", "enum value"),
        (U.encode() + b', "tags": ["a", 1]}', "body.tags[1]", "Expected `str`"),
        (U.encode() + b', "tags": "a"}', "body.tags", "Expected `array`"),
        (U.encode() + b', "schedule": "soon"}', "body.schedule", "regex"),
        (U.encode() + b', "schedule": "10m\\n"}', "body.schedule", "regex"),
        (b'{"sources": []}', "body.sources", "length >= 1"),
        (b'{"sources": [{"url": "https://a.test/"}, {"uri": "x"}]}', "body.sources[1].uri", "unknown"),
        (b'{"sources": [{"url": "https://a.test/"}], "url": "x"}', "body.sources", "unknown"),
    ],
)
async def test_a_bad_body_is_400_and_adds_nothing(house: House, body: bytes, location: str, says: str) -> None:
    async with await house.client() as client:
        answer = await client.post("/v1/sources", content=body, headers={"Content-Type": "application/json"})
    problem = answer.json()
    assert (answer.status_code, problem["type"].rpartition("/")[2]) == (400, "invalid-request")
    (error,) = problem["errors"]
    assert error["location"] == location and says in error["message"], error
    assert "value" in error
    assert not house.registry.seen


def patterns() -> list[str]:
    """Return every pattern that a wire type has."""
    calls = [node for path in modules("api") for node in ast.walk(tree_of(path)) if isinstance(node, ast.keyword)]
    return [ast.literal_eval(node.value) for node in calls if node.arg == "pattern"]


def test_no_pattern_takes_a_newline_at_the_end_for_the_end() -> None:
    """Python's `$` matches before it: `10m` and a newline would pass, and fail where it is used."""
    assert len(patterns()) >= 4
    assert [pattern for pattern in patterns() if not pattern.startswith("^") or not pattern.endswith("$(?!\\n)")] == []


@pytest.mark.parametrize(
    ("media", "status"),
    [
        (None, 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonp", 415),
        ("application/json; charset=utf-8", 201),
        ("Application/JSON", 201),
        ("application/merge-patch+json", 201),
    ],
)
async def test_only_json_is_read(house: House, media: str | None, status: int) -> None:
    headers = {"Content-Type": media} if media else {}
    async with await house.client() as client:
        answer = await client.post("/v1/sources", content=(U + "}").encode(), headers=headers)
    assert answer.status_code == status
    if status == 415:
        assert answer.json()["type"].endswith("/unsupported-media-type")


async def test_a_body_over_the_limit_is_413_declared_or_not(house: House) -> None:
    limit = house.doors.settings.request_limit
    head = b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-Key: %b\r\n"
    head %= (await house.key()).encode()
    for body in (
        b"Content-Length: %d\r\n\r\n" % (limit + 1),
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (limit + 1, b" " * (limit + 1)),
    ):
        stream = await house.raw(head + body)
        answer = b"".join([bytes(piece) async for piece in stream])
        assert answer.startswith(b"HTTP/1.1 413 ") and b"/problems/body-too-large" in answer
        assert b"connection: close" in answer.lower()


async def test_a_body_that_never_ends_is_408(house: House, autojump_clock: object) -> None:
    key = (await house.key()).encode()
    stream = await house.raw(
        b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        b"Authorization: Bearer " + key + b"\r\n\r\n{"
    )
    answer = b"".join([bytes(piece) async for piece in stream])
    assert answer.startswith(b"HTTP/1.1 408 ") and b"/problems/request-timeout" in answer


@given(st.binary(max_size=60))
def test_whatever_the_bytes_the_body_is_read_or_refused(raw: bytes) -> None:
    try:
        read_body(raw, "application/json", (Outer,))
    except Refusal as refusal:
        assert refusal.status == 400 and json.encode(refusal.document("http://x"))


@given(st.binary(max_size=60))
def test_whatever_the_bytes_the_query_is_read_or_refused(raw: bytes) -> None:
    try:
        read_query(raw, Params)
    except Refusal as refusal:
        assert refusal.status == 400 and json.encode(refusal.document("http://x"))


def test_which_of_two_bodies_is_meant_is_told_by_its_fields() -> None:
    assert read_body(b'{"things": []}', "application/json", (Outer, Many)) == Many(())
    assert read_body(b'{"name": "a"}', "application/json", (Outer, Many)) == Outer("a")


@pytest.mark.parametrize(
    ("query", "location"),
    [
        (b"m=1", "query.m"),
        (b"n=1&n=2", "query.n"),
        (b"n=x", "query.n"),
        (b"n=1.5", "query.n"),
        (b"n=", "query.n"),
        (b"tag=%ff", "query"),
        (b"tag=\xff", "query"),
        (b"&".join([b"tag=x"] * 401), "query"),
    ],
)
def test_a_bad_query_says_where(query: bytes, location: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_query(query, Params)
    assert caught.value.errors[0].location == location


def test_a_repeatable_parameter_keeps_its_order() -> None:
    assert read_query(b"tag=b&tag=a+c&n=2", Params) == Params(2, ("b", "a c"))


def test_a_long_value_is_shown_cut() -> None:
    with pytest.raises(Refusal) as caught:
        read_body(b'{"name": "' + b"x" * 10_000 + b'"}', "application/json", (Outer,))
    assert len(caught.value.errors[0].value) == 200


def test_every_kind_of_problem_has_its_page_in_words() -> None:
    for slug, kind in KINDS.items():
        assert 400 <= kind.status <= 599 and kind.says.endswith("."), slug
