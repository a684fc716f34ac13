from __future__ import annotations

from typing import Any

import httpx
import pytest

from actors.messages import OutboxGrew
from api.v1 import replay
from storage.records.delivery import Match
from storage.records.identity import Seq
from storage.records.times import rfc3339
from supervision import Mailbox
from tests.api.house import House, ids
from tests.api.test_destinations import hooked
from tests.support.build import NOW

FOREVER = "2000-01-01T00:00:00Z"


async def prepared(house: House, client: httpx.AsyncClient) -> tuple[str, Mailbox[Any]]:
    """Return the id and the mailbox of a destination whose alert is about prices and plans."""
    hook = (await hooked(client))["id"]
    box: Mailbox[Any] = Mailbox("hook", 1)
    house.destinations[hook] = box
    return hook, box


async def asked(client: httpx.AsyncClient, hook: str, **body: Any) -> httpx.Response:
    return await client.post(f"/v1/destinations/{hook}/replay", json=body)


async def waiting(house: House, hook: str) -> list[str]:
    claimed = await house.storage.work.claim(hook, house.doors.world.now(), 500, house.storage.lease)
    return [delivery.event_id for delivery in claimed]


async def test_d13_what_matches_since_an_event_is_queued_under_its_own_id_and_the_actor_is_woken(
    house: House, client: httpx.AsyncClient
) -> None:
    hook, box = await prepared(house, client)
    events = ids(await house.publish("price 1", "weather", "price 2", "plan"))
    answer = await asked(client, hook, since=events[0])
    assert (answer.status_code, answer.json()) == (202, {"queued": 2, "next_since": None})
    assert isinstance(await box.receive(), OutboxGrew)
    assert await waiting(house, hook) == [events[2], events[3]]


async def test_d13_since_a_time_includes_it_and_what_waits_already_is_not_added(
    house: House, client: httpx.AsyncClient
) -> None:
    hook, _ = await prepared(house, client)
    events = await house.publish("price 1", "price 2")
    await house.storage.work.enqueue([Match(hook, events[0].seq, NOW)], house.storage.lease)
    assert (await asked(client, hook, since=rfc3339(NOW))).json()["queued"] == 1
    assert (await asked(client, hook, since=FOREVER)).json()["queued"] == 0
    assert await waiting(house, hook) == ids(events)


async def test_d13_one_event_is_named_by_its_id(house: House, client: httpx.AsyncClient) -> None:
    hook, _ = await prepared(house, client)
    price, weather = ids(await house.publish("price", "weather"))
    assert (await asked(client, hook, event_id=price)).json() == {"queued": 1, "next_since": None}
    assert await waiting(house, hook) == [price]
    assert (await asked(client, hook, event_id=weather)).status_code == 422
    assert (await asked(client, hook, event_id=price[:-4] + "0000")).status_code == 404
    assert (await asked(client, hook, event_id="x")).status_code == 404


async def test_a_long_replay_goes_on_where_its_answer_says(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "MOST_QUEUED", 250)
    hook, _ = await prepared(house, client)
    events = ids(await house.publish(*[f"price {number}" for number in range(420)]))
    first = (await asked(client, hook, since=FOREVER)).json()
    second = (await asked(client, hook, since=first["next_since"])).json()
    assert (first["queued"] + second["queued"], second["next_since"]) == (420, None)
    assert await waiting(house, hook) == events


@pytest.mark.parametrize("body", [{}, {"since": FOREVER, "event_id": "x"}, {"since": "yesterday"}])
async def test_a_replay_of_nothing_is_400(house: House, client: httpx.AsyncClient, body: dict[str, str]) -> None:
    hook, _ = await prepared(house, client)
    assert (await asked(client, hook, **body)).status_code == 400


async def test_a_destination_that_is_disabled_or_has_much_to_do_gets_no_replay(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, _ = await prepared(house, client)
    monkeypatch.setattr(replay, "MOST_WAITING", 2)
    rows = [Match(hook, Seq(number), NOW) for number in (1, 2)]
    await house.storage.work.enqueue(rows, house.storage.lease)
    answer = await asked(client, hook, since=FOREVER)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
    del house.destinations[hook]
    assert (await asked(client, hook, since=FOREVER)).status_code == 409
