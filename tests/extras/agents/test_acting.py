"""The tools that change something, against the service's own API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from extras.agents.protocol import Refused
from storage.records.source import SourceRuntime, SourceState
from tests.api.dashboard.rows import ALERT, HOOK, a_hook
from tests.api.house import House
from tests.extras.agents.test_endpoint import sent
from tests.support.build import a_source

Tell = Callable[..., Awaitable[str]]


@pytest.fixture
async def told(house: House) -> AsyncIterator[Tell]:
    """Use a tool through `/mcp`; return its text. A refusal is a Refused."""
    async with await house.client() as client:

        async def tell(name: str, **arguments: Any) -> str:
            result = (await sent(client, "tools/call", name=name, arguments=arguments))["result"]
            text = str(result["content"][0]["text"])
            if result.get("isError"):
                raise Refused(text)
            return text

        yield tell


async def test_watch_it_and_tell_me_below_300_in_the_chat_that_i_have(house: House, told: Tell) -> None:
    await a_hook(house, label="Slack of the shop")
    watched = await told("watch", url="https://a.test/kettle", title="Kettle", schedule="10m")
    (source,) = house.registry.views
    assert source in watched
    stored = a_source(1, url="https://a.test/kettle")
    await house.storage.sources.add(stored, SourceState(stored.id, SourceRuntime()), house.storage.lease)
    said = await told("create_alert", query="price<300", source=source, notify="slack")
    assert "Its matches go to" in said
    alert = next(one for one in await house.storage.alerts.all() if one.id != ALERT)
    assert (alert.filter_query, alert.source_ids) == ("price<300", (source,))
    (copy,) = await house.storage.alerts.destinations(alert.id)
    assert copy.id != HOOK and "price<300" in await told("alerts")
    await told("change_alert", alert=alert.id, query="price<250", enabled=False)
    changed = await house.storage.alerts.get(alert.id)
    assert changed is not None and (changed.filter_query, changed.enabled) == ("price<250", False)
    assert "Deleted" in await told("delete_alert", alert=alert.id)
    assert "no longer watched" in await told("stop_watching", source=source)
    assert not house.registry.views


async def test_a_destination_is_added_changed_and_deleted(house: House, told: Tell) -> None:
    await a_hook(house)
    assert "slack: url is Incoming webhook" in await told("destination_kinds")
    said = await told("add_destination", alert=ALERT, url="https://other.test/in", label="Desk")
    assert "whsec_" not in said and "secret is not shown" in said
    await told("change_destination", destination="Desk", delivery_mode="daily")
    made = next(one for one in await house.storage.alerts.destinations() if one.label == "Desk")
    assert made.delivery_mode == "daily" and made.id in await told("destinations")
    await told("delete_destination", destination="desk")
    assert [one.id for one in await house.storage.alerts.destinations()] == [HOOK]


async def test_unclear_names_and_empty_changes_are_refused_in_words(house: House, told: Tell) -> None:
    await a_hook(house)
    for name, arguments, says in (
        ("delete_alert", {"alert": "nothing like it"}, "None of the alerts is called"),
        ("delete_destination", {"destination": "nothing"}, "None of the destinations"),
        ("change_alert", {"alert": ALERT}, "Name something to change: query, name, enabled"),
        ("create_alert", {"query": "prise<3"}, "no condition"),
        ("create_alert", {"query": "x", "notify": "nobody"}, "None of the destinations"),
    ):
        with pytest.raises(Refused, match=says):
            await told(name, **arguments)
    assert [one.id for one in await house.storage.alerts.all()] == [ALERT]
