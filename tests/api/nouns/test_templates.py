"""Templates over HTTP with a fake registry; tests/actors/templates covers the attaching."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from actors.errors import LibraryFull, Overloaded, Unprocessable, UrlRefused
from tests.api.house import House
from tests.api.listening import listening
from tests.support.build import a_draft

ID = "gtm-competitor-watch"
INSTANTIATE, PREVIEW = f"/v1/templates/{ID}/instantiate", f"/v1/templates/{ID}/preview"
ONE = {"params": {"domain": ["acme.example"]}, "alerts": True}


async def test_templates_are_listed_with_their_parameters(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/templates")
    assert answer.status_code == 200
    found = {each["slug"]: each for each in answer.json()}
    assert [*found] == sorted(found) and len(found) == 18
    assert [found[id]["source_count"] for id in ("clinical-trials-watch", ID, "swedish-public-sector")] == [1, 4, 5]
    record = found[ID]
    assert set(record) == {"slug", "name", "summary", "category", "version", "source_count", "parameters"}
    assert record["parameters"] == ["domain"], "names, which existing clients read"
    assert found["swedish-public-sector"]["parameters"] == []


async def test_a_template_describes_each_parameter_in_text_and_as_a_schema(client: httpx.AsyncClient) -> None:
    record = (await client.get(f"/v1/templates/{ID}")).json()
    (parameter,) = record["parameters"]
    assert parameter["key"] == "domain" and parameter["type"] == "domain" and parameter["repeatable"]
    assert (parameter["min"], parameter["max"], parameter["required"]) == (1, 10, True)
    schema = Draft202012Validator(json.loads(record["schema"]))
    assert schema.is_valid({"domain": ["acme.example"]})
    for wrong in ({}, {"domain": []}, {"domain": ["a.example"] * 11}, {"domain": ["a.example"], "other": ["x"]}):
        assert not schema.is_valid(wrong)


async def test_one_template_shows_its_sources_and_alerts(client: httpx.AsyncClient) -> None:
    record = (await client.get(f"/v1/templates/{ID}")).json()
    assert [source["url"] for source in record["sources"]][:2] == [
        "https://{domain}/pricing",
        "https://{domain}/careers",
    ]
    assert record["alerts"][0]["filter_query"] == "pricing OR price OR plan OR tier OR enterprise"
    assert record["alerts"][0]["match"] == "change"
    (listed,) = [each for each in (await client.get("/v1/templates")).json() if each["slug"] == ID]
    assert {**listed, "parameters": None}.items() <= {**record, "parameters": None}.items()


@pytest.mark.parametrize("name", ["nothing", "GTM-competitor-watch", "%00", "x" * 300])
async def test_an_unknown_template_is_404(client: httpx.AsyncClient, name: str) -> None:
    for answer in (
        await client.get(f"/v1/templates/{name}"),
        await client.post(f"/v1/templates/{name}/preview", json=ONE),
        await client.post(f"/v1/templates/{name}/instantiate", json=ONE),
    ):
        assert answer.status_code == 404, answer.text


async def test_the_report_is_the_contracts(house: House, client: httpx.AsyncClient) -> None:
    answer = await client.post(INSTANTIATE, json=ONE)
    assert answer.status_code == 200
    report = answer.json()
    sources, alerts = report.pop("sources"), report.pop("alerts")
    assert report == {
        "template": ID,
        "version": 1,
        "status": "complete",
        "next_steps": {
            "add_destination": f"/alerts/{alerts[0]['alert_id']}/destinations",
            "stream": f"/v1/stream?tag=template:{ID}",
        },
        "summary": {"attached": 4, "already": 0, "failed": 0, "alerts_created": 2, "skipped_cap": 0},
    }
    ids = {view.source.url: view.source.id for view in house.registry.views.values()}
    assert sources == [
        {
            "url": f"https://acme.example/{path}",
            "status": "attached_new",
            "source_id": ids[f"https://acme.example/{path}"],
            "detected_type": kind,
            "reason": None,
        }
        for path, kind in (("pricing", "html"), ("careers", "html"), ("about", "html"), ("blog", "feed"))
    ]
    assert [(each["name"], each["status"], each["source_count"]) for each in alerts] == [
        ("Pricing and packaging changes", "created", 4),
        ("Leadership changes", "created", 4),
    ]
    record = (await client.get(f"/v1/alerts/{alerts[0]['alert_id']}")).json()
    assert record["template"] == f"{ID}/pricing" and len(record["source_ids"]) == 4
    assert house.matcher.changes == 1, "told once for all"
    hook = {"kind": "webhook", "url": "https://hook.test/", "delivery_mode": "instant"}
    assert (await client.post(f"/v1{report['next_steps']['add_destination']}", json=hook)).status_code == 201
    assert (await client.get(f"/v1/sources/{sources[0]['source_id']}")).json()["tags"][-1] == f"template:{ID}"


async def test_only_the_sources_that_are_named_are_meant(house: House, client: httpx.AsyncClient) -> None:
    some = ONE | {"only": ["https://ACME.example/about", "https://acme.example/blog"]}
    seen = (await client.post(PREVIEW, json=some)).json()
    assert [one["url"] for one in seen["sources"]] == ["https://acme.example/about", "https://acme.example/blog"]
    report = (await client.post(INSTANTIATE, json=some)).json()
    assert report["summary"]["attached"] == 2 and report["alerts"][0]["source_count"] == 2
    assert len(house.registry.views) == 2


@pytest.mark.parametrize("only", [["https://acme.example/jobs"], ["https://other.example/about"]])
async def test_a_source_that_does_not_come_of_the_parameters_is_refused_by_its_place(
    house: House, client: httpx.AsyncClient, only: list[str]
) -> None:
    for path in (PREVIEW, INSTANTIATE):
        answer = await client.post(path, json=ONE | {"only": only})
        assert answer.status_code == 400 and answer.json()["errors"][0]["location"] == "body.only[0]", answer.text
    assert not house.registry.views


async def test_the_tags_of_an_attached_source_can_be_sent_back_with_others(client: httpx.AsyncClient) -> None:
    """A client that reads, adds and writes back must not fail on the service's own tag."""
    source = (await client.post(INSTANTIATE, json=ONE)).json()["sources"][0]["source_id"]
    tags = (await client.get(f"/v1/sources/{source}")).json()["tags"]
    changed = await client.patch(f"/v1/sources/{source}", json={"tags": [*tags, "mine"]})
    assert changed.status_code == 200 and changed.json()["tags"] == [*tags, "label:mine"]
    forged = await client.patch(f"/v1/sources/{source}", json={"tags": ["template:other"]})
    assert forged.status_code == 422 and forged.json()["errors"][0]["location"] == "body.tags[0]"


async def test_without_alerts_none_are_made(house: House, client: httpx.AsyncClient) -> None:
    report = (await client.post(INSTANTIATE, json={"params": ONE["params"]})).json()
    assert report["alerts"] == [] and report["next_steps"]["add_destination"] is None
    assert (await client.get("/v1/alerts")).json() == [] and house.matcher.changes == 0


async def test_failures_are_reported_with_their_reason_in_a_200(house: House, client: httpx.AsyncClient) -> None:
    base = "https://acme.example"
    house.registry.refusals = {
        f"{base}/pricing": Unprocessable("it can't be watched now: HTTP 404"),
        f"{base}/careers": UrlRefused("address-private", "10.0.0.1 is private"),
        f"{base}/about": Overloaded("our own network is in trouble", 60),
        f"{base}/blog": LibraryFull("the library is full: max_sources is 7"),
    }
    report = (await client.post(INSTANTIATE, json=ONE)).json()
    assert [source["reason"] for source in report["sources"]] == [
        "it can't be watched now: HTTP 404",
        "10.0.0.1 is private (rule: address-private)",
        "our own network is in trouble",
        "the library is full: max_sources is 7",
    ]
    assert {source["status"] for source in report["sources"]} == {"failed"}
    assert report["status"] == "partial"
    assert report["summary"] == {"attached": 0, "already": 0, "failed": 4, "alerts_created": 0, "skipped_cap": 1}
    assert {alert["status"] for alert in report["alerts"]} == {"failed"}
    assert (await client.get("/v1/alerts")).json() == []


async def test_a_repeat_finds_the_objects_and_notifies_the_matcher_again(
    house: House, client: httpx.AsyncClient
) -> None:
    """A crash may have cut the previous call between storing the alerts and notifying the matcher."""
    first = (await client.post(INSTANTIATE, json=ONE)).json()
    again = (await client.post(INSTANTIATE, json=ONE)).json()
    assert {source["status"] for source in again["sources"]} == {"attached_existing"}
    assert [(alert["status"], alert["alert_id"]) for alert in again["alerts"]] == [
        ("exists", alert["alert_id"]) for alert in first["alerts"]
    ]
    assert again["summary"] == {"attached": 0, "already": 4, "failed": 0, "alerts_created": 0, "skipped_cap": 0}
    assert again["next_steps"] == first["next_steps"] and house.matcher.changes == 2


async def test_a_registry_that_does_not_answer_is_a_timeout_of_the_source(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    house.registry.silent = {"https://acme.example/about"}
    report = (await client.post(INSTANTIATE, json=ONE)).json()
    late = report["sources"][2]
    assert late["status"] == "failed" and late["reason"].startswith("timeout") and "call again" in late["reason"]
    assert report["summary"]["attached"] == 3 and report["alerts"][0]["source_count"] == 3


async def test_a_preview_of_a_template_lists_its_sources_and_changes_nothing(
    house: House, client: httpx.AsyncClient
) -> None:
    answer = await client.post(PREVIEW, json=ONE)
    assert answer.status_code == 200
    preview = answer.json()
    assert [(each["url"], each["status"], each["type"]) for each in preview["sources"]] == [
        ("https://acme.example/pricing", "new", "html"),
        ("https://acme.example/careers", "new", "html"),
        ("https://acme.example/about", "new", "html"),
        ("https://acme.example/blog", "new", "feed"),
    ]
    assert preview["sources"][0]["tags"] == ["page:pricing", "company:acme.example", f"template:{ID}"]
    assert [(each["name"], each["status"], each["alert_id"]) for each in preview["alerts"]] == [
        ("Pricing and packaging changes", "new", None),
        ("Leadership changes", "new", None),
    ]
    assert preview["summary"] == {"new": 4, "existing": 0, "alerts_new": 2, "alerts_existing": 0}
    assert house.registry.seen == [] and house.matcher.changes == 0
    assert (await client.get("/v1/alerts")).json() == []


async def test_a_preview_knows_the_alerts_that_are_there(client: httpx.AsyncClient) -> None:
    report = (await client.post(INSTANTIATE, json=ONE)).json()
    first = report["alerts"][0]["alert_id"]
    await client.patch(f"/v1/alerts/{first}", json={"name": "Mine", "filter_query": "price", "match": "removed"})
    alerts = (await client.post(PREVIEW, json=ONE)).json()["alerts"]
    assert (alerts[0]["name"], alerts[0]["status"], alerts[0]["alert_id"]) == ("Mine", "existing", first)
    assert (alerts[0]["filter_query"], alerts[0]["match"], alerts[1]["match"]) == ("price", "removed", "change")
    assert (await client.post(PREVIEW, json={"params": ONE["params"]})).json()["alerts"] == []


@pytest.mark.parametrize("path", [INSTANTIATE, PREVIEW])
@pytest.mark.parametrize(
    ("body", "location"),
    [
        ({}, "body.params.domain"),
        ({"params": {}}, "body.params.domain"),
        ({"params": None}, "body.params"),
        ({"params": []}, "body.params"),
        ({"params": {"domain": "acme.example"}}, "body.params.domain"),
        ({"params": {"domain": []}}, "body.params.domain"),
        ({"params": {"domain": ["x.example"] * 11}}, "body.params.domain"),
        ({"params": {"domain": ["acme.example", "https://acme.example"]}}, "body.params.domain[1]"),
        ({"params": {"domain": ["acme.example", 1]}}, "body.params.domain[1]"),
        ({"params": {"domain": ["acme.example"], "colour": ["red"]}}, "body.params.colour"),
        ({"params": {"domain": ["acme.example"]}, "alerts": "yes"}, "body.alerts"),
        ({"params": {"domain": ["acme.example"]}, "version": 2}, "body.version"),
    ],
)
async def test_an_invalid_parameter_is_400_at_its_place(
    house: House, client: httpx.AsyncClient, path: str, body: dict[str, Any], location: str
) -> None:
    answer = await client.post(path, json=body)
    assert answer.status_code == 400, answer.text
    problem = answer.json()
    assert problem["type"].endswith("/problems/invalid-request")
    assert [error["location"] for error in problem["errors"]] == [location]
    assert problem["detail"].startswith(location) and problem["errors"][0]["message"]
    assert house.registry.seen == []


async def test_every_wrong_value_is_named_with_its_input(client: httpx.AsyncClient) -> None:
    domains = ["acme.example", "localhost", "192.0.2.1", "*.acme.example", "acme.example:80"]
    problem = (await client.post(INSTANTIATE, json={"params": {"domain": domains}})).json()
    assert [(error["location"], error["value"]) for error in problem["errors"]] == [
        (f"body.params.domain[{index}]", domain) for index, domain in enumerate(domains) if index
    ]


async def test_a_template_without_parameters_needs_none_and_takes_none(client: httpx.AsyncClient) -> None:
    path = "/v1/templates/swedish-public-sector/instantiate"
    assert (await client.post(path, json={"alerts": True})).json()["summary"]["attached"] == 5
    assert (await client.post(path, json={"params": {}})).json()["summary"]["already"] == 5
    answer = await client.post(path, json={"params": {"domain": ["acme.example"]}})
    assert answer.status_code == 400 and "takes none" in answer.json()["detail"]


async def test_all_scopes_are_needed(house: House) -> None:
    for scopes, path, missing in (
        (("alerts:write", "stream:read"), INSTANTIATE, "sources:write"),
        (("sources:write", "stream:read"), INSTANTIATE, "alerts:write"),
        (("alerts:write", "sources:write"), INSTANTIATE, "stream:read"),
        (("alerts:read",), PREVIEW, "sources:read"),
        (("sources:read",), PREVIEW, "alerts:read"),
    ):
        async with await house.client(*scopes) as client:
            answer = await client.post(path, json=ONE)
            assert answer.status_code == 403 and f"the scope {missing}." in answer.json()["detail"]
    async with await house.client("alerts:write", "sources:write", "stream:read") as client:
        assert (await client.post(INSTANTIATE, json=ONE)).status_code == 200


# --- channels --------------------------------------------------------------------------------------------------------


async def test_the_channel_of_a_template_has_its_events_and_no_others(house: House) -> None:
    tag = f"template:{ID}"
    async with listening(house, f"/v1/streams/{ID}") as client:
        assert client.status == 200
        await house.publish(a_draft("other"), a_draft("ours", tags=("page:blog", tag)))
        await house.publish(a_draft("of another template", tags=("template:swedish-public-sector",)))
        await house.publish(a_draft("a notice", tags=(tag,), alert_type="source_quiet"))
        await house.publish(a_draft("ours again", tags=(tag,), source_type="html"))
        assert await client.titles(2) == ["ours", "ours again"]


async def test_tags_narrow_the_channel_of_a_template(house: House) -> None:
    """A tag filter and the template's own filter must both match."""
    tag = f"template:{ID}"
    before = (await house.publish("first"))[0]
    await house.publish(a_draft("elsewhere", tags=("company:acme.example",)))
    await house.publish(a_draft("of another", tags=("company:b.example", tag)))
    await house.publish(a_draft("in the past", tags=("company:acme.example", tag)))
    since = before.body.decode().split('"id":"')[1][:36]
    async with listening(house, f"/v1/streams/{ID}?tag=company:acme.example&tag=x:y&since={since}") as client:
        await house.publish(a_draft("of another live", tags=("company:b.example", tag)))
        await house.publish(a_draft("live", tags=("company:acme.example", tag)))
        assert await client.titles(2) == ["in the past", "live"]


async def test_a_key_may_be_for_the_channel_of_a_template_only(house: House) -> None:
    key = await house.key(f"stream:read:{ID}")
    async with listening(house, f"/v1/streams/{ID}", key) as client:
        assert client.status == 200
    async with listening(house, "/v1/streams/swedish-public-sector", key) as client:
        assert client.status == 403


async def test_an_unknown_channel_is_404_and_says_which_there_are(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/streams/nothing")
    assert answer.status_code == 404 and ID in answer.json()["detail"]


async def test_no_alert_can_take_the_name_of_a_template_for_its_channel(client: httpx.AsyncClient) -> None:
    alert = {"filter_query": "x", "channel": ID}
    assert (await client.post("/v1/alerts", json=alert)).status_code == 422
    made = (await client.post("/v1/alerts", json={"filter_query": "x"})).json()["id"]
    answer = await client.patch(f"/v1/alerts/{made}", json={"channel": ID})
    assert answer.status_code == 422 and answer.json()["errors"][0]["location"] == "body.channel"
