"""The kind of a change, and how long a price has been a record, from the check to the event."""

from __future__ import annotations

from typing import Any

import trio

from tests.actors.sources.harness import page, watching

URL = "https://site.example/prices"
FILLER = [
    "The basic plan holds up to ten projects and one gigabyte of storage for each of them, for small teams.",
    "The team plan adds roles, an audit log and help by mail on every working day of the week, all year.",
    "Whoever pays for a whole year in advance gets two months of it without any further cost at all.",
]
TABLE = "<h2>Plans</h2><table><tr><th>Plan<th>Price</tr><tr><td>Team<td>{}</tr></table>"
DAY = 86_400


async def told(service: Any, origin: Any, *prices: str) -> list[dict[str, Any]]:
    origin.bodies["/prices"] = page(*FILLER, TABLE.format(prices[0]))
    await service.add(URL)
    for price in prices[1:]:
        await trio.sleep(DAY)
        origin.bodies["/prices"] = page(*FILLER, TABLE.format(price))
    await trio.sleep(DAY)
    found: list[dict[str, Any]] = await service.events()
    return found


async def test_an_event_names_its_kinds_of_change_with_values(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        (event,) = await told(service, origin, "€399", "€299.50")
        (change,) = event["changes"]
        since = (change.pop("lowest_since"), event["fetched_at"])
        assert change == {
            "kind": "price",
            "label": "Team · Price",
            "before": {"text": "€399", "type": "money", "number": 399, "unit": "EUR"},
            "after": {"text": "€299.50", "type": "money", "number": 29950, "scale": 2, "unit": "EUR"},
        }
        assert since[0] < since[1], "it is the lowest since the source was added"


async def test_a_price_says_since_when_none_was_lower_or_higher(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        events = await told(service, origin, "€20", "€30", "€10", "€25", "€12", "€35")
        records = [(one["changes"][0].get("lowest_since"), one["changes"][0].get("highest_since")) for one in events]
        at = [one["fetched_at"] for one in events]
        added = records[0][1]
        assert added is not None and added < at[0]
        # 30 tops all, 10 is below all; 25 is the highest since 30, 12 the lowest since 10; 35 tops all.
        assert [(low and low[:16], high and high[:16]) for low, high in records] == [
            (None, added[:16]),
            (added[:16], None),
            (None, at[1][:16]),
            (at[2][:16], None),
            (None, added[:16]),
        ]


async def test_another_source_of_the_same_host_has_its_own_records(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/other"] = page(*FILLER, TABLE.format("€1"))
        await service.add("https://site.example/other")
        await trio.sleep(DAY)
        origin.bodies["/other"] = page(*FILLER, TABLE.format("€2"))
        events = await told(service, origin, "€20", "€15")
        mine = [one for one in events if one["source_url"] == URL]
        assert "lowest_since" in mine[0]["changes"][0]


async def test_a_change_without_values_says_its_kind_only(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*FILLER)
        await service.add(URL)
        origin.bodies["/prices"] = page(*FILLER[:2], FILLER[2].replace("two months", "a quarter"))
        await trio.sleep(DAY)
        (event,) = await service.events()
        assert [change["kind"] for change in event["changes"]] == ["text"]
