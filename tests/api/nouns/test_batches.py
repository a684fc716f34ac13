"""Up to 20 URLs in one request: each gets its own result, in request order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import trio

from actors.errors import TooSoon, Unprocessable, UrlRefused
from api.nouns import sources as batches
from storage.errors import DiskFull
from tests.api.house import House


def url(name: object) -> str:
    return f"https://{name}.test/"


async def post(client: httpx.AsyncClient, *sources: dict[str, Any]) -> httpx.Response:
    return await client.post("/v1/sources", json={"sources": list(sources)}, headers={"Idempotency-Key": "batch"})


async def test_one_url_twice_is_added_by_the_first_that_names_it(house: House, client: httpx.AsyncClient) -> None:
    spellings = ["https://a.test/", "HTTPS://A.test:443/x/../", "https://a.test/#top", url("b")]
    sources = [{"url": spelling, "tags": [f"t:{number}"]} for number, spelling in enumerate(spellings)]
    asked: list[str] = []

    def handle(message: Any) -> Any:
        asked.append(message.new.url)
        return added(message)

    added, house.registry._handle = house.registry._handle, handle  # type: ignore[method-assign]
    answer = await post(client, *sources)
    assert [url for url in asked if "b.test" not in url] == spellings[:3], "one after the other"
    assert answer.json()["results"][0]["status"] == "created"
    assert [result["url"] for result in answer.json()["results"]] == spellings
    assert answer.json()["results"][0]["source"]["tags"] == ["t:0"]


async def test_a_failure_in_a_batch_is_at_its_place_and_spoils_no_other(
    house: House, client: httpx.AsyncClient
) -> None:
    house.registry.refusals |= {
        url("private"): UrlRefused("address-private", "It is private."),
        url("odd"): Unprocessable("body.hello: only a push source has it", "body.hello"),
        url("soon"): TooSoon("it was asked for just now", 7),
        url("full"): DiskFull("no room"),  # type: ignore[dict-item]  # storage errors reach the client unchanged
        url("bug"): ZeroDivisionError("ours"),  # type: ignore[dict-item]
    }

    def handle(message: Any) -> Any:
        if message.new.url in house.registry.refusals:
            message.reply.fail(house.registry.refusals[message.new.url])
            return None
        return added(message)

    added, house.registry._handle = house.registry._handle, handle  # type: ignore[method-assign]
    names = ["good", "private", "odd", "soon", "full", "bug", "fine"]
    answer = await post(client, *({"url": url(name)} for name in names), {"url": url("tag"), "tags": ["kind:x"]})
    results = answer.json()["results"]
    assert answer.status_code == 207
    assert [result["status"] for result in results] == ["created", *["failed"] * 5, "created", "failed"]
    slugs = [result["error"] and result["error"]["type"].rpartition("/")[2] for result in results]
    assert slugs[1:6] == ["url-refused", "unprocessable", "rate-limited", "unavailable", "internal"]
    assert results[2]["error"]["errors"][0]["location"] == "body.sources[2].hello"
    assert results[2]["error"]["detail"].startswith("body.sources[2].hello:")
    assert results[7]["error"]["errors"][0]["location"] == "body.sources[7].tags[0]"
    assert [name for name, _ in house.logs if name == "http.fault"] == ["http.fault"], "a bug is still told as one"


@pytest.mark.parametrize(
    ("sources", "location"),
    [
        ([], "body.sources"),
        ([{"url": url(n)} for n in range(21)], "body.sources"),
        ([{"url": url("a")}, {"url": url("b"), "x": 1}], "body.sources[1].x"),
        ([{"url": url("a")}, {"tags": []}], "body.sources[1].url"),
        ([{"url": url("a")}, {"url": 5}], "body.sources[1].url"),
        ([{"url": url("a"), "schedule": "10 minutes"}], "body.sources[0].schedule"),
        ([{"url": url("a"), "backfill": 51}], "body.sources[0].backfill"),
        ([5], "body.sources[0]"),
        ({}, "body.sources"),
    ],
)
async def test_an_invalid_batch_is_400_at_its_place_and_adds_nothing(
    house: House, client: httpx.AsyncClient, sources: Any, location: str
) -> None:
    answer = await client.post("/v1/sources", json={"sources": sources})
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, location)
    assert house.registry.seen == []


async def test_a_batch_is_bounded_in_bytes(client: httpx.AsyncClient) -> None:
    batch = [{"url": url(n), "ignore": ["x" * 1_000] * 50} for n in range(20)]
    assert (await client.post("/v1/sources", json={"sources": batch})).status_code == 413


async def test_few_are_under_way_at_once_and_begin_in_order(house: House, client: httpx.AsyncClient) -> None:
    under_way = most = 0

    async def ask(make: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            await trio.sleep(0.01)
            return await original(make)
        finally:
            under_way -= 1

    original = house.registry.mailbox.ask
    object.__setattr__(house.context, "registry", SimpleNamespace(ask=ask))
    answer = await post(client, *({"url": url(n)} for n in range(20)))
    begun = [message.new.url for message in house.registry.seen]
    assert answer.status_code == 201 and most == batches.AT_ONCE
    assert sorted(begun[: batches.AT_ONCE]) == sorted(url(n) for n in range(batches.AT_ONCE))


async def test_an_answer_comes_in_time_and_names_unknown_sources(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    """Each URL has a deadline, and so has the batch; a later call finds the URLs added since."""
    slow = [url(f"slow{n}") for n in range(2 * batches.AT_ONCE)]
    house.registry.silent.update(slow)
    start = trio.current_time()
    answer = await post(client, {"url": url("first")}, *({"url": each} for each in slow), {"url": url("last")})
    assert trio.current_time() - start == pytest.approx(batches.WITHIN)
    statuses = [result["status"] for result in answer.json()["results"]]
    assert (answer.status_code, statuses) == (207, ["created", *["timeout"] * 16, "timeout"])
    assert "repeat the request" in answer.json()["results"][1]["error"]["detail"]
    house.registry.silent.clear()
    async with house.stranger(Authorization=client.headers["Authorization"]) as again:
        answer = await post(again, {"url": url("first")}, *({"url": each} for each in slow), {"url": url("last")})
    assert "idempotency-replayed" not in answer.headers, "what was not known is no answer to be kept"
    assert (answer.status_code, answer.json()["results"][0]["status"]) == (201, "attached_existing")
