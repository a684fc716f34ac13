from __future__ import annotations

from typing import Any

import httpx
import pytest
import trio

from actors.messages.views import ReportedBlock, ReportedPage, SourceView
from actors.query import languages
from api.nouns import sources
from api.nouns.alerts import TRIED_WITHIN
from storage.errors import Unavailable
from storage.records.alert import MOST_ALERTS
from storage.records.destination import Hit
from storage.records.event import StandingValue, StandingValues, Value
from storage.records.identity import Seq
from storage.records.source import SourceRuntime
from tests.actors.matcher.rig import an_alert
from tests.api.house import House
from tests.storage.contract.builders import a_destination
from tests.support.build import NOW, a_draft, a_source, a_source_id

HOOK = "019db0a4-7d20-7000-8000-0000000000d1"
PRICES = {"filter_query": "price OR plan", "language": "en", "source_ids": []}


async def made(client: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:
    await trio.sleep(0.001)  # ids of one millisecond have no order
    answer = await client.post("/v1/alerts", json={**PRICES, **changes})
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


async def test_an_alert_is_made_of_a_query_a_language_and_sources_and_has_every_field(
    house: House, client: httpx.AsyncClient
) -> None:
    answer = await client.post("/v1/alerts", json=PRICES)
    record = answer.json()
    assert (answer.status_code, answer.headers["Location"].rpartition("/")[2]) == (201, record["id"])
    assert record.pop("created_at") == record.pop("updated_at")
    assert answer.headers["ETag"] == f'"{record.pop("revision")}"'
    assert record == {
        "id": record["id"],
        "alert_id": record["id"],
        "name": "price OR plan",
        "filter_query": "price OR plan",
        "language": "en",
        "match": "change",
        "source_ids": [],
        "private_source_ids": [],
        "tags": [],
        "channel": None,
        "enabled": True,
        "notices": ["source_quiet", "source_recovered", "source_failing", "source_reset", "source_moved"],
        "notice_after": 3600,
        "once_per_story": None,
        "last_match_at": None,
        "match_count": 0,
        "anomaly_enabled": False,
        "delivery_mode": "instant",
        "template": None,
        "updated_by": "test",
        "managed": None,
        "destination_count": 0,
        "true_now": [],
    }
    assert (await client.get(f"/v1/alerts/{record['id']}")).json()["id"] == record["id"]
    assert house.matcher.changes == 1


async def test_a_new_alert_over_several_sources_gets_each_story_once(house: House, client: httpx.AsyncClient) -> None:
    await house.publish("source 1 is known by this")
    await house.publish("and source 2 by this", source=2)
    one, two = str(a_source_id(1)), str(a_source_id(2))
    for over, expected in (
        ({}, True),
        ({"source_ids": [one]}, False),
        ({"source_ids": [one, two]}, True),
        ({"source_ids": [one], "tags": ["label:shop"]}, True),
        ({"once_per_story": False}, False),
        ({"source_ids": [one], "once_per_story": True}, True),
    ):
        id = (await made(client, **over))["id"]
        assert next(each for each in await house.storage.alerts.all() if each.id == id).meets_once is expected, over
    record = await made(client)
    changed = await client.patch(f"/v1/alerts/{record['id']}", json={"once_per_story": False})
    assert changed.json()["once_per_story"] is False


async def test_an_alert_may_be_over_tags_that_no_source_has_yet(house: House, client: httpx.AsyncClient) -> None:
    await house.publish("source 1 is known by this")
    record = await made(client, tags=[" shop", "label:shop", "Topic:Küche"], source_ids=[a_source_id(1)])
    assert (record["tags"], record["source_ids"]) == (["label:shop", "Topic:Küche"], [a_source_id(1)])
    path = f"/v1/alerts/{record['id']}"
    assert (await client.patch(path, json={"source_ids": []})).json()["tags"] == ["label:shop", "Topic:Küche"]
    assert (await client.patch(path, json={"tags": ["sea"]})).json()["tags"] == ["label:sea"]
    assert (await client.patch(path, json={"tags": []})).json()["tags"] == []


async def test_a_patch_changes_only_the_named_fields_and_null_removes_the_channel(
    house: House, client: httpx.AsyncClient
) -> None:
    await house.publish("source 1 is known by this")
    record = await made(client, channel="pricing", name="Prices")
    path = f"/v1/alerts/{record['id']}"
    change = {
        "filter_query": "remiss",
        "language": "sv",
        "source_ids": [a_source_id(1).upper()],
        "name": "Remisser",
        "enabled": False,
        "notices": ["source_failing"],
        "notice_after": 60,
        "anomaly_enabled": False,
        "match": "removed",
    }
    answer = await client.patch(path, json=change)
    assert answer.status_code == 200
    expected = record | change | {"source_ids": [a_source_id(1)], "updated_at": answer.json()["updated_at"]}
    expected["revision"] = answer.headers["ETag"].strip('"')
    assert answer.json() == expected
    assert (await client.patch(path, json={"channel": None})).json()["channel"] is None
    assert (await client.patch(path, json={})).json()["name"] == "Remisser"
    assert house.matcher.changes == 4


async def test_a_deleted_alert_is_gone_with_its_destinations(house: House, client: httpx.AsyncClient) -> None:
    record = await made(client)
    path = f"/v1/alerts/{record['id']}"
    await client.post(f"{path}/destinations", json={"url": "https://hook.test/in"})
    assert (await client.delete(path)).status_code == 204
    for method in ("GET", "PATCH", "DELETE"):
        answer = await client.request(method, path, json={} if method == "PATCH" else None)
        assert answer.status_code == 404
    assert (await client.get("/v1/destinations")).json() == []
    assert (await client.get("/v1/alerts/not-an-id")).status_code == 404


async def test_alerts_are_listed_oldest_first_in_pages_with_their_figures(
    house: House, client: httpx.AsyncClient
) -> None:
    for number in range(5):
        await house.storage.alerts.put(an_alert(f"a{number}", created_at=NOW + number // 2))
    await house.storage.outbox.advance("m", None, Seq(1), [], house.storage.lease, hits=[Hit("a1", 7, NOW)])
    seen: list[dict[str, Any]] = []
    path: str | None = "/v1/alerts?limit=2"
    while path is not None:
        answer = await client.get(path)
        seen += answer.json()
        path = answer.links["next"]["url"] if "next" in answer.links else None
    assert [alert["id"] for alert in seen] == ["a0", "a1", "a2", "a3", "a4"]
    assert (seen[1]["match_count"], seen[1]["last_match_at"]) == (7, "2026-05-28T20:26:40.000Z")


async def test_the_alert_shows_its_first_destinations_mode(client: httpx.AsyncClient, autojump_clock: object) -> None:
    record = await made(client)
    path = f"/v1/alerts/{record['id']}"
    for mode in ("hourly", "daily"):
        await trio.sleep(1)  # two of one millisecond have no order
        await client.post(f"{path}/destinations", json={"url": "https://hook.test/in", "delivery_mode": mode})
    assert (await client.get(path)).json()["delivery_mode"] == "hourly"
    assert (await client.get("/v1/alerts")).json()[0]["delivery_mode"] == "hourly"


@pytest.mark.parametrize(
    ("query", "position"), [('"open', 1), ("a OR", 5), ("(a", 1), ("a )", 3), ("x " * 3000, 4097), ("(" * 100, 33)]
)
async def test_a_query_that_cannot_be_read_is_400_with_its_position(
    client: httpx.AsyncClient, query: str, position: int
) -> None:
    good = await made(client)
    for answer in (
        await client.post("/v1/alerts", json={**PRICES, "filter_query": query}),
        await client.patch(f"/v1/alerts/{good['id']}", json={"filter_query": query}),
    ):
        assert answer.status_code == 400
        (error,) = answer.json()["errors"]
        assert (error["location"], f"(at character {position})" in error["message"]) == ("body.filter_query", True)
        assert error["value"] and query.startswith(error["value"])


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"language": "klingon"}, "body.language"),
        ({"source_ids": [a_source_id(9)]}, "body.source_ids[0]"),
        ({"tags": ["shop", "label: "]}, "body.tags[1]"),
        ({"channel": "alerts"}, "body.channel"),
        ({"channel": "feed"}, "body.channel"),
        ({"anomaly_enabled": True}, "body.anomaly_enabled"),
    ],
)
async def test_well_formed_nonsense_is_422(client: httpx.AsyncClient, change: dict[str, Any], where: str) -> None:
    good = await made(client)
    for answer in (
        await client.post("/v1/alerts", json={**PRICES, **change}),
        await client.patch(f"/v1/alerts/{good['id']}", json=change),
    ):
        assert answer.status_code == 422
        assert [error["location"] for error in answer.json()["errors"]] == [where]
    assert (await client.get(f"/v1/alerts/{good['id']}")).json() == good


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"language": "en"}, "body.filter_query"),
        ({**PRICES, "colour": "red"}, "body.colour"),
        ({**PRICES, "source_ids": ["x"]}, "body.source_ids[0]"),
        ({**PRICES, "tags": [""]}, "body.tags[0]"),
        ({**PRICES, "tags": ["x"] * 51}, "body.tags"),
        ({**PRICES, "channel": "With Spaces"}, "body.channel"),
        ({**PRICES, "notices": ["everything"]}, "body.notices[0]"),
        ({**PRICES, "notice_after": -1}, "body.notice_after"),
        ({**PRICES, "name": ""}, "body.name"),
    ],
)
async def test_a_malformed_alert_is_400_with_the_field(
    client: httpx.AsyncClient, body: dict[str, Any], where: str
) -> None:
    answer = await client.post("/v1/alerts", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, where)


async def test_an_alert_can_be_in_every_language_that_there_is(client: httpx.AsyncClient) -> None:
    for code in languages():
        assert (await made(client, language=code))["language"] == code


async def test_an_empty_query_is_everything(client: httpx.AsyncClient) -> None:
    assert (await made(client, filter_query=""))["name"] == "Everything"


async def test_there_is_an_end_to_how_many_alerts_there_may_be(house: House, client: httpx.AsyncClient) -> None:
    for number in range(MOST_ALERTS):
        await house.storage.alerts.put(an_alert(f"a{number}"))
    answer = await client.post("/v1/alerts", json=PRICES)
    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (409, "conflict")


async def test_reading_and_writing_alerts_are_scopes_of_their_own(house: House) -> None:
    async with (
        await house.client("alerts:read", "stream:read") as reader,
        await house.client("alerts:write", "stream:read") as writer,
    ):
        record = await made(writer)
        assert (await writer.get("/v1/alerts")).status_code == 403
        assert (await reader.get(f"/v1/alerts/{record['id']}")).status_code == 200
        assert (await reader.post("/v1/alerts", json=PRICES)).status_code == 403


async def test_a_matcher_that_does_not_answer_is_503(
    autojump_clock: object, house: House, client: httpx.AsyncClient
) -> None:
    house.matcher.silent = True
    answer = await client.post("/v1/alerts", json=PRICES)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


async def test_a_new_alert_is_about_the_change_unless_it_says_otherwise(
    house: House, client: httpx.AsyncClient
) -> None:
    assert (await made(client))["match"] == "change"
    record = await made(client, match="added")
    assert record["match"] == "added"
    path = f"/v1/alerts/{record['id']}"
    assert (await client.patch(path, json={"match": "page"})).json()["match"] == "page"
    assert (await client.patch(path, json={"name": "x"})).json()["match"] == "page"
    assert (await client.patch(path, json={"match": "title"})).status_code == 400
    await house.storage.alerts.put(an_alert("0198c0de-0000-7000-8000-000000000001"))
    old = await client.get("/v1/alerts/0198c0de-0000-7000-8000-000000000001")
    assert old.json()["match"] == "page"


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("price<300", [("Team · Price", "£289")]),
        ("kettle price<300", [("Team · Price", "£289")]),
        ("price>300", []),
        ("price.drop>=10%", []),
        ("kind:price", []),
        ("kettle", []),
    ],
)
async def test_a_condition_that_holds_already_is_named(
    house: House, client: httpx.AsyncClient, query: str, holds: list[tuple[str, str]]
) -> None:
    await house.publish(a_draft("Kettle"))
    source = a_source()
    house.registry.views[source.id] = SourceView(source, SourceRuntime())
    value = StandingValue(Value("£289", "money", 28900, 2, "GBP"), 0, "Team · Price")
    block = ReportedBlock("The kettle costs £289", False, False, False, "", "")
    house.registry.told[a_source_id()] = ReportedPage([block], 0, 0, StandingValues((value,)))
    for answer in (
        await made(client, filter_query=query),
        (await client.post("/v1/alerts/preview", json={"filter_query": query})).json(),
        await made(client, filter_query=query, source_ids=[a_source_id()]),
    ):
        assert [(one["label"], one["text"]) for one in answer["true_now"]] == holds
        assert all(one["source_id"] == a_source_id() for one in answer["true_now"])


@pytest.mark.parametrize("failing", ["storage", "registry", "slow"])
async def test_an_alert_is_answered_even_if_its_values_can_not_be_read(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    async def reported(*_: object, **__: object) -> None:
        if failing == "registry":
            raise trio.TooSlowError
        if failing == "storage":
            raise Unavailable("PostgreSQL is away")
        await trio.sleep(3600)

    source = a_source()
    house.registry.views[source.id] = SourceView(source, SourceRuntime())
    monkeypatch.setattr(sources, "reported_page", reported)
    began = trio.current_time()
    assert (await made(client, filter_query="price<300"))["true_now"] == []
    assert trio.current_time() - began < TRIED_WITHIN + 1 and len((await client.get("/v1/alerts")).json()) == 1


async def test_a_new_alert_gets_copies_of_destinations(house: House, client: httpx.AsyncClient) -> None:
    first = await made(client)
    await house.storage.alerts.put_destination(a_destination("hook", first["id"], id=HOOK))
    other = await made(client, destination_ids=[HOOK])
    (copied,) = (await client.get(f"/v1/alerts/{other['id']}/destinations")).json()
    assert (other["destination_count"], copied["url"]) == (1, "https://hook.example/in") and copied["id"] != HOOK
    answer = await client.post("/v1/alerts", json=PRICES | {"destination_ids": [first["id"]]})
    assert answer.status_code == 422 and "there is no destination" in answer.text
    assert len((await client.get("/v1/alerts")).json()) == 2
