"""Compression: only for the few bodies that are the same for every client."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import pytest
from werkzeug.datastructures import Headers

from api.dashboard.rendering import asset
from api.etags import LEAST, fitting
from tests.api.house import House, make_house, running


@pytest.fixture
async def house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house(cors_origins=("https://app.example",))) as house:
        yield house


@pytest.mark.parametrize("accepts", ["gzip", "br, gzip;q=0.5", "*"])
def test_a_reader_that_accepts_gzip_gets_it(accepts: str) -> None:
    body = b"a sentence. " * LEAST
    found, headers = fitting(body, Headers({"Accept-Encoding": accepts}))
    assert headers == {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    assert gzip.decompress(found) == body and len(found) < len(body) / 10


@pytest.mark.parametrize("accepts", ["", "br", "gzip;q=0", "identity", "gzip;q=nonsense"])
def test_other_readers_get_the_plain_body_and_caches_a_vary_header(accepts: str) -> None:
    body = b"a sentence. " * LEAST
    assert fitting(body, Headers({"Accept-Encoding": accepts})) == (body, {"Vary": "Accept-Encoding"})


def test_a_short_body_stays_as_it_is() -> None:
    assert fitting(b"short", Headers({"Accept-Encoding": "gzip"})) == (b"short", {})


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/docs/style.css", asset("dashboard.js").url])
async def test_public_answers_are_compressed(house: House, path: str) -> None:
    async with house.stranger() as reader:
        plain = await reader.get(path, headers={"Accept-Encoding": "identity", "Origin": "https://app.example"})
        packed = await reader.get(path, headers={"Accept-Encoding": "gzip", "Origin": "https://app.example"})
    assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "gzip"
    assert plain.content == packed.content  # the client has decompressed it
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert "Accept-Encoding" in plain.headers["vary"] and "Accept-Encoding" in packed.headers["vary"]


async def test_answers_with_secrets_are_not_compressed(house: House) -> None:
    async with await house.client() as client:
        for path in ("/v1/sources", "/v1/keys", "/v1/events", "/v1/destination-kinds"):
            answer = await client.get(path, headers={"Accept-Encoding": "gzip"})
            assert answer.status_code in (200, 404) and "content-encoding" not in answer.headers, path
