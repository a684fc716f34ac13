from __future__ import annotations

from typing import Any

import httpx
import pytest
import trio

from actors.messages.views import SourceView
from storage.records.destination import Hit
from storage.records.source import SourceRuntime
from tests.api.house import House
from tests.api.nouns.test_alerts import made
from tests.api.nouns.test_destinations import hooked
from tests.support.build import NOW, a_source

NOUNS = ("sources", "alerts", "destinations")
OTHER = '"000000000000000000000000"'


async def a_thing(house: House, client: httpx.AsyncClient, noun: str) -> str:
    """Return the path of a new source, alert or destination."""
    if noun == "sources":
        source = a_source()
        house.registry.views[source.id] = SourceView(source, SourceRuntime())
        return f"/v1/sources/{source.id}"
    record = await made(client) if noun == "alerts" else await hooked(client)
    return f"/v1/{noun}/{record['id']}"


@pytest.mark.parametrize("noun", NOUNS)
async def test_a_get_with_the_current_revision_is_304_until_an_edit(
    house: House, client: httpx.AsyncClient, noun: str
) -> None:
    path = await a_thing(house, client, noun)
    tag = (await client.get(path)).headers["etag"]
    assert tag.startswith('"') and tag.endswith('"'), "strong: If-Match compares no other"
    for known in (tag, f"W/{tag}", f"{OTHER}, {tag}", "*"):
        answer = await client.get(path, headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
        assert "content-type" not in answer.headers
    changed = await client.patch(path, json={"enabled": False})
    assert changed.status_code == 200 and changed.headers["etag"] != tag
    answer = await client.get(path, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.headers["etag"]) == (200, changed.headers["etag"])


@pytest.mark.parametrize("noun", NOUNS[1:])
async def test_a_change_that_changes_nothing_moves_neither_the_tag_nor_the_time(
    house: House, client: httpx.AsyncClient, noun: str, autojump_clock: object
) -> None:
    path = await a_thing(house, client, noun)
    before = await client.get(path)
    await trio.sleep(1)
    for nothing in ({}, {"enabled": True}):
        after = await client.patch(path, json=nothing)
        assert (after.status_code, after.headers["etag"], after.json()) == (200, before.headers["etag"], before.json())
    assert (await client.patch(path, json={"enabled": False})).json()["updated_at"] > before.json()["updated_at"]


async def test_figures_do_not_move_the_tag(house: House, client: httpx.AsyncClient) -> None:
    path = await a_thing(house, client, "alerts")
    tag = (await client.get(path)).headers["etag"]
    work, lease = house.storage.outbox, house.storage.lease
    await work.advance("matcher", None, house.storage.tail.head, [], lease, hits=[Hit(path[-36:], 3, NOW)])
    answer = await client.get(path)
    assert answer.json()["match_count"] == 3 and answer.headers["etag"] == tag


@pytest.mark.parametrize("noun", NOUNS)
async def test_the_second_editor_of_one_revision_gets_412(house: House, client: httpx.AsyncClient, noun: str) -> None:
    path = await a_thing(house, client, noun)
    tag = (await client.get(path)).headers["etag"]
    first = await client.patch(path, json={"enabled": False}, headers={"If-Match": tag})
    assert first.status_code == 200
    second = await client.patch(path, json={"enabled": True}, headers={"If-Match": tag})
    assert (second.status_code, second.json()["type"].rpartition("/")[2]) == (412, "precondition-failed")
    assert (await client.get(path)).json()["enabled"] is False
    gone = await client.delete(path, headers={"If-Match": tag})
    assert gone.status_code == 412 and (await client.get(path)).status_code == 200
    again = await client.patch(path, json={"enabled": True}, headers={"If-Match": first.headers["etag"]})
    assert again.status_code == 200
    assert (await client.delete(path, headers={"If-Match": f"{tag}, {again.headers['etag']}"})).status_code == 204


@pytest.mark.parametrize("noun", NOUNS)
async def test_any_revision_will_do_for_a_star_or_without_a_header(
    house: House, client: httpx.AsyncClient, noun: str
) -> None:
    path = await a_thing(house, client, noun)
    for headers in ({}, {"If-Match": "*"}):
        assert (await client.patch(path, json={"enabled": False}, headers=headers)).status_code == 200
    assert (await client.delete(path, headers={"If-Match": "*"})).status_code == 204
    assert (await client.patch(path, json={}, headers={"If-Match": "*"})).status_code == 404


@pytest.mark.parametrize("noun", NOUNS)
async def test_a_weak_tag_never_allows_a_change(house: House, client: httpx.AsyncClient, noun: str) -> None:
    path = await a_thing(house, client, noun)
    tag = (await client.get(path)).headers["etag"]
    assert (await client.patch(path, json={"enabled": False}, headers={"If-Match": f"W/{tag}"})).status_code == 412


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize("value", ["", "5b0e", '"a" "b"', '"a",', "w/'a'", '"a", *', '"', "**"])
async def test_an_invalid_list_of_tags_is_400(house: House, client: httpx.AsyncClient, header: str, value: str) -> None:
    path = await a_thing(house, client, "alerts")
    ask = (
        client.get(path, headers={header: value})
        if header == "If-None-Match"
        else client.delete(path, headers={header: value})
    )
    answer = await ask
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, f"header.{header}")


@pytest.mark.parametrize("noun", ["alerts", "destinations"])
async def test_exactly_one_of_many_concurrent_edits_succeeds(
    house: House, client: httpx.AsyncClient, noun: str
) -> None:
    path = await a_thing(house, client, noun)
    tag = (await client.get(path)).headers["etag"]
    statuses: list[int] = []

    async def edit(number: int) -> None:
        body: dict[str, Any] = {"name": f"editor {number}"} if noun == "alerts" else {"label": f"editor {number}"}
        statuses.append((await client.patch(path, json=body, headers={"If-Match": tag})).status_code)

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(edit, number)
    assert sorted(statuses) == [200] + [412] * 7


async def test_other_changes_of_a_thing_ask_for_the_revision_too(house: House, client: httpx.AsyncClient) -> None:
    source, hook = await a_thing(house, client, "sources"), await a_thing(house, client, "destinations")
    for path in (f"{source}/disable", f"{source}/enable", f"{hook}/rotate-secret"):
        assert (await client.post(path, headers={"If-Match": OTHER})).status_code == 412
        answer = await client.post(path)
        assert answer.status_code == 200 and answer.headers["etag"]


@pytest.mark.parametrize("noun", NOUNS)
async def test_a_created_record_comes_with_its_etag(house: House, client: httpx.AsyncClient, noun: str) -> None:
    if noun == "sources":
        answer = await client.post("/v1/sources", json={"url": "https://a.test/"})
        path = f"/v1/sources/{answer.json()['id']}"
    elif noun == "alerts":
        answer = await client.post("/v1/alerts", json={"filter_query": "price"})
        path = f"/v1/alerts/{answer.json()['id']}"
    else:
        alert = (await made(client))["id"]
        answer = await client.post(f"/v1/alerts/{alert}/destinations", json={"url": "https://hook.test/in"})
        path = f"/v1/destinations/{answer.json()['id']}"
    assert answer.headers["etag"] == (await client.get(path)).headers["etag"]
