"""Tags over the API: counts; defaults set, read and deleted; and refusals."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from actors.inheritance import effective
from actors.messages.views import SourceView
from api.nouns.sources import record_of
from storage.records.source import SourceRuntime, TagDefaults
from tests.api.house import House
from tests.api.nouns.test_alerts import made
from tests.api.nouns.test_destinations import hooked
from tests.support.build import NOW, a_source

PATH = "/v1/tags/label:prices"
SETTINGS: dict[str, Any] = {
    "schedule": "15m",
    "hours": "weekdays 08-18 Europe/Stockholm",
    "bar": 0.4,
    "selector": "main",
    "ignore": ["nav", ".ad"],
}
OTHER = '"000000000000000000000000"'


def put(house: House, number: int, *tags: str) -> None:
    source = a_source(number, tags=tags)
    house.registry.views[source.id] = SourceView(source, SourceRuntime())


async def test_defaults_are_set_read_replaced_and_taken_away(house: House, client: httpx.AsyncClient) -> None:
    put(house, 1, "label:prices")
    put(house, 2, "label:prices/se", "source_type:html")
    answer = await client.put(PATH, json=SETTINGS)
    record = answer.json()
    assert answer.status_code == 200 and record == {
        "tag": "label:prices",
        "sources": 1,
        "sources_below": 2,
        "defaults": SETTINGS
        | {"destinations": [], "updated_at": record["defaults"]["updated_at"]}
        | {"revision": answer.headers["etag"].strip('"'), "updated_by": "test", "managed": None},
    }
    assert (await client.get(PATH)).json() == (await client.get("/v1/tags/prices")).json() == record
    listed = (await client.get("/v1/tags")).json()
    assert [(one["tag"], one["defaults"] is not None) for one in listed] == [
        ("label:prices", True),
        ("label:prices/se", False),
    ]
    replaced = await client.put(PATH, json={"bar": 0.6})
    assert replaced.json()["defaults"] | {"updated_at": "", "revision": ""} == {
        **dict.fromkeys(("schedule", "hours", "selector")),
        "bar": 0.6,
        "ignore": [],
        "destinations": [],
        "updated_at": "",
        "revision": "",
        "updated_by": "test",
        "managed": None,
    }
    assert (await client.delete(PATH)).status_code == 204
    assert (await client.get(PATH)).json()["defaults"] is None
    assert (await client.delete(PATH)).status_code == 404


async def test_a_tag_is_named_in_the_path_with_its_slashes_as_they_are_or_encoded(
    house: House, client: httpx.AsyncClient
) -> None:
    for path in ("news/se", "label:news/se", "label%3Anews%2Fse", "label:news%2fse"):
        assert (await client.put(f"/v1/tags/{path}", json={"bar": 0.4})).json()["tag"] == "label:news/se", path
    assert (await client.put("/v1/tags/k%C3%BCche//x%20y", json={"bar": 0.4})).json()["tag"] == "label:küche//x y"
    assert [one["tag"] for one in (await client.get("/v1/tags")).json()] == ["label:küche//x y", "label:news/se"]


async def test_a_list_of_tags_goes_page_by_page(house: House, client: httpx.AsyncClient) -> None:
    put(house, 1, *(f"label:{name}" for name in "dbca"))
    page = await client.get("/v1/tags?limit=3")
    assert [one["tag"] for one in page.json()] == ["label:a", "label:b", "label:c"]
    rest = await client.get(page.links["next"]["url"])
    assert [one["tag"] for one in rest.json()] == ["label:d"] and "next" not in rest.links


async def test_a_tag_that_nothing_has_is_not_there(client: httpx.AsyncClient) -> None:
    answer = await client.get(PATH)
    assert answer.status_code == 404 and "No source has the tag label:prices" in answer.text


async def test_defaults_outlive_the_last_source_of_their_tag(house: House, client: httpx.AsyncClient) -> None:
    put(house, 1, "label:prices")
    await client.put(PATH, json={"bar": 0.4})
    house.registry.views.clear()
    record = (await client.get(PATH)).json()
    assert (record["sources"], record["defaults"]["bar"]) == (0, 0.4)


async def test_a_change_from_another_revision_is_refused(client: httpx.AsyncClient) -> None:
    assert (await client.put(PATH, json={"bar": 0.4}, headers={"If-Match": "*"})).status_code == 412
    tag = (await client.put(PATH, json={"bar": 0.4})).headers["etag"]
    again = await client.put(PATH, json={"bar": 0.4}, headers={"If-Match": tag})
    assert (again.status_code, again.headers["etag"]) == (200, tag), "it changes nothing"
    assert (await client.get(PATH, headers={"If-None-Match": tag})).status_code == 304
    for method, body in (("PUT", {"bar": 0.5}), ("DELETE", None)):
        answer = await client.request(method, PATH, json=body, headers={"If-Match": OTHER})
        assert answer.status_code == 412, method
    assert (await client.put(PATH, json={"bar": 0.5}, headers={"If-Match": tag})).status_code == 200
    assert (await client.delete(PATH, headers={"If-Match": tag})).status_code == 412


async def test_if_none_match_refuses_an_existing_record(client: httpx.AsyncClient) -> None:
    new = {"If-None-Match": "*"}
    assert (await client.put(PATH, json={"bar": 0.4}, headers=new)).status_code == 200
    assert (await client.put(PATH, json={"bar": 0.5}, headers=new)).status_code == 412
    assert (await client.get(PATH)).json()["defaults"]["bar"] == 0.4
    answer = await client.put(PATH, json={"bar": 0.5}, headers={"If-None-Match": OTHER})
    assert answer.status_code == 400 and "can only be *" in answer.text


async def test_the_mark_of_files_stays_until_it_is_taken_away_and_is_no_setting(client: httpx.AsyncClient) -> None:
    mark = {"workspace": "shop", "name": "prices", "applied": ""}
    assert (await client.put(PATH, json={"managed": mark})).status_code == 422
    first = (await client.put(PATH, json={"bar": 0.4, "managed": mark})).json()["defaults"]
    assert first["managed"] == mark
    second = (await client.put(PATH, json={"bar": 0.5})).json()["defaults"]
    assert second["managed"] == mark and second["revision"] != first["revision"]
    assert (await client.put(PATH, json={"bar": 0.5, "managed": None})).json()["defaults"]["managed"] is None
    assert (await client.put(PATH, json={"bar": 0.5, "managed": {"workspace": "No"}})).status_code == 400


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        (PATH, {}, 422, "no default is set"),
        (PATH, {"schedule": "1s"}, 422, "body.schedule: an interval is from 1m to 7d"),
        (PATH, {"schedule": "soon"}, 400, "body.schedule"),
        (PATH, {"bar": 2}, 400, "body.bar"),
        (PATH, {"ignore": [""]}, 400, "body.ignore"),
        (PATH, {"tags": ["x"]}, 400, "tags"),
        (PATH, {"destinations": ["019db0a4-8e30-7000-8000-0000000000c1"]}, 422, "there is no destination"),
        ("/v1/tags/source_type:html", {"bar": 0.4}, 422, "the service's own"),
        ("/v1/tags/label:", {"bar": 0.4}, 404, "<namespace>:<value>"),
        ("/v1/tags/a%00b", {"bar": 0.4}, 404, "There is no such tag"),
        (f"/v1/tags/{'x' * 101}", {"bar": 0.4}, 404, "There is no such tag"),
    ],
)
async def test_errors_are_reported_and_nothing_is_stored(
    house: House, client: httpx.AsyncClient, path: str, body: dict[str, Any], status: int, says: str
) -> None:
    answer = await client.put(path, json=body)
    assert answer.status_code == status and says in answer.json()["detail"] + str(answer.json().get("errors"))
    assert not await house.storage.tag_defaults.all()


async def test_a_source_shows_its_effective_values_and_their_tags() -> None:
    source = a_source(1, type="html", tags=("label:prices",), bar=0.6, ignore=("p",))
    by_tag = {"label:prices": TagDefaults("label:prices", NOW, schedule=900, bar=0.4, ignore=("nav",))}
    record = record_of(SourceView(source, SourceRuntime(), inheriting=effective(source, by_tag)))
    assert (record.schedule, record.bar, record.ignore) == (None, 0.6, ("p",))
    told = record.effective
    assert (told.schedule, told.bar, told.selector, told.ignore) == ("15m", 0.6, None, ("p", "nav"))
    assert record.inherited == {"schedule": ("label:prices",), "ignore": ("label:prices",)}
    assert record_of(SourceView(source, SourceRuntime())).inherited == {}
    none = replace(source, own_only=("schedule", "ignore"))
    record = record_of(SourceView(none, SourceRuntime(), inheriting=effective(none, by_tag)))
    assert (record.effective.schedule, record.effective.ignore, record.inherited) == (None, ("p",), {})
    assert record.own_only == ("schedule", "ignore")


# --- destinations ----------------------------------------------------------------------------------------------------


async def destinations_of(house: House, alert: dict[str, Any]) -> list[Any]:
    return list(await house.storage.alerts.destinations(alert["id"]))


async def test_a_new_alert_over_a_tag_gets_a_copy_of_each_of_its_destinations(
    house: House, client: httpx.AsyncClient
) -> None:
    one, two = (await hooked(client))["id"], (await hooked(client))["id"]
    await client.put(PATH, json={"destinations": [one, two, one]})
    assert (await client.get(PATH)).json()["defaults"]["destinations"] == [one, two]
    named = (await client.patch(f"/v1/destinations/{two}", json={"label": "The office"})).json()["label"]
    first = await house.storage.alerts.destination(one)
    assert first is not None
    await house.storage.alerts.put_destination(replace(first, state="failing", failing_since=NOW, told=2))
    alert, below = await made(client, tags=["prices"]), await made(client, tags=["prices/se"])
    for over in (alert, below):
        copies = await destinations_of(house, over)
        assert (first.kind, first.url, first.secrets) in [(copy.kind, copy.url, copy.secrets) for copy in copies]
        assert {copy.label for copy in copies} == {named, f"hook.test · {over['name']}"}
        assert len(copies) == 2 and all(copy.state == "active" and not copy.told for copy in copies)
        assert not {copy.id for copy in copies} & {one, two}


async def test_an_alert_over_other_tags_or_one_that_wants_none_gets_none(
    house: House, client: httpx.AsyncClient
) -> None:
    hook = (await hooked(client))["id"]
    await client.put(PATH, json={"destinations": [hook], "bar": 0.4})
    for changes in ({}, {"tags": ["other"]}, {"tags": ["prices"], "default_destinations": False}):
        assert not await destinations_of(house, await made(client, **changes))
    assert (await client.delete(f"/v1/destinations/{hook}")).status_code == 204
    shown = await client.get(PATH)
    assert shown.json()["defaults"]["destinations"] == []
    again = await client.put(PATH, json={"bar": 0.4}, headers={"If-Match": shown.headers["etag"]})
    assert again.status_code == 200, "one that is gone makes no other revision"
    await client.put(PATH, json={"bar": 0.4})
    assert not await destinations_of(house, await made(client, tags=["prices"]))


async def test_destinations_of_a_tag_need_the_scope_that_destinations_need(house: House) -> None:
    client = await house.client("sources:write", "sources:read")
    assert (await client.put(PATH, json={"bar": 0.4})).status_code == 200
    answer = await client.put(PATH, json={"destinations": ["019db0a4-8e30-7000-8000-0000000000c1"]})
    assert answer.status_code == 403 and "alerts:write" in answer.json()["detail"]
