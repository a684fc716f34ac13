"""Previews of message templates from recent events, an alert's events and samples; and their errors."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import trio

from api.nouns.deliveries import PREVIEWS
from storage.records.event import Change, Diff
from tests.api.house import House
from tests.support.build import a_draft

PREVIEW = "/v1/destinations/preview"


async def previewed(client: httpx.AsyncClient, **more: Any) -> list[dict[str, Any]]:
    answer = await client.post(PREVIEW, json={"kind": "slack"} | more)
    assert answer.status_code == 200, answer.text
    messages: list[dict[str, Any]] = answer.json()["messages"]
    return messages


async def test_it_shows_the_newest_event_and_a_digest_of_the_newest(house: House, client: httpx.AsyncClient) -> None:
    diff = Diff((), (), (Change("29 kr", "31 kr"),))
    await house.publish("One", "Two", "Three", a_draft("Fares <rise>", diff=diff), a_draft("quiet", alert_type="x"))
    message = "{{ count }}: {{ title }}{% for line in changed %} {{ line.after }}{% endfor %}"
    event, digest = await previewed(client, message=message, message_title="About {{ host }}")
    assert (event["of"], digest["of"]) == ("event", "digest")
    assert (event["text"], event.get("failure")) == ("1: Fares &lt;rise&gt; 31 kr", None)
    assert event["title"].startswith("About ") and digest["text"].startswith("3: 3 events")
    usual, _ = await previewed(client)
    assert "31 kr" in usual["text"] and "Fares" in usual["title"]


async def test_a_preview_shows_an_event_that_its_alert_matches(house: House, client: httpx.AsyncClient) -> None:
    await house.publish("price of bread", "weather")
    made = await client.post("/v1/alerts", json={"filter_query": "price"})
    event, digest = await previewed(client, message="{{ title }}", alert_id=made.json()["id"])
    assert (event["text"], digest["text"][:2]) == ("price of bread", "1 ")
    answer = await client.post(PREVIEW, json={"kind": "slack", "alert_id": "0" * 32})
    assert answer.status_code == 404


async def test_without_events_it_shows_samples(client: httpx.AsyncClient) -> None:
    messages = await previewed(client, message="{{ title }} {{ link }}")
    assert [each["of"] for each in messages] == ["sample"] * 3
    assert messages[0]["text"] == "Fares https://example.com/fares"


async def test_a_template_that_fails_on_an_event_says_so_and_shows_the_usual_message(
    house: House, client: httpx.AsyncClient
) -> None:
    await house.publish("Fares now")
    event, _ = await previewed(client, message="{{ title }}{% if title == 'Fares now' %}{{ 1 / 0 }}{% endif %}")
    assert "division by zero" in event["failure"] and "Fares" in event["text"]


@pytest.mark.parametrize(
    ("change", "status", "where", "says"),
    [
        ({"message": "a\n{{ tilte }}"}, 422, "body.message", "no value named tilte"),
        ({"message": "\n\n{{ title.x }}"}, 422, "body.message", "line 3"),
        ({"message_title": "{% if %}"}, 422, "body.message_title", "line 1"),
        ({"message": "x" * 9000}, 400, "body.message", "4096"),
        ({"kind": "webhook", "message": "x"}, 422, "body.kind", "for a program"),
        ({"kind": "nothing"}, 422, "body.kind", "no such kind of destination. There are: "),
        ({"kind": "slak"}, 422, "body.kind", "Did you mean slack?"),
        ({"colour": 1}, 400, "body.colour", "unknown field"),
    ],
)
async def test_each_error_is_named(
    client: httpx.AsyncClient, change: dict[str, Any], status: int, where: str, says: str
) -> None:
    answer = await client.post(PREVIEW, json={"kind": "slack"} | change)
    error = answer.json()["errors"][0]
    assert (answer.status_code, error["location"], says in error["message"]) == (status, where, True), answer.text


async def test_a_destination_with_a_bad_template_is_refused_and_a_good_one_is_stored(
    house: House, client: httpx.AsyncClient
) -> None:
    alert = (await client.post("/v1/alerts", json={"filter_query": ""})).json()
    body: dict[str, Any] = {"kind": "slack", "url": "https://hooks.test/services/T/B/x"}
    path = f"/v1/alerts/{alert['id']}/destinations"
    bad = await client.post(path, json=body | {"options": {"message": "{{ oops }}"}})
    assert (bad.status_code, bad.json()["errors"][0]["location"]) == (422, "body.options.message")
    made = await client.post(path, json=body | {"options": {"message": "{{ title }}"}})
    assert made.status_code == 201, made.text
    where = f"/v1/destinations/{made.json()['id']}"
    assert (await client.get(where)).json()["options"] == {"message": "{{ title }}"}
    refused = await client.patch(where, json={"options": {"message_title": "{{ 1 / 0 }}"}})
    assert (refused.status_code, refused.json()["errors"][0]["location"]) == (422, "body.options.message_title")
    assert (await client.patch(where, json={"options": {"message": None}})).json()["options"] == {}


async def test_it_has_a_pace_for_all_keys_together(house: House, autojump_clock: object) -> None:
    async with (
        await house.client("alerts:read", "stream:read") as one,
        await house.client("alerts:read", "stream:read") as two,
    ):
        answers = [await one.post(PREVIEW, json={"kind": "slack"}) for _ in range(PREVIEWS.burst)]
        assert {answer.status_code for answer in answers} == {200}
        answer = await two.post(PREVIEW, json={"kind": "slack"})
        assert answer.status_code == 429
        await trio.sleep(int(answer.headers["retry-after"]))
        assert (await two.post(PREVIEW, json={"kind": "slack"})).status_code == 200
