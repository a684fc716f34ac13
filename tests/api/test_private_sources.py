"""Faces finding 1: what a private source reports is on no outward face until somebody includes the source by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import pytest
import trio

from tests.api.house import House
from tests.api.listening import listening
from tests.api.v1.test_alerts import made
from tests.support.build import a_source_id

OPEN, MEMBERS = 1, 2
SECRET = "Tariff for members"
Face = Callable[[House, httpx.AsyncClient, bool], Awaitable[str]]
"""Shows what is there. The bool: whether somebody has included the private source by name."""


def publication(ending: str) -> Face:
    async def shown(house: House, owner: httpx.AsyncClient, named: bool) -> str:
        body = {"title": "All", "private_source_ids": [a_source_id(MEMBERS)] if named else []}
        record = (await owner.post("/v1/publications", json=body)).json()
        async with house.stranger() as reader:
            return (await reader.get(record["feeds"][ending] if ending else record["url"])).text

    return shown


async def one_event(house: House, owner: httpx.AsyncClient, named: bool) -> str:
    body = {"title": "All", "source_ids": [a_source_id(MEMBERS)] if named else []}
    record = (await owner.post("/v1/publications", json=body)).json()
    events = (await owner.get("/v1/events")).json()["events"]
    async with house.stranger() as reader:
        return "".join([(await reader.get(f"{record['url']}/{one['id']}")).text for one in events])


async def older_page(house: House, owner: httpx.AsyncClient, named: bool) -> str:
    body = {"title": "All", "private_source_ids": [a_source_id(MEMBERS)] if named else []}
    record = (await owner.post("/v1/publications", json=body)).json()
    await house.publish("Newest")
    events = (await owner.get("/v1/events")).json()["events"]
    async with house.stranger() as reader:
        return (await reader.get(record["url"], params={"before": events[-1]["id"]})).text


async def channel_of_an_alert(house: House, owner: httpx.AsyncClient, named: bool) -> str:
    name = f"tariffs-{named}".lower()
    ids = [a_source_id(OPEN), a_source_id(MEMBERS)] if named else []
    await made(owner, filter_query="tariff", channel=name, source_ids=ids)
    return await heard(house, name)


async def heard(house: House, channel: str) -> str:
    """Return what a key for one channel hears of it."""
    titles: list[str] = []
    key = await house.key(f"stream:read:{channel}")
    async with listening(house, f"/v1/streams/{channel}?since=earliest", key=key) as stream:
        with trio.move_on_after(5):
            while event := await stream.event():
                titles.append(event["title"])
    return "\n".join(titles)


async def mcp(house: House, owner: httpx.AsyncClient, named: bool) -> str:
    call = {"name": "changes_since", "arguments": {"source": a_source_id(MEMBERS)} if named else {}}
    asks = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Accept": "application/json, text/event-stream"}
    return (await owner.post("/mcp", json=asks, headers=headers)).text


def history(path: str) -> Face:
    async def shown(house: House, owner: httpx.AsyncClient, named: bool) -> str:
        asks = {"private": "false"} | ({"source": a_source_id(MEMBERS)} if named else {})
        return (await owner.get(path, params=asks)).text

    return shown


FACES: dict[str, Face] = {
    "page": publication(""),
    "older page": older_page,
    "atom": publication("atom"),
    "rss": publication("rss"),
    "json feed": publication("json"),
    "event page": one_event,
    "channel of an alert": channel_of_an_alert,
    "agents": mcp,
    "history": history("/v1/events"),
}


@pytest.mark.parametrize("face", FACES)
async def test_a_private_source_is_on_no_face_until_it_is_included_by_name(house: House, face: str) -> None:
    await house.publish("Tariff for all", source=OPEN)
    await house.publish(SECRET, source=MEMBERS)
    house.private.add(a_source_id(MEMBERS))
    async with await house.client() as owner:
        assert SECRET not in await FACES[face](house, owner, False)
        assert SECRET in await FACES[face](house, owner, True)


async def test_a_channel_of_the_service_is_heard_without_private_sources(house: House) -> None:
    await house.publish("Tariff for all", source=OPEN)
    await house.publish(SECRET, source=MEMBERS)
    house.private.add(a_source_id(MEMBERS))
    assert await heard(house, "feed") == "Tariff for all"


async def test_a_source_that_becomes_private_leaves_a_page_that_was_read_before(house: House) -> None:
    await house.publish("Tariff for all", source=OPEN)
    await house.publish(SECRET, source=MEMBERS)
    async with await house.client() as owner, house.stranger() as reader:
        record = (await owner.post("/v1/publications", json={"title": "All"})).json()
        before = await reader.get(record["feeds"]["json"])
        assert SECRET in before.text
        house.private.add(a_source_id(MEMBERS))
        after = await reader.get(record["feeds"]["json"], headers={"If-None-Match": before.headers["ETag"]})
        assert after.status_code == 200 and SECRET not in after.text and "Tariff for all" in after.text
