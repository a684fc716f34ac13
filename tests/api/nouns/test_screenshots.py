"""Screenshots over the API, served as images only."""

from __future__ import annotations

import httpx
from msgspec.structs import replace

from storage.append import events_of
from storage.records.event import Delta, DeltaStats, Picture, Stored
from storage.records.identity import Millis
from storage.records.source import Harvest, SourceRuntime, SourceState
from tests.api.house import House
from tests.api.nouns.test_why import id_in, stamp
from tests.support.build import NOW, a_draft, a_source, a_source_id
from tests.support.pictures import PNG, WEBP

LOCKED = {
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}


async def pictured(house: House, *, first: bool = True) -> Stored:
    """Commit a first check with a screenshot, and a change with another one; return the change."""
    storage, source = house.storage, a_source_id()
    state = SourceState(source, SourceRuntime(), b"")
    born = Harvest(source, (), state, born=a_source(type="html"))
    born = replace(born, picture=Picture("image/webp", WEBP, NOW) if first else None)
    await storage.log.append([born], storage.lease, house.mint, stamp)
    draft = a_draft("changed", source_type="html", delta=Delta((), DeltaStats(1, 0, 0, 0)))
    told = Harvest(source, (draft,), None, picture=Picture("image/png", PNG, Millis(NOW + 5)))
    (event,) = events_of(await storage.log.append([told], storage.lease, house.mint, stamp))
    return event


async def test_x26_each_side_of_a_change_is_sent_as_the_picture_that_it_is(
    house: House, client: httpx.AsyncClient
) -> None:
    id = id_in(await pictured(house))
    for query, body, media, name in (
        ("", PNG, "image/png", f"{id}-after.png"),
        ("?side=after", PNG, "image/png", f"{id}-after.png"),
        ("?side=before", WEBP, "image/webp", f"{id}-before.webp"),
    ):
        answer = await client.get(f"/v1/events/{id}/screenshot{query}")
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, body, media)
        assert answer.headers["content-disposition"] == f'inline; filename="{name}"'
        assert {name: answer.headers[name] for name in LOCKED} == LOCKED


async def test_a_missing_screenshot_is_404_and_an_unknown_side_400(house: House, client: httpx.AsyncClient) -> None:
    id = id_in(await pictured(house, first=False))
    assert (await client.get(f"/v1/events/{id}/screenshot?side=before")).status_code == 404
    assert (await client.get(f"/v1/events/{id}/screenshot?side=above")).status_code == 400
    assert (await client.get("/v1/events/01a00000-0000-7000-8000-000000000000/screenshot")).status_code == 404


async def test_a_screenshot_needs_a_key_or_a_session(house: House) -> None:
    id = id_in(await pictured(house))
    stranger = house.stranger()
    assert (await stranger.get(f"/v1/events/{id}/screenshot")).status_code == 401
    for path in (f"/events/{id}/screenshot", f"/sources/{a_source_id()}/screenshot"):
        assert (await stranger.get(path)).status_code in (303, 401)


async def test_the_setting_is_stored_shown_and_changed(house: House, client: httpx.AsyncClient) -> None:
    new = {"url": "https://a.test/", "type": "html", "render": "always", "screenshots": True}
    made = (await client.post("/v1/sources", json=new)).json()
    assert made["screenshots"] is True
    changed = await client.patch(f"/v1/sources/{made['id']}", json={"screenshots": False})
    assert changed.json()["screenshots"] is False
