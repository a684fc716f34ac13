from __future__ import annotations

import httpx
import pytest

from api.nouns.keys import WRONG
from tests.api.house import House

HEADERS = "Cookie: id=42"
SECRET = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ=="


async def same(client: httpx.AsyncClient, *supposed: tuple[str, str, str, str]) -> list[bool]:
    asked = [dict(zip(("of", "id", "name", "value"), one, strict=True)) for one in supposed]
    answer = await client.post("/v1/secrets/compare", json={"secrets": asked})
    assert answer.status_code == 200, answer.text
    found: list[bool] = answer.json()["same"]
    return found


async def test_secrets_are_compared_and_never_shown(client: httpx.AsyncClient) -> None:
    source = (await client.post("/v1/sources", json={"url": "https://a.test/", "headers": HEADERS})).json()["id"]
    alert = (await client.post("/v1/alerts", json={"filter_query": "price"})).json()["id"]
    path = f"/v1/alerts/{alert}/destinations"
    hook = (await client.post(path, json={"url": "https://hook.test/in", "secret": SECRET})).json()["id"]
    address = "https://hooks.slack.com/services/T000/B000/XXXX"
    chat = (await client.post(path, json={"kind": "slack", "url": address})).json()["id"]
    token = {"kind": "ntfy", "options": {"topic": "prices-k3f9x2", "token": "tk_1234567"}}
    phone = (await client.post(path, json=token)).json()["id"]
    right = [
        ("source", source, "headers", HEADERS),
        ("destination", hook, "secret", SECRET),
        ("destination", chat, "url", address),
        ("destination", phone, "token", "tk_1234567"),
    ]
    assert await same(client, *right) == [True] * 4
    assert await same(client, *((of, id, name, f"{value}x") for of, id, name, value in right)) == [False] * 4


async def test_a_missing_secret_never_compares_equal(client: httpx.AsyncClient) -> None:
    source = (await client.post("/v1/sources", json={"url": "https://a.test/"})).json()["id"]
    asked = [("source", source, "headers", ""), ("source", source, "url", "https://a.test/")]
    asked += [("destination", source, "secret", "x")]
    assert await same(client, *asked) == [False] * 3
    one = {"of": "source", "id": "no id", "name": "headers", "value": "x"}
    refused = await client.post("/v1/secrets/compare", json={"secrets": [one]})
    assert (refused.status_code, refused.json()["errors"][0]["location"]) == (400, "body.secrets[0].id")


async def test_x20_trying_many_values_is_slowed_down_and_the_right_one_is_not(client: httpx.AsyncClient) -> None:
    source = (await client.post("/v1/sources", json={"url": "https://a.test/", "headers": HEADERS})).json()["id"]
    for _ in range(WRONG.burst // 100):
        assert await same(client, *[("source", source, "headers", "wrong")] * 100) == [False] * 100
    wrong = {"of": "source", "id": source, "name": "headers", "value": "wrong"}
    answer = await client.post("/v1/secrets/compare", json={"secrets": [wrong]})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
    assert await same(client, *[("source", source, "headers", HEADERS)] * 100) == [True] * 100


@pytest.mark.parametrize("scopes", [("sources:write",), ("alerts:write",), ("sources:read", "alerts:read")])
async def test_comparing_a_secret_needs_the_scope_to_set_it(house: House, scopes: tuple[str, ...]) -> None:
    async with await house.client(*scopes) as client:
        asked = {"of": "source", "id": "x", "name": "headers", "value": "x"}
        assert (await client.post("/v1/secrets/compare", json={"secrets": [asked]})).status_code == 403
