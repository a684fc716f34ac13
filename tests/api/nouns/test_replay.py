from __future__ import annotations

from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from actors.messages.workers import OutboxGrew
from api.nouns import deliveries
from storage.records.destination import Match, Met, Outcome
from storage.records.event import id_in
from storage.records.identity import Seq, id_of, rfc3339, seq_of
from supervision import Mailbox
from tests.api.house import House, ids
from tests.api.nouns.test_destinations import hooked
from tests.support.build import NOW, a_draft

FOREVER = "2000-01-01T00:00:00Z"


async def prepared(house: House, client: httpx.AsyncClient) -> tuple[str, Mailbox[Any]]:
    """Return the id and the mailbox of a new destination."""
    hook = (await hooked(client))["id"]
    box: Mailbox[Any] = Mailbox("hook", 1)
    house.destinations[hook] = box
    return hook, box


async def asked(client: httpx.AsyncClient, hook: str, **body: Any) -> httpx.Response:
    return await client.post(f"/v1/destinations/{hook}/replay", json=body)


async def waiting(house: House, hook: str) -> list[str]:
    claimed = await house.storage.outbox.claim(hook, house.context.world.now(), 500, house.storage.lease)
    return [delivery.event_id for delivery in claimed]


async def test_d13_a_replay_queues_matches_under_their_ids_and_wakes_the_actor(
    house: House, client: httpx.AsyncClient
) -> None:
    hook, box = await prepared(house, client)
    events = ids(await house.publish("price 1", "weather", "price 2", "plan"))
    answer = await asked(client, hook, since=events[0])
    assert (answer.status_code, answer.json()) == (202, {"queued": 2, "next_since": None})
    assert isinstance(await box.receive(), OutboxGrew)
    assert await waiting(house, hook) == [events[2], events[3]]


async def test_d13_a_replay_since_a_time_includes_it_and_skips_waiting_rows(
    house: House, client: httpx.AsyncClient
) -> None:
    hook, _ = await prepared(house, client)
    events = await house.publish("price 1", "price 2")
    await house.storage.outbox.enqueue([Match(hook, events[0].seq, NOW)], house.storage.lease)
    assert (await asked(client, hook, since=rfc3339(NOW))).json()["queued"] == 1
    assert (await asked(client, hook, since=FOREVER)).json()["queued"] == 0
    assert await waiting(house, hook) == ids(events)


async def test_a_replay_of_a_story_takes_the_matched_event_only(house: House, client: httpx.AsyncClient) -> None:
    hook, _ = await prepared(house, client)
    storage = house.storage
    (alert,) = await storage.alerts.all()
    await storage.alerts.put(replace(alert, once_per_story=True))
    (first,) = await house.publish("price 1")
    again = await house.publish(*[a_draft(f"price {turn}", story=id_in(first.body)) for turn in (2, 3)], source=2)
    assert (await asked(client, hook, since=FOREVER)).json()["queued"] == 3, "nothing was met yet"
    await waiting(house, hook)
    other, _ = await prepared(house, client)
    (its,) = [each.alert_id for each in await storage.alerts.destinations() if each.id == other]
    await storage.alerts.put(replace(await storage.alerts.get(its), once_per_story=True))
    met = [Met(its, first.seq, again[0].seq)]
    await storage.outbox.advance("x", None, first.seq, [], storage.lease, met=met)
    assert (await asked(client, other, since=FOREVER)).json()["queued"] == 1
    assert await waiting(house, other) == [id_in(again[0].body)]


async def test_d13_events_are_named_by_their_ids(house: House, client: httpx.AsyncClient) -> None:
    hook, _ = await prepared(house, client)
    price, weather, plan = ids(await house.publish("price", "weather", "plan"))
    answer = await asked(client, hook, ids=[plan, price, plan])
    assert (answer.status_code, answer.json()) == (202, {"queued": 2, "next_since": None})
    assert await waiting(house, hook) == [price, plan]
    for unfit in (weather, price[:-4] + "0000", "x"):
        refused = await asked(client, hook, ids=[price, unfit])
        assert (refused.status_code, refused.json()["errors"][0]["location"]) == (422, "body.ids[1]")


async def test_d13_a_range_ends_with_the_event_it_names_or_before_a_time(
    house: House, client: httpx.AsyncClient
) -> None:
    hook, _ = await prepared(house, client)
    events = ids(await house.publish(*[f"price {number}" for number in range(6)]))
    assert (await asked(client, hook, since=events[0], until=events[2])).json() == {"queued": 2, "next_since": None}
    assert await waiting(house, hook) == events[1:3]
    assert (await asked(client, hook, since=FOREVER, until=rfc3339(NOW))).json()["queued"] == 0
    assert (await asked(client, hook, since=events[4], until=events[3])).json()["queued"] == 0
    assert (await asked(client, hook, since=events[4], until="2999-01-01T00:00:00Z")).json()["queued"] == 1


async def test_d13_a_destination_takes_ten_replays_a_minute(house: House, client: httpx.AsyncClient) -> None:
    hook, _ = await prepared(house, client)
    answers = [await asked(client, hook, since=FOREVER) for _ in range(12)]
    assert [answer.status_code for answer in answers][9:11] == [202, 429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 6


async def missed(client: httpx.AsyncClient, hook: str) -> Any:
    return (await client.get(f"/v1/destinations/{hook}")).json()["replay_from"]


async def test_d6_enabling_a_destination_offers_a_replay_from_its_first_missed_event(
    house: House, client: httpx.AsyncClient
) -> None:
    hook, _ = await prepared(house, client)
    path, work, lease = f"/v1/destinations/{hook}", house.storage.outbox, house.storage.lease
    before = await house.publish("price 0")
    await work.advance("matcher", None, before[0].seq, (), lease)
    assert await missed(client, hook) is None
    await client.patch(path, json={"enabled": False})
    events = ids(await house.publish(*[f"price {number}" for number in range(1, 6)]))
    enabled = (await client.patch(path, json={"enabled": True})).json()
    assert enabled["replay_from"] == await missed(client, hook) is not None
    assert (await asked(client, hook, since=enabled["replay_from"], until=events[1])).json()["queued"] == 2
    assert await missed(client, hook) == id_of(seq_of(events[1]), 0)
    assert (await asked(client, hook, since=await missed(client, hook))).json()["queued"] == 3
    assert await missed(client, hook) is None
    assert await waiting(house, hook) == events


async def test_d1_given_up_deliveries_are_listed_until_replayed_or_declined(
    house: House, client: httpx.AsyncClient
) -> None:
    hook, _ = await prepared(house, client)
    path, work, lease = f"/v1/destinations/{hook}", house.storage.outbox, house.storage.lease
    events = await house.publish("price 1", "price 2", "price 3")
    await work.enqueue([Match(hook, event.seq, NOW) for event in events], lease)
    await work.claim(hook, NOW, 10, lease)
    outcomes = [Outcome(hook, event.seq, "sent", NOW, 200, 1) for event in events]
    outcomes[1] = Outcome(hook, events[1].seq, "given_up", NOW, 500, 1, "HTTP 500", None, "\\x1b[31mno")
    await work.settle(outcomes, lease)
    (dead,) = (await client.get(f"{path}/deliveries?result=given_up")).json()
    assert (dead["webhook_id"], dead["response_excerpt"]) == (ids(events)[1], "\\x1b[31mno")
    assert len((await client.get(f"{path}/deliveries?result=sent")).json()) == 2
    assert (await client.get(f"{path}/deliveries?result=lost")).status_code == 400
    offered = await missed(client, hook)
    assert offered < ids(events)[1]
    assert (await asked(client, hook, since=offered)).json()["queued"] == 2
    assert await missed(client, hook) is None
    await work.claim(hook, house.context.world.now(), 10, lease)
    await work.settle([Outcome(hook, events[2].seq, "given_up", NOW, 500, 1, "HTTP 500")], lease)
    assert await missed(client, hook) is not None
    assert (await client.patch(path, json={"replay_from": None})).json()["replay_from"] is None


async def test_d6_a_replay_by_ids_advances_the_offer_by_one_match(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, _ = await prepared(house, client)
    work, lease = house.storage.outbox, house.storage.lease
    texts = ("price 1", "weather", "price 2", "price 3", "price 4", "weather")
    events = await house.publish(*texts)
    prices = [event for event, text in zip(events, texts, strict=True) if text != "weather"]
    await work.advance("matcher", None, events[-1].seq, [Match(hook, event.seq, NOW) for event in prices], lease)
    await work.claim(hook, NOW, 10, lease)
    results: list[Any] = ["given_up", "sent", "given_up", "given_up"]
    outcomes = [Outcome(hook, event.seq, result, NOW) for event, result in zip(prices, results, strict=True)]
    await work.settle(outcomes, lease)
    assert await missed(client, hook) == id_of(Seq(prices[0].seq - 1), 0)
    await asked(client, hook, ids=[ids(prices)[3]])
    assert await missed(client, hook) == id_of(Seq(prices[0].seq - 1), 0), "the first is still missed"
    await asked(client, hook, ids=[ids(prices)[0]])
    assert await missed(client, hook) == id_of(Seq(prices[2].seq - 1), 0)
    monkeypatch.setattr(deliveries, "MOST_PASSED", 1)
    await asked(client, hook, ids=[ids(prices)[2]])
    assert await missed(client, hook) == id_of(prices[2].seq, 0), "no further in one request"
    monkeypatch.undo()
    await asked(client, hook, ids=[ids(prices)[2]])
    assert await missed(client, hook) is None


async def test_a_long_replay_continues_at_next_since(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_QUEUED", 250)
    hook, _ = await prepared(house, client)
    events = ids(await house.publish(*[f"price {number}" for number in range(420)]))
    first = (await asked(client, hook, since=FOREVER)).json()
    second = (await asked(client, hook, since=first["next_since"])).json()
    assert (first["queued"] + second["queued"], second["next_since"]) == (420, None)
    assert await waiting(house, hook) == events


@pytest.mark.parametrize(
    "body", [{}, {"since": FOREVER, "ids": ["x"]}, {"since": "yesterday"}, {"ids": []}, {"until": FOREVER}]
)
async def test_a_replay_of_nothing_is_400(house: House, client: httpx.AsyncClient, body: dict[str, str]) -> None:
    hook, _ = await prepared(house, client)
    assert (await asked(client, hook, **body)).status_code == 400


async def test_a_destination_that_is_disabled_or_has_much_to_do_gets_no_replay(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, _ = await prepared(house, client)
    monkeypatch.setattr(deliveries, "MOST_WAITING", 2)
    rows = [Match(hook, Seq(number), NOW) for number in (1, 2)]
    await house.storage.outbox.enqueue(rows, house.storage.lease)
    answer = await asked(client, hook, since=FOREVER)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
    del house.destinations[hook]
    assert (await asked(client, hook, since=FOREVER)).status_code == 409
