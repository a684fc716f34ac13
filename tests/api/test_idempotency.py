"""Repeated calls with one Idempotency-Key create one record."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import trio

from actors.messages.views import TestResult as Result
from extras.cluster.members.membership import SharedOwnership
from storage.errors import Unavailable
from storage.records.member import Member, View
from supervision import Mailbox
from tests.api.house import House
from tests.api.nouns.test_alerts import made
from tests.api.nouns.test_destinations import HOOK, hooked

PRICE = {"filter_query": "price"}
DAY = 86_400


def under(name: str) -> dict[str, str]:
    return {"Idempotency-Key": name}


async def post(client: httpx.AsyncClient, path: str, body: Any = None, name: str = "once") -> httpx.Response:
    return await client.post(path, json=body, headers=under(name))


async def everything(client: httpx.AsyncClient) -> list[str]:
    """Return the ids of all records."""
    paths = ("/v1/sources", "/v1/alerts", "/v1/destinations", "/v1/webhook-bins")
    return [each["id"] for path in paths for each in (await client.get(path)).json()]


async def calls_of(house: House, client: httpx.AsyncClient) -> dict[str, Any]:
    """Return the path and body of one repeatable call of each kind."""
    hook = (await hooked(client))["id"]
    box: Mailbox[Any] = Mailbox("hook", 8)
    house.destinations[hook] = box
    alert = (await made(client))["id"]
    return {
        "source": ("/v1/sources", {"url": "https://a.test/"}),
        "batch": ("/v1/sources", {"sources": [{"url": "https://b.test/"}]}),
        "alert": ("/v1/alerts", PRICE),
        "destination": (f"/v1/alerts/{alert}/destinations", HOOK),
        "secret": (f"/v1/destinations/{hook}/rotate-secret", None),
        "replay": (f"/v1/destinations/{hook}/replay", {"since": "2000-01-01T00:00:00Z"}),
        "bin": ("/v1/webhook-bins", None),
    }


KINDS = ("source", "batch", "alert", "destination", "secret", "replay", "bin")


@pytest.fixture
async def client(house: House) -> Any:
    async with await house.client(
        *("stream:read", "sources:read", "sources:write", "alerts:read", "alerts:write", "bins:read", "bins:write")
    ) as client:
        yield client


@pytest.mark.parametrize("kind", KINDS)
async def test_a_repeat_gets_the_same_answer_and_makes_nothing(
    house: House, client: httpx.AsyncClient, kind: str
) -> None:
    path, body = (await calls_of(house, client))[kind]
    first = await post(client, path, body)
    assert first.status_code < 300 and "idempotency-replayed" not in first.headers
    there = await everything(client)
    again = await post(client, path, body)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    for name in ("location", "etag", "content-type"):
        assert again.headers.get(name) == first.headers.get(name)
    assert await everything(client) == there
    other = await post(client, path, body, "another key")
    assert "idempotency-replayed" not in other.headers


async def test_a_test_delivery_is_sent_once(house: House, client: httpx.AsyncClient, nursery: trio.Nursery) -> None:
    hook = (await hooked(client))["id"]
    box: Mailbox[Any] = Mailbox("hook", 8)
    house.destinations[hook] = box
    sent = 0

    async def send() -> None:
        nonlocal sent
        while True:
            message = await box.receive()
            sent += 1
            message.reply.answer(Result("sent", 200, sent, "OK"))

    nursery.start_soon(send)
    answers = [(await post(client, f"/v1/destinations/{hook}/test")).json() for _ in range(3)]
    assert sent == 1 and answers[0] == answers[1] == answers[2]


async def test_another_call_under_the_same_key_is_422(house: House, client: httpx.AsyncClient) -> None:
    await post(client, "/v1/alerts", PRICE)
    for path, body in (("/v1/alerts", {"filter_query": "plan"}), ("/v1/sources", {"url": "https://a.test/"})):
        answer = await post(client, path, body)
        assert (answer.status_code, answer.json()["errors"][0]["location"]) == (422, "header.Idempotency-Key")
    assert len(await everything(client)) == 1


async def test_a_key_means_something_under_its_api_key_only(house: House, client: httpx.AsyncClient) -> None:
    first = await post(client, "/v1/alerts", PRICE)
    async with await house.client() as other:
        second = await post(other, "/v1/alerts", PRICE)
    assert second.status_code == 201 and second.json()["id"] != first.json()["id"]


@pytest.mark.parametrize("name", ["", "a b", "x" * 256, "ö".encode().decode("latin-1"), "a\tb"])
async def test_an_invalid_idempotency_key_is_400(house: House, client: httpx.AsyncClient, name: str) -> None:
    answer = await client.post("/v1/alerts", json=PRICE, headers=[("Idempotency-Key", name.encode("latin-1"))])
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, "header.Idempotency-Key")
    assert await everything(client) == []


async def test_two_keys_are_one_too_many(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/alerts", json=PRICE, headers=[("Idempotency-Key", "a"), ("Idempotency-Key", "b")])
    assert answer.status_code == 400


def twin(house: House, client: httpx.AsyncClient) -> httpx.AsyncClient:
    return house.stranger(Authorization=client.headers["Authorization"])


async def test_a_repeat_gets_409_with_retry_after_while_the_first_call_runs(
    house: House, client: httpx.AsyncClient, nursery: trio.Nursery
) -> None:
    house.matcher.gate = trio.Event()
    nursery.start_soon(post, client, "/v1/alerts", PRICE)
    await house.matcher.asked.wait()
    async with twin(house, client) as other:
        answer = await post(other, "/v1/alerts", PRICE)
        assert (answer.status_code, answer.headers["retry-after"]) == (409, "1")
        assert (await post(other, "/v1/alerts", {"filter_query": "plan"})).status_code == 422
    house.matcher.gate.set()


async def test_a_call_runs_to_its_end_when_its_client_has_gone_and_the_repeat_gets_its_answer(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    house.matcher.gate = trio.Event()
    with trio.move_on_after(1):
        await post(client, "/v1/alerts", PRICE)
    house.matcher.gate.set()
    await trio.sleep(1)
    async with twin(house, client) as other:
        answer = await post(other, "/v1/alerts", PRICE)
        assert (answer.status_code, answer.headers.get("idempotency-replayed")) == (201, "true")
        assert await everything(other) == [answer.json()["id"]]


async def test_after_a_day_it_is_a_new_call(house: House, client: httpx.AsyncClient, autojump_clock: object) -> None:
    replayed = []
    for wait in (0, DAY - 60, 120):
        await trio.sleep(wait)
        async with twin(house, client) as each:
            replayed.append((await post(each, "/v1/alerts", PRICE)).headers.get("idempotency-replayed"))
    assert replayed == [None, "true", None]
    async with twin(house, client) as last:
        assert len(await everything(last)) == 2


async def test_a_call_that_was_refused_leaves_its_key_free(house: House, client: httpx.AsyncClient) -> None:
    assert (await post(client, "/v1/alerts", {"filter_query": "price", "language": "xx"})).status_code == 422
    assert (await post(client, "/v1/alerts", PRICE)).status_code == 201


@pytest.mark.parametrize("kind", ["source", "alert", "destination", "bin"])
async def test_a_crash_between_the_effect_and_its_answer_makes_no_second_thing(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The answer and the memory of running calls are lost; only stored data remains."""
    path, body = (await calls_of(house, client))[kind]

    async def lost(*args: Any) -> None:
        raise Unavailable("crashed")

    with monkeypatch.context() as patch:
        patch.setattr(house.storage.calls, "finish", lost)
        first = await post(client, path, body)
    there = await everything(client)
    again = await post(client, path, body)
    assert again.status_code in (200, 201) and "idempotency-replayed" not in again.headers
    assert again.json()["id"] == first.json()["id"] and await everything(client) == there
    if kind == "destination":
        assert again.json()["secret"].startswith("whsec_"), "a secret that nobody has seen is replaced by one"
        stored = await house.storage.alerts.destination(again.json()["id"])
        assert stored is not None and [each.value for each in stored.secrets] == [again.json()["secret"]]
    assert (await post(client, path, body)).content == again.content


async def test_a_call_with_an_unknown_end_is_repeated(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    house.matcher.silent = True
    assert (await post(client, "/v1/alerts", PRICE)).status_code == 503
    house.matcher.silent = False
    async with twin(house, client) as other:
        answer = await post(other, "/v1/alerts", PRICE)
        assert answer.status_code == 201 and await everything(other) == [answer.json()["id"]]


async def test_the_stored_answer_reveals_nothing(house: House, client: httpx.AsyncClient) -> None:
    secret = (await post(client, f"/v1/alerts/{(await made(client))['id']}/destinations", HOOK, "my-key")).json()[
        "secret"
    ]
    (kept,) = [str(row).encode() for row in house.storage.disk.connection.execute("SELECT * FROM call")]
    for word in (secret, "whsec_", "hook.test", "my-key", client.headers["Authorization"].split()[1]):
        assert word.encode() not in kept


async def test_a_full_disk_is_503_and_nothing_is_made(house: House, client: httpx.AsyncClient) -> None:
    house.storage.disk.full = True
    answer = await post(client, "/v1/alerts", PRICE)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    house.storage.disk.full = False
    assert await everything(client) == []
    assert (await post(client, "/v1/alerts", PRICE)).status_code == 201


async def test_reading_requests_ignore_the_idempotency_key(house: House, client: httpx.AsyncClient) -> None:
    alert = (await made(client))["id"]
    for name in ("a", "b"):
        answer = await client.patch(f"/v1/alerts/{alert}", json={"name": name}, headers=under("one key"))
        assert answer.json()["name"] == name


async def test_many_repeats_at_once_make_one_thing(house: House, client: httpx.AsyncClient) -> None:
    statuses: list[int] = []

    async def again() -> None:
        async with twin(house, client) as other:
            statuses.append((await post(other, "/v1/alerts", PRICE)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(again)
    assert 201 in statuses and set(statuses) <= {201, 409}
    assert len(await everything(client)) == 1


async def test_a_call_that_runs_at_another_node_is_409_and_is_taken_up_once_that_node_is_gone(
    house: House, client: httpx.AsyncClient
) -> None:
    first = await post(client, "/v1/alerts", PRICE)
    house.storage.disk.connection.execute("UPDATE call SET node='b', answer=NULL")
    both = (Member("a", inside=True), Member("b", inside=True))
    ownership = house.storage.ownership = SharedOwnership("a")
    ownership.take(View(1, 0.0, both))
    again = await post(client, "/v1/alerts", PRICE)
    assert (again.status_code, again.headers["retry-after"]) == (409, "1")
    ownership.take(View(2, 0.0, both[:1]))
    assert (await post(client, "/v1/alerts", PRICE)).status_code == 201
    assert await everything(client) == [first.json()["id"]]


async def test_a_call_that_ended_with_503_at_one_node_is_run_by_another(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    both, ownership = (Member("a", inside=True), Member("b", inside=True)), SharedOwnership("b")
    house.storage.ownership = ownership
    ownership.take(View(1, 0.0, both))
    house.matcher.silent = True
    assert (await post(client, "/v1/alerts", PRICE)).status_code == 503
    house.matcher.silent = False
    ownership.me = "a"
    answer = await post(client, "/v1/alerts", PRICE)
    assert answer.status_code == 201 and await everything(client) == [answer.json()["id"]]
