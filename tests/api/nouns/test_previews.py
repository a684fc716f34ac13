"""The JSON of detection and previews."""

from __future__ import annotations

import httpx
import pytest

from actors.errors import TooSoon, Unprocessable
from actors.messages.requests import (
    DraftEvent,
    FeedPreview,
    FilledBy,
    Ignored,
    PacePreview,
    PagePreview,
    Preview,
    PreviewBlock,
    PushPreview,
    Rendering,
    RobotsVerdict,
)
from actors.messages.sources import DetectUrl, PreviewSource
from tests.api.house import House
from tests.support.build import NOW, a_source_id

EVENT = DraftEvent("T", "https://a.test/1", "Ann", "text", NOW, ("change:new",), "guid")
FULL = Preview(
    NOW,
    feed=FeedPreview("F", "rss 2.0", "https://a.test/", 2, 1, {"guid": 2}, (EVENT,), 2, False, ("h",), {"next": "n"}),
    page=PagePreview(
        "P", "", None, "text", (PreviewBlock("text", True, ""),), 1, 0, 1, (Ignored(".x", 2),), (), False, None
    ),
    push=PushPreview(None, 3.0, 1, (EVENT,), "closed"),
    pace=PacePreview(60.0, NOW, 5.0, 0.0, (1,), (6,)),
    robots=RobotsVerdict(True, 2.0, "allowed"),
    rendering=Rendering("Empty.", "<div id=app> is empty", True, 100, (FilledBy("https://a.test/api", 4000),)),
)


async def test_detection_passes_on_every_wish_and_shows_the_preview(house: House, client: httpx.AsyncClient) -> None:
    house.registry.preview = FULL
    asked = {"url": "https://a.test/", "type": "html", "selector": "p", "ignore": [".x"], "filter": "price"}
    asked |= {"render": "always", "wait_for": "#prices"}
    answer = (await client.post("/v1/sources/detect", json=asked)).json()
    message = house.registry.seen[0]
    assert isinstance(message, DetectUrl)
    wish = message.request
    assert (wish.type, wish.selector, wish.ignore, wish.filter) == ("html", "p", (".x",), "price")
    assert (wish.render, wish.wait_for) == ("always", "#prices")
    shown = answer["preview"]
    assert shown["fetched_at"] == "2026-05-28T20:26:40.000Z"
    assert shown["feed"]["newest"][0]["published_at"] == "2026-05-28T20:26:40.000Z"
    assert (shown["feed"]["hubs"], shown["feed"]["paging"]) == (["h"], {"next": "n"})
    assert shown["page"]["blocks"] == [{"text": "text", "watched": True, "why": ""}]
    assert shown["page"]["ignored"] == [{"selector": ".x", "elements": 2}]
    assert (shown["push"]["ended"], shown["pace"]["interval_s"]) == ("closed", 60.0)
    assert shown["rendering"]["filled_by"] == [{"url": "https://a.test/api", "size": 4000}]
    assert (shown["rendering"]["says"], shown["rendering"]["costs"], shown["rendering"]["done"]) == (
        "Empty.",
        100,
        True,
    )
    assert shown["robots"] == {"allowed": True, "crawl_delay_s": 2.0, "says": "allowed"}
    assert (answer["source_id"], answer["supported"]) == (None, True)


async def test_x20_a_detection_hides_the_secrets_of_a_redirects_target_but_not_of_the_requested_url(
    house: House, client: httpx.AsyncClient
) -> None:
    own = "https://a.test/?token=mine"
    answers = []
    for led_to in ("https://b.test/in?page=2&session_id=pl4nt3d", own):
        house.registry.led_to = led_to
        answers.append((await client.post("/v1/sources/detect", json={"url": own})).json()["final_url"])
    assert answers == ["https://b.test/in?page=2&session_id=REDACTED", own]


async def test_a_preview_takes_omitted_fields_from_the_source_and_null_as_the_whole_page(
    house: House, client: httpx.AsyncClient
) -> None:
    new = {"url": "https://a.test/", "selector": "main", "ignore": [".ad"]}
    made = (await client.post("/v1/sources", json=new)).json()
    for body, selector, ignore in (
        ({}, "main", (".ad",)),
        ({"selector": None}, None, (".ad",)),
        ({"selector": "p", "ignore": []}, "p", ()),
    ):
        answer = await client.post(f"/v1/sources/{made['id']}/preview", json=body)
        assert answer.status_code == 200 and answer.json()["page"] is None
        message = house.registry.seen[-1]
        assert isinstance(message, PreviewSource)
        assert (message.selector, message.ignore) == (selector, ignore)


@pytest.mark.parametrize(
    "body", [{"selector": ""}, {"selector": "x" * 1001}, {"ignore": ["x"] * 51}, {"ignore": None}, {"type": "html"}]
)
async def test_too_long_too_many_or_unknown_values_are_400(client: httpx.AsyncClient, body: dict[str, object]) -> None:
    made = (await client.post("/v1/sources", json={"url": "https://a.test/"})).json()
    assert (await client.post(f"/v1/sources/{made['id']}/preview", json=body)).status_code == 400


async def test_an_unknown_source_has_no_preview(client: httpx.AsyncClient) -> None:
    assert (await client.post(f"/v1/sources/{a_source_id(9)}/preview", json={})).status_code == 404


async def test_a_refused_selector_is_422_at_its_place_also_in_a_batch(house: House, client: httpx.AsyncClient) -> None:
    house.registry.refusals["https://a.test/"] = Unprocessable("matches nothing", "body.selector", "p")
    house.registry.refusals["https://b.test/"] = Unprocessable("matches nothing", "body.selector", "p")
    house.registry.refusals["https://c.test/"] = TooSoon("later", 7)
    alone = await client.post("/v1/sources/detect", json={"url": "https://a.test/"})
    assert (alone.status_code, alone.json()["errors"][0]["location"]) == (422, "body.selector")
    later = await client.post("/v1/sources/detect", json={"url": "https://c.test/"})
    assert (later.status_code, later.headers["retry-after"]) == (429, "7")
    batch = {"sources": [{"url": "https://ok.test/"}, {"url": "https://b.test/"}]}
    (_, refused) = (await client.post("/v1/sources", json=batch)).json()["results"]
    assert refused["error"]["errors"][0]["location"] == "body.sources[1].selector"
