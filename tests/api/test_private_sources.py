"""Faces finding 1: events of a private source appear on no outward face until a user includes the source by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import pytest
import trio

from supervision import Mailbox
from tests.api.house import House
from tests.api.listening import listening
from tests.api.nouns.test_alerts import made
from tests.api.nouns.test_destinations import HOOK
from tests.support.build import a_source_id

OPEN, MEMBERS = 1, 2
SECRET = "Tariff for members"
MEMBERS_TOO = {"private_source_ids": [a_source_id(MEMBERS)]}
Face = Callable[[House, httpx.AsyncClient, bool], Awaitable[str]]
"""Returns the content of a face. The bool: whether a user has included the private source by name."""


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
    """Return the titles that a key for one channel receives."""
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


async def preview(house: House, owner: httpx.AsyncClient, named: bool) -> str:
    """Return the preview of an alert over all sources, or with the private source named."""
    body = {"filter_query": "tariff", "private_source_ids": [a_source_id(MEMBERS)] if named else []}
    return (await owner.post("/v1/alerts/preview", json=body)).text


async def replay(house: House, owner: httpx.AsyncClient, named: bool) -> str:
    """Return the events that a replay sends to an alert's destination."""
    alert = f"/v1/alerts/{(await made(owner, filter_query='tariff'))['id']}"
    hook = (await owner.post(f"{alert}/destinations", json=HOOK)).json()["id"]
    if named:
        assert (await owner.patch(alert, json=MEMBERS_TOO)).json()["private_source_ids"] == [a_source_id(MEMBERS)]
    house.destinations[hook] = Mailbox("hook", 1)
    answer = await owner.post(f"/v1/destinations/{hook}/replay", json={"since": "2000-01-01T00:00:00Z"})
    assert answer.status_code == 202, answer.text
    claimed = await house.storage.outbox.claim(hook, house.context.world.now(), 500, house.storage.lease)
    return "".join([(await owner.get(f"/v1/events/{each.event_id}")).text for each in claimed])


async def why(house: House, owner: httpx.AsyncClient, named: bool) -> str:
    """Return the private title if an alert over all sources claims the event."""
    alert = await made(owner, filter_query="tariff", name="All", **(MEMBERS_TOO if named else {}))
    event = next(one for one in (await owner.get("/v1/events")).json()["events"] if one["title"] == SECRET)
    told = (await owner.get(f"/v1/events/{event['id']}/why")).json()["alerts"]["names"]
    return SECRET if alert["name"] in told else ""


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
    "preview of an alert": preview,
    "replay of an alert": replay,
    "why": why,
}


@pytest.mark.parametrize("face", FACES)
async def test_a_private_source_is_on_no_face_until_it_is_included_by_name(house: House, face: str) -> None:
    await house.publish("Tariff for all", source=OPEN)
    await house.publish(SECRET, source=MEMBERS)
    house.private.add(a_source_id(MEMBERS))
    async with await house.client() as owner:
        assert SECRET not in await FACES[face](house, owner, False)
        assert SECRET in await FACES[face](house, owner, True)


async def test_a_channel_of_the_service_leaves_out_private_sources(house: House) -> None:
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
