"""The JSON of a page's blocks, and of the effect of pressing one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from actors.errors import TooSoon
from extras.picking.operations import PickFromSource, PickFromUrl
from extras.picking.records import (
    KeptBlocks,
    PickBlock,
    PickChoice,
    Picked,
    PickedValue,
    PickPage,
    PickReach,
    PressedBlock,
)
from storage.records.event import Value
from tests.api.house import House
from tests.support.build import NOW, a_source_id

BLOCK = PickBlock(
    number=7,
    mark="d54adf93",
    text="14 €",
    length=4,
    kind="cell",
    heading="Prices",
    row="Adult",
    column="Price",
    why="",
    watched=True,
    selector="#adult",
    item=False,
    values=(
        PickedValue(Value("14 €", "money", 14, 0, "EUR"), "price", 'label:"Adult · Price"'),
        PickedValue(Value("May 1", "date", value="05-01"), "date", ""),
    ),
)
KEPT = KeptBlocks("#adult", (".x",), ("14 €",), 1, "22c6", 0)
PAGE = PickPage(
    "Tickets", "html", 9, 3, 0, (BLOCK,), "", None, PickChoice(BLOCK, (PickReach("this", "#adult", 1),), "this", KEPT)
)
PRESS = {"number": 7, "mark": "d54adf93", "act": "without", "reach": "like"}


async def test_a_url_is_shown_with_its_blocks_and_every_wish_is_passed_on(
    house: House, client: httpx.AsyncClient
) -> None:
    house.registry.picked = Picked(NOW, PAGE)
    asked = {"url": "https://a.test/", "selector": "main", "ignore": [".x"], "first": 100, "find": "adult"}
    asked |= {"press": PRESS, "render": "always", "wait_for": "#prices"}
    answer = (await client.post("/v1/sources/blocks", json=asked)).json()
    message = house.registry.seen[-1]
    assert isinstance(message, PickFromUrl)
    assert (message.request.type, message.request.render, message.request.wait_for) == ("html", "always", "#prices")
    wish = message.wish
    assert (wish.selector, wish.ignore, wish.first, wish.find) == ("main", (".x",), 100, "adult")
    assert (wish.press, wish.selectors) == (PressedBlock(7, "d54adf93", "without", "like"), True)
    (block,) = answer["blocks"]
    assert (block["selector"], block["row"], block["watched"]) == ("#adult", "Adult", True)
    assert block["values"][0]["condition"] == 'label:"Adult · Price" price'
    assert (block["values"][1]["condition"], block["values"][1]["number"]) == ("date", None)
    assert answer["choice"]["reaches"] == [{"name": "this", "selector": "#adult", "blocks": 1}]
    assert (answer["choice"]["kept"]["texts"], answer["now"], answer["found"]) == (["14 €"], None, 3)
    assert answer["fetched_at"] == "2026-05-28T20:26:40.000Z"


async def test_omitted_fields_of_a_choice_have_the_sources_values(house: House, client: httpx.AsyncClient) -> None:
    new = {"url": "https://a.test/", "selector": "main", "ignore": [".ad"]}
    made = (await client.post("/v1/sources", json=new)).json()
    for body, selector, ignore in (
        ({}, "main", (".ad",)),
        ({"selector": None}, None, (".ad",)),
        ({"selector": "p", "ignore": []}, "p", ()),
    ):
        answer = await client.post(f"/v1/sources/{made['id']}/blocks", json=body)
        assert (answer.status_code, answer.json()["choice"]) == (200, None)
        message = house.registry.seen[-1]
        assert isinstance(message, PickFromSource)
        assert (message.wish.selector, message.wish.ignore) == (selector, ignore)


@pytest.mark.parametrize(
    "body",
    [
        {"first": -1},
        {"find": "x" * 201},
        {"press": {"number": 1}},
        {"press": {"number": 1, "mark": "a", "act": "none"}},
        {"press": {"number": 1, "mark": "a", "reach": "all"}},
        {"type": "html"},
    ],
)
async def test_an_invalid_wish_is_400(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    made = (await client.post("/v1/sources", json={"url": "https://a.test/"})).json()
    assert (await client.post(f"/v1/sources/{made['id']}/blocks", json=body)).status_code == 400


async def test_a_page_without_blocks_is_refused(house: House, client: httpx.AsyncClient) -> None:
    assert (await client.post(f"/v1/sources/{a_source_id(9)}/blocks", json={})).status_code == 404
    house.registry.refusals["https://b.test/"] = TooSoon("later", 7)
    answer = await client.post("/v1/sources/blocks", json={"url": "https://b.test/"})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")


async def test_a_missing_block_is_reported(house: House, client: httpx.AsyncClient) -> None:
    house.registry.picked = Picked(NOW, replace(PAGE, choice=None, gone=True))
    asked = {"url": "https://a.test/", "press": PRESS}
    answer = (await client.post("/v1/sources/blocks", json=asked)).json()
    assert (answer["gone"], answer["choice"]) == (True, None)


async def test_the_tags_of_a_url_are_sent_and_their_defaults_returned(house: House, client: httpx.AsyncClient) -> None:
    house.registry.picked = Picked(NOW, PAGE, "main", (".ad",), {"selector": ("label:shop",)})
    asked = {"url": "https://a.test/", "tags": ["shop"]}
    answer = (await client.post("/v1/sources/blocks", json=asked)).json()
    assert house.registry.seen[-1].request.tags == ("label:shop",)
    assert answer["part"] == {"selector": "main", "ignore": [".ad"], "inherited": {"selector": ["label:shop"]}}
    refused = await client.post("/v1/sources/blocks", json=asked | {"tags": ["change:new"]})
    assert (refused.status_code, refused.json()["errors"][0]["location"]) == (422, "body.tags[0]")
