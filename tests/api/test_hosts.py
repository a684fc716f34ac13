"""The names that the dashboard accepts, and HSTS (S13)."""

from __future__ import annotations

from contextlib import aclosing

import httpx
import pytest

from api.peers import is_ours, only_https
from tests.api.dashboard.browser import PASSWORD, signed_in
from tests.api.house import House, make_house, running

EVIL = {"Host": "rebound.evil.test:8080", "Origin": "http://rebound.evil.test:8080"}


async def test_x13_s13_an_unknown_host_name_is_refused(house: House) -> None:
    """The browser takes the service for the attacker's own site, so Host and Origin agree."""
    browser = await signed_in(house)
    async with aclosing(browser.client) as client:
        await browser.get("/settings")
        token = browser.token
        for path in ("/sign-in", "/", "/keys", "/set-up", "/no-such-page"):
            assert (await client.get(path, headers={**EVIL, "Accept": "text/html"})).status_code == 403
        for path, form in (("/sign-in", {"password": PASSWORD}), ("/keys/new", {"name": "x", "scopes": "admin"})):
            answer = await client.post(path, data={"token": token, **form}, headers=EVIL)
            assert answer.status_code == 403 and "set-cookie" not in answer.headers
        assert await house.storage.keys.all() == []
        assert (await client.get("/keys")).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "192.168.1.5", "[::1]:8080", "localhost:8080", "Sanderling.TEST"])
async def test_s13_addresses_localhost_and_the_name_of_the_service_are_taken(house: House, host: str) -> None:
    async with house.stranger() as stranger:
        assert (await stranger.get("/sign-in", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    ("host", "base_url", "taken"),
    [
        ("watch.test", "https://watch.test/", True),
        ("watch.test.:443", "https://watch.test", True),
        ("watch.test.evil.test", "https://watch.test", False),
        ("nas", "https://watch.test", False),
        ("nas:8080", "", True),
        ("nas.local:8080", "", True),
        ("box.home.arpa", "", True),
        ("bound.test", "", True),
        ("evil.test", "", False),
        ("127.0.0.1.evil.test", "", False),
        ("", "", False),
        ("[::1", "", False),
        ("me@localhost", "", False),
        ("evil.test/localhost", "", False),
    ],
)
def test_s13_each_name_is_taken_or_not(host: str, base_url: str, taken: bool) -> None:
    assert is_ours(host, base_url, "bound.test") is taken


async def test_s13_behind_https_every_response_has_hsts(autojump_clock: object) -> None:
    async with running(make_house(base_url="https://sanderling.test")) as house, house.stranger() as stranger:
        for path in ("/healthz", "/v1/sources", "/sign-in", "/keys", "/no-such-thing"):
            answer = await stranger.get(path)
            assert answer.headers["Strict-Transport-Security"] == "max-age=31536000", path


async def test_s13_over_http_and_on_localhost_no_hsts_header_is_sent(client: httpx.AsyncClient) -> None:
    assert "Strict-Transport-Security" not in (await client.get("/healthz")).headers
    assert only_https("https://localhost:8443") == only_https("http://watch.test") == {}
