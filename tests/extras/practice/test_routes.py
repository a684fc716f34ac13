"""Practice over the API: its events reach only those alerts and streams that name its source."""

from __future__ import annotations

import httpx
import msgspec

from storage.records.tiers import Kind
from tests.api.house import House
from tests.support.build import a_draft, a_source_id

SOURCE = a_source_id(1)


async def test_practice_begins_changes_and_ends(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/practice")).json() == []
    begun = (await client.post("/v1/practice")).json()
    assert [(each["what"], each["changes"]) for each in begun] == [("page", 0), ("feed", 0)]
    answer = await client.post("/v1/practice/feed/change")
    assert (answer.status_code, answer.json()["says"]) == (202, "An entry was added, in French.")
    assert answer.json()["stream"] == f"/v1/stream?source={begun[1]['source']['id']}"
    assert [each["changes"] for each in (await client.get("/v1/practice")).json()] == [0, 1]
    assert (await client.delete("/v1/practice")).status_code == 204
    assert (await client.get("/v1/practice")).json() == []


async def test_ending_practice_needs_the_scopes_of_everything_it_deletes(house: House) -> None:
    async with await house.client("sources:write") as client:
        assert (await client.post("/v1/practice")).status_code == 200
        assert (await client.delete("/v1/practice")).status_code == 403
    async with await house.client("sources:write", "alerts:write", "bins:write") as client:
        assert (await client.delete("/v1/practice")).status_code == 204


async def test_a_document_that_is_not_there_cannot_be_changed(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/practice/moon/change")).status_code == 404


async def test_anybody_may_read_the_documents_and_no_browser_runs_anything_in_them(house: House) -> None:
    async with house.stranger() as stranger:
        page, feed = await stranger.get("/practice/page"), await stranger.get("/practice/feed")
        assert (await stranger.get("/practice/moon")).status_code == 404
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert feed.headers["content-type"] == "application/rss+xml; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "Single, adult: 18.00 euro" in page.text


async def test_the_export_leaves_practice_out_unless_it_is_chosen(house: House, client: httpx.AsyncClient) -> None:
    real, practice = await house.publish(a_draft("real"), a_draft("practice", practice=True, tags=("practice:page",)))
    assert (real.kind, practice.kind) == (Kind.FEED, Kind.PRACTICE)
    for query, titles in (
        ("", ["real"]),
        (f"&source={SOURCE}", ["real", "practice"]),
        ("&tag=practice:page", ["practice"]),
        ("&source_type=feed", ["real"]),
    ):
        answer = await client.get(f"/v1/events/export?format=json{query}")
        assert [event["title"] for event in answer.json()] == titles, query


async def test_history_shows_practice_by_its_tag(house: House, client: httpx.AsyncClient) -> None:
    await house.publish(a_draft("practice", practice=True, tags=("practice:page",)))
    assert [event["tags"] for event in (await client.get("/v1/events")).json()["events"]] == [["practice:page"]]


async def test_no_tag_of_a_user_or_of_a_publisher_makes_an_event_practice(
    house: House, client: httpx.AsyncClient
) -> None:
    (event,) = await house.publish(a_draft("forged", tags=("practice:page",)))
    assert event.kind == Kind.FEED
    answer = await client.post("/v1/sources", json={"url": "https://a.test/", "tags": ["practice:page"]})
    assert answer.status_code == 422


async def test_an_alert_gets_practice_events_only_if_it_names_the_source(
    house: House, client: httpx.AsyncClient
) -> None:
    await house.publish("first")
    await house.publish(a_draft("ferry", practice=True))
    for sources, found in (([], 0), ([SOURCE], 1)):
        asked = {"filter_query": "ferry", "language": "en", "source_ids": sources}
        answer = await client.post("/v1/alerts/preview", json=asked)
        assert answer.json()["matches_found"] == found, answer.text


def test_the_purpose_of_a_source_is_not_on_the_wire() -> None:
    from actors.messages.requests import NewSource, SourcePatch

    for shape in (NewSource, SourcePatch):
        assert "practice" not in {field.name for field in msgspec.structs.fields(shape)}
