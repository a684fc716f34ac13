"""Bad input gets a problem that names the field, the rule and the value; never a 500, never half a source."""

from __future__ import annotations

import ast
import tomllib
from typing import Annotated, Literal

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct, json

from actors.messages.requests import NewSource, SourcePatch
from api.fields.alerts import AlertPatch, NewAlert
from api.fields.destinations import NewDestination
from api.fields.sources import SourceBatch
from api.problems import KINDS, Refusal
from api.validation import read_body, read_query
from tests.api.house import House
from tests.rules.source_files import ROOT, modules, tree_of

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
        (b"\xef\xbb\xbf{}", "body", "byte order mark"),
        (U.encode() + b', "tags": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "body", "deep"),
        (U.encode() + b', "type": "rss"}', "body.type", "enum value"),
        (U.encode() + b', "tags": ["a", 1]}', "body.tags[1]", "Expected `str`"),
        (U.encode() + b', "tags": "a"}', "body.tags", "Expected `array`"),
        (U.encode() + b', "schedule": "soon"}', "body.schedule", "such as 10m"),
        (U.encode() + b', "schedule": "10m\\n"}', "body.schedule", "such as 10m"),
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


WIRE = ("api", "actors/messages")


def patterns() -> list[str]:
    """Return the patterns of all wire types."""
    calls = [node for path in modules(*WIRE) for node in ast.walk(tree_of(path)) if isinstance(node, ast.keyword)]
    return [ast.literal_eval(node.value) for node in calls if node.arg == "pattern"]


def test_every_pattern_has_a_description() -> None:
    calls = [node for path in modules(*WIRE) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    written = [call for call in calls if "pattern" in {one.arg for one in call.keywords}]
    texts = tomllib.loads((ROOT / "actors/messages/requests.toml").read_text("utf-8"))
    named = [call.args[0].value for call in written if call.args and isinstance(call.args[0], ast.Constant)]
    described = sum("extra" in {one.arg for one in call.keywords} for call in written)
    assert len(patterns()) == described + sum("form" in texts[str(name)] for name in named)


@pytest.mark.parametrize(
    ("kind", "body", "location", "says"),
    [
        (NewSource, '{"url": "u", "schedule": "soon"}', "body.schedule", "10m, 2h or 1d"),
        (SourceBatch, '{"sources": [{"url": "u", "schedule": "1w"}]}', "body.sources[0].schedule", "10m, 2h or 1d"),
        (SourcePatch, '{"schedule": "soon"}', "body.schedule", "10m, 2h or 1d"),
        (NewSource, '{"url": "u", "subprotocols": ["a", "b c"]}', "body.subprotocols[1]", "RFC 9110"),
        (NewAlert, '{"filter_query": "", "channel": "A b"}', "body.channel", "at most 63 of a-z"),
        (AlertPatch, '{"channel": ""}', "body.channel", "at most 63 of a-z"),
        (NewDestination, '{"url": "u", "quiet_hours": {"from": "8", "to": "9"}}', "body.quiet_hours.from", "HH:MM"),
    ],
)
def test_an_invalid_form_gets_a_sentence(kind: type[Struct], body: str, location: str, says: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_body(body.encode(), "application/json", (kind,))
    (error,) = caught.value.errors
    assert error.location == location and error.message.startswith("must be ") and says in error.message
    assert "regex" not in error.message and error.value is not None


def test_no_pattern_takes_a_newline_at_the_end_for_the_end() -> None:
    """Python's `$` also matches before a final newline: `10m` with one would pass, and fail later."""
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
        ('application/json; charset="UTF-8"; x=y', 201),
        ("application/json; charset=utf-16", 415),
        ("application/json; charset=latin-1", 415),
        ("application/json, application/json", 415),
        ("json", 415),
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
        assert answer.json()["errors"][0]["location"] == "header.Content-Type"


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "zstd", "gzip, gzip", "x"])
async def test_a_compressed_body_is_415(house: House, coding: str) -> None:
    async with await house.client() as client:
        headers = {"Content-Type": "application/json", "Content-Encoding": coding}
        answer = await client.post("/v1/sources", content=(U + "}").encode(), headers=headers)
        plain = {"Content-Type": "application/json", "Content-Encoding": "identity"}
        assert (await client.post("/v1/sources", content=(U + "}").encode(), headers=plain)).status_code == 201
    assert answer.status_code == 415 and answer.json()["errors"][0]["location"] == "header.Content-Encoding"


async def test_two_content_types_are_400(house: House) -> None:
    key = (await house.key()).encode()
    stream = await house.raw(
        b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\n"
        b"Content-Length: 2\r\nConnection: close\r\nAuthorization: Bearer " + key + b"\r\n\r\n{}"
    )
    answer = b"".join([bytes(piece) async for piece in stream])
    assert answer.startswith(b"HTTP/1.1 400 ") and b'"header.Content-Type"' in answer


@pytest.mark.parametrize(
    "trap",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"url":' * 30_000 + b"1" + b"}" * 30_000,
        b'{"url": ' + b"9" * 200_000 + b"}",
        b'{"url": -' + b"9" * 200_000 + b"}",
        b'{"url": 1e' + b"9" * 200_000 + b"}",
        b'{"url": 0.' + b"1" * 200_000 + b"}",
        b'{"url": "' + b"\\u0000" * 30_000 + b'"}',
        b"{" + b",".join(b'"%d": 1' % n for n in range(20_000)) + b"}",
        b"[" * 200_000,
        b'"' + b"\\" * 99_999,
    ],
    ids=lambda trap: trap[:12].decode(),
)
async def test_x23_json_traps_are_a_problem_and_cost_little(house: House, trap: bytes) -> None:
    async with await house.client() as client:
        answer = await client.post("/v1/sources", content=trap, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert answer.json()["errors"][0]["location"].startswith("body") and len(answer.content) < 2_000
    assert not [event for event, _ in house.logs if event == "http.fault"]


async def test_a_body_over_the_limit_is_413_declared_or_not(house: House) -> None:
    limit = house.context.settings.request_limit
    head = b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-Key: %b\r\n"
    head %= (await house.key()).encode()
    for body in (
        b"Content-Length: %d\r\n\r\n" % (limit + 1),
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (limit + 1, b" " * (limit + 1)),
    ):
        stream = await house.raw(head + body)
        answer = b"".join([bytes(piece) async for piece in stream])
        assert answer.startswith(b"HTTP/1.1 413 ") and b"/problems/body-too-large" in answer
        assert b'"location":"body"' in answer and b"%d bytes" % limit in answer
        assert b"connection: close" in answer.lower()


async def test_a_body_that_never_ends_is_408(house: House, autojump_clock: object) -> None:
    key = (await house.key()).encode()
    stream = await house.raw(
        b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        b"Authorization: Bearer " + key + b"\r\n\r\n{"
    )
    answer = b"".join([bytes(piece) async for piece in stream])
    assert answer.startswith(b"HTTP/1.1 408 ") and b"/problems/request-timeout" in answer
    assert b'"location":"body"' in answer


async def test_chunks_that_never_end_are_413_or_408(house: House, autojump_clock: object) -> None:
    """Endless chunks of one byte hit the deadline, endless large chunks the size limit."""
    key = (await house.key()).encode()
    for chunk, pause, status in ((b"1\r\nx\r\n", 1.0, b"408"), (b"4000\r\n" + b"x" * 0x4000 + b"\r\n", 0.0, b"413")):
        stream = await house.raw(
            b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\nAuthorization: Bearer " + key + b"\r\n\r\n"
        )
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_for_ever, stream, chunk, pause)
                answer = b"".join([bytes(piece) async for piece in stream])
                nursery.cancel_scope.cancel()
        assert answer.startswith(b"HTTP/1.1 " + status)


async def send_for_ever(stream: trio.abc.Stream, piece: bytes, pause: float) -> None:
    try:
        while True:
            await stream.send_all(piece)
            await trio.sleep(pause)
    except trio.BrokenResourceError:
        pass


async def test_a_body_that_is_cut_off_adds_nothing(house: House) -> None:
    key = (await house.key()).encode()
    stream = await house.raw(
        b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        b"Authorization: Bearer " + key + b'\r\n\r\n{"url": "https://a.test/"}'
    )
    await stream.send_eof()  # type: ignore[attr-defined]  # a stapled stream has it
    answer = b"".join([bytes(piece) async for piece in stream])
    assert answer.startswith(b"HTTP/1.1 400 ") and not house.registry.seen


@given(st.binary(max_size=60))
def test_any_body_is_read_or_refused(raw: bytes) -> None:
    try:
        read_body(raw, "application/json", (Outer,))
    except Refusal as refusal:
        assert refusal.status == 400 and json.encode(refusal.document("http://x"))


@given(st.binary(max_size=60))
def test_any_query_is_read_or_refused(raw: bytes) -> None:
    try:
        read_query(raw, Params)
    except Refusal as refusal:
        assert refusal.status == 400 and json.encode(refusal.document("http://x"))


def test_the_fields_decide_which_of_two_bodies_is_meant() -> None:
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
def test_a_bad_query_parameter_is_named(query: bytes, location: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_query(query, Params)
    assert caught.value.errors[0].location == location


class Closed(Struct, forbid_unknown_fields=True):
    one: Literal["a", "b"] | None = None
    some: tuple[Annotated[Literal["feed", "html"], Meta(description="A tier.")], ...] = ()


@pytest.mark.parametrize(
    ("body", "location", "choices"),
    [
        (b'{"one": "c"}', "body.one", "a, b"),
        (b'{"some": ["feed", "rss"]}', "body.some[1]", "feed, html"),
    ],
)
def test_a_value_outside_a_closed_set_is_refused_with_the_allowed_values(
    body: bytes, location: str, choices: str
) -> None:
    with pytest.raises(Refusal) as caught:
        read_body(body, "application/json", (Closed,))
    (error,) = caught.value.errors
    assert (error.location, error.message.partition(": ")[2]) == (location, f"use one of {choices}")


def test_a_repeatable_parameter_keeps_its_order() -> None:
    assert read_query(b"tag=b&tag=a+c&n=2", Params) == Params(2, ("b", "a c"))


def test_a_long_value_is_shown_cut() -> None:
    with pytest.raises(Refusal) as caught:
        read_body(b'{"name": "' + b"x" * 10_000 + b'"}', "application/json", (Outer,))
    assert len(caught.value.errors[0].value) == 200


def test_every_kind_of_problem_has_its_page_in_words() -> None:
    for slug, kind in KINDS.items():
        assert 400 <= kind.status <= 599 and kind.says.endswith("."), slug
