"""Publications over the API: create, list, edit, change the address, delete; and refusals."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from storage.records.publication import MOST_PUBLICATIONS
from tests.api.house import BASE_URL, House
from tests.api.nouns.test_alerts import made
from tests.storage.contract.builders import a_publication
from tests.support.build import a_source_id

PATH = "/v1/publications"
SCOPES = ("publications:read", "publications:write", "stream:read")
NO_ID = "019db0a4-a060-7000-8000-0000000000f1"


async def test_a_publication_has_every_field_and_is_listed_read_changed_and_deleted(
    house: House, client: httpx.AsyncClient
) -> None:
    await house.publish("one")
    alert = await made(client)
    asked: dict[str, Any] = {
        "title": " Prices\n of all ",
        "source_ids": [a_source_id(1).upper()],
        "tags": ["prices"],
        "alert_ids": [alert["id"].upper(), alert["id"]],
    }
    answer = await client.post(PATH, json=asked)
    record = answer.json()
    assert answer.status_code == 201 and answer.headers["location"] == f"{BASE_URL}{PATH}/{record['id']}"
    url = record["url"]
    assert url.startswith(f"{BASE_URL}/published/") and len(url.rpartition("/")[2]) == 32
    assert record == {
        "id": record["id"],
        "title": "Prices of all",
        "source_ids": [a_source_id(1)],
        "tags": ["prices"],
        "channel": None,
        "alert_ids": [alert["id"]],
        "private_source_ids": [],
        "ends_on": None,
        "url": url,
        "feeds": {"atom": f"{url}.atom", "rss": f"{url}.rss", "json": f"{url}.json"},
        "created_at": record["created_at"],
        "updated_at": record["created_at"],
        "revision": answer.headers["ETag"].strip('"'),
        "updated_by": "test",
        "managed": None,
    }
    path = f"{PATH}/{record['id']}"
    assert (await client.get(path)).json() == record
    assert (await client.get(PATH)).json() == [record]
    changed = await client.patch(path, json={"title": "All", "tags": [], "alert_ids": [], "channel": "feed"})
    expected = record | {"title": "All", "tags": [], "alert_ids": [], "channel": "feed"}
    revised = {"updated_at": changed.json()["updated_at"], "revision": changed.headers["ETag"].strip('"')}
    assert changed.json() == expected | revised
    assert (await client.patch(path, json={"channel": None})).json()["channel"] is None
    assert (await client.delete(path)).status_code == 204
    for method, where in (("GET", path), ("PATCH", path), ("DELETE", path), ("POST", f"{path}/address")):
        answer = await client.request(method, where, json={} if method == "PATCH" else None)
        assert answer.status_code == 404 and "no such publication" in answer.text, method


async def test_a_list_goes_on_behind_a_cursor(client: httpx.AsyncClient) -> None:
    ids = [(await client.post(PATH, json={"title": str(n)})).json()["id"] for n in range(5)]
    first = await client.get(f"{PATH}?limit=3")
    rest = await client.get(first.links["next"]["url"])
    assert sorted(each["id"] for each in first.json() + rest.json()) == sorted(ids) and len(first.json()) == 3


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({}, 400, "title"),
        ({"title": ""}, 400, "title"),
        ({"title": "\u202e \n"}, 422, "at least one letter"),
        ({"title": "x" * 201}, 400, "title"),
        ({"title": "x", "source_ids": ["nonsense"]}, 400, "source_ids"),
        ({"title": "x", "source_ids": [a_source_id(9)]}, 422, "there is no source"),
        ({"title": "x", "alert_ids": ["nonsense"]}, 400, "not the id of an alert"),
        ({"title": "x", "alert_ids": [NO_ID]}, 422, "there is no alert"),
        ({"title": "x", "channel": "nowhere"}, 422, "no channel of this name"),
        ({"title": "x", "channel": "feed", "alert_ids": [NO_ID]}, 422, "alerts or a channel, not both"),
        ({"title": "x", "tags": [""]}, 400, "tags"),
        ({"title": "x", "tags": ["t"] * 51}, 400, "tags"),
        ({"title": "x", "ends_on": "tomorrow"}, 400, "ends_on"),
        ({"title": "x", "ends_on": "2026-02-30"}, 422, "no such day"),
        ({"title": "x", "private": True}, 400, "private"),
    ],
)
async def test_a_contradiction_is_refused_with_a_sentence(
    client: httpx.AsyncClient, asked: dict[str, Any], status: int, words: str
) -> None:
    answer = await client.post(PATH, json=asked)
    assert answer.status_code == status and words in answer.text, answer.text
    assert (await client.get(PATH)).json() == []
    record = (await client.post(PATH, json={"title": "there"})).json()
    if asked:
        patched = await client.patch(f"{PATH}/{record['id']}", json=asked)
        assert patched.status_code == status and words in patched.text, patched.text
        assert (await client.get(PATH)).json() == [record]


async def test_there_is_an_end_to_how_many_publications_there_may_be(house: House, client: httpx.AsyncClient) -> None:
    for number in range(MOST_PUBLICATIONS):
        await house.storage.publications.put(a_publication(f"p{number}"))
    answer = await client.post(PATH, json={"title": "one too many"})
    assert answer.status_code == 409 and "delete one first" in answer.json()["detail"]


async def test_a_repeated_call_publishes_once(client: httpx.AsyncClient) -> None:
    answers = [await client.post(PATH, json={"title": "once"}, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json() and len((await client.get(PATH)).json()) == 1


async def test_publishing_needs_the_scope_that_reads_the_events(house: House) -> None:
    async with await house.client(*SCOPES) as whole:
        record = (await whole.post(PATH, json={"title": "x"})).json()
    path = f"{PATH}/{record['id']}"
    async with await house.client("publications:read") as reader, await house.client("publications:write") as writer:
        assert (await reader.get(path)).json() == record
        assert (await reader.delete(path)).status_code == 403
        assert (await writer.get(path)).status_code == 403
        for method, where, body in (
            ("POST", PATH, {"title": "y"}),
            ("PATCH", path, {"title": "y"}),
            ("POST", f"{path}/address", None),
        ):
            answer = await writer.request(method, where, json=body)
            assert answer.status_code == 403 and "stream:read" in answer.text, where
        assert (await writer.delete(path)).status_code == 204


async def test_without_its_token_a_publication_says_so_and_gets_another(
    house: House, client: httpx.AsyncClient
) -> None:
    """This happens after the master key is lost."""
    await house.storage.publications.put(a_publication(NO_ID, token=None))
    record = (await client.get(f"{PATH}/{NO_ID}")).json()
    assert (record["url"], record["feeds"]) == (None, None)
    async with house.stranger() as reader:
        assert (await reader.get(f"/published/token of {NO_ID}")).status_code == 200
        again = (await client.post(f"{PATH}/{NO_ID}/address")).json()
        assert (await reader.get(again["url"])).status_code == 200
        assert (await reader.get(f"/published/token of {NO_ID}")).status_code == 404


async def test_the_second_editor_of_one_revision_gets_412(client: httpx.AsyncClient) -> None:
    made = await client.post(PATH, json={"title": "there"})
    path, tag = f"{PATH}/{made.json()['id']}", made.headers["etag"]
    assert (await client.get(path, headers={"If-None-Match": tag})).status_code == 304
    moved = await client.post(f"{path}/address")
    assert moved.headers["etag"] == tag, "another address collides with no edit"
    changed = await client.patch(path, json={"title": "mine"}, headers={"If-Match": tag})
    assert changed.status_code == 200 and changed.headers["etag"] != tag
    for method in ("PATCH", "DELETE"):
        body = {"title": "yours"} if method == "PATCH" else None
        assert (await client.request(method, path, json=body, headers={"If-Match": tag})).status_code == 412
    assert (await client.get(path)).json()["title"] == "mine"
