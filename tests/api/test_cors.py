"""Pages of other origins: the operator's origins may read, no others, and no page gets a key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import httpx
import pytest

from actors.settings import Settings
from api.peers import SEEN, SENT
from tests.api.house import House, make_house, running
from tests.api.listening import listening

APP, OTHER = "https://app.example", "https://other.example"


@pytest.fixture
async def open_house(autojump_clock: object) -> AsyncIterator[House]:
    async with running(make_house(cors_origins=(APP, "http://localhost:5173"))) as house:
        yield house


async def ask_first(house: House, path: str, origin: str, method: str = "GET") -> httpx.Response:
    """Send the preflight that a browser sends before a request with a key."""
    headers = {"Origin": origin, "Access-Control-Request-Method": method}
    headers["Access-Control-Request-Headers"] = "authorization,last-event-id"
    async with house.stranger() as browser:
        return await browser.request("OPTIONS", path, headers=headers)


def said(answer: httpx.Response) -> Mapping[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control")}


async def test_a_named_origin_may_ask_first_and_needs_no_key_for_it(open_house: House) -> None:
    for origin in (APP, "http://localhost:5173"):
        answer = await ask_first(open_house, "/v1/sources", origin)
        assert (answer.status_code, answer.content) == (204, b"")
        assert said(answer) == {
            "access-control-allow-origin": origin,
            "access-control-allow-methods": "GET, HEAD, POST",
            "access-control-allow-headers": ", ".join(SENT),
            "access-control-max-age": "7200",
            "access-control-expose-headers": ", ".join(SEEN),
        }
        assert answer.headers["vary"] == "Origin"


async def test_the_requested_origin_is_not_reflected(open_house: House) -> None:
    answer = await ask_first(open_house, "/v1/sources/x", APP, "BREW")
    assert answer.headers["access-control-allow-methods"] == "DELETE, GET, HEAD, PATCH"
    assert (await ask_first(open_house, "/v1/nothing", APP)).status_code == 404


@pytest.mark.parametrize(
    "origin", [OTHER, "null", "*", APP + ".evil.test", "https://APP.example", "http://app.example", APP + ":8443", ""]
)
async def test_another_origin_gets_no_cors_headers_so_its_browser_hides_the_answer(
    open_house: House, origin: str
) -> None:
    answer = await ask_first(open_house, "/v1/sources", origin)
    assert (answer.status_code, said(answer)) == (405, {})
    async with await open_house.client() as client:
        answer = await client.get("/v1/sources", headers={"Origin": origin})
        assert (answer.status_code, said(answer), answer.headers["vary"]) == (200, {}, "Origin")


async def test_two_origins_are_none(open_house: House) -> None:
    async with open_house.stranger() as client:
        headers = [("Origin", APP), ("Origin", OTHER)]
        assert said(await client.get("/openapi.json", headers=headers)) == {}


async def test_answers_problems_and_streams_can_be_read_and_no_cookie_counts(open_house: House) -> None:
    async with await open_house.client() as client:
        good = await client.get("/v1/sources", headers={"Origin": APP})
        bad = await client.get("/v1/sources?x=1", headers={"Origin": APP})
    async with open_house.stranger() as client:
        without_key = await client.get("/v1/sources", headers={"Origin": APP, "Cookie": "session=x"})
    assert (good.status_code, bad.status_code, without_key.status_code) == (200, 400, 401)
    for answer in (good, bad, without_key):
        assert answer.headers["access-control-allow-origin"] == APP
        assert "access-control-allow-credentials" not in answer.headers
    async with listening(open_house, Origin=APP) as stream:
        assert stream.headers["access-control-allow-origin"] == APP


async def test_without_the_setting_no_cors_header_is_sent(house: House) -> None:
    answer = await ask_first(house, "/v1/sources", APP)
    assert (answer.status_code, said(answer), "vary" in answer.headers) == (405, {}, False)


async def test_a_preflight_counts_against_the_limit_of_unauthenticated_clients(open_house: House) -> None:
    answer = await ask_first(open_house, "/v1/sources", APP)
    assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("100", "99")


@pytest.mark.parametrize(
    "origin",
    [
        *("*", "null", "https://*.example", "https://app.example/", "https://App.example", "app.example", ""),
        *("https://app.example:443", "http://app.example:80", "ftp://app.example", "https://u@app.example"),
    ],
)
def test_only_exact_origins_can_be_set(origin: str) -> None:
    with pytest.raises(ValueError, match="cors_origins"):
        Settings(cors_origins=(origin,))


def test_ports_and_addresses_can_be_set() -> None:
    origins = ("http://localhost:5173", "https://[::1]:8443", "http://127.0.0.1:443", "https://a:80")
    assert Settings(cors_origins=origins).cors_origins == origins
