"""Tags' defaults in files: applied, changed by hand, taken over, removed, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from extras.apply.acting import Actor, ActResult, state_of
from extras.apply.groups import BadFiles
from extras.apply.planning import lines_of
from extras.apply.reading import read_folder
from extras.apply.writing import written
from sanderling.client.api import Client, WaitingClient
from tests.api.house import BASE_URL
from tests.extras.apply.folder import Service, files

ALERTS = """
[alerts.prices]
query = "price"
destinations = ["hook"]
[alerts.plans]
query = "plan"
destinations = ["hook"]
[destinations.hook]
url = "https://hook.test/in"
"""
TAG = """
[tags.prices]
schedule = "90m"
bar = 0.4
ignore = ["nav", ".ad"]
destinations = ["hook"]
"""
PATH = "/v1/tags/label:prices"


async def defaults(service: Service, path: str = PATH) -> Any:
    return (await service.ask("GET", path))["defaults"]


def flaws(folder: Path) -> list[str]:
    with pytest.raises(BadFiles) as caught:
        read_folder(folder, {})
    return [str(flaw) for flaw in caught.value.flaws]


async def test_a_tag_is_applied_after_the_destinations_it_names(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=TAG + ALERTS)
    assert list(lines_of(await service.plan(folder)))[-7:-2] == [
        "+ tags.prices",
        "    schedule      90m",
        "    bar           0.4",
        "    ignore        nav, .ad",
        "    destinations  hook",
    ]
    done, _ = await service.apply(folder)
    assert [one.act.kind for one in done][-2:] == ["destinations", "tags"]
    kept = await defaults(service)
    assert (kept["schedule"], kept["bar"], kept["ignore"]) == ("90m", 0.4, ["nav", ".ad"])
    hooks = {one["id"] for one in await service.ask("GET", "/v1/destinations")}
    assert len(kept["destinations"]) == 1 and set(kept["destinations"]) <= hooks
    assert (kept["managed"]["workspace"], kept["managed"]["name"]) == ("shop", "prices")
    assert (await service.plan(folder)).empty


async def test_a_change_by_hand_keeps_the_mark_and_is_reported_with_author_and_time(
    service: Service, tmp_path: Path
) -> None:
    await service.apply(folder := files(tmp_path / "f", all=TAG + ALERTS))
    await service.ask("PUT", PATH, json={"schedule": "2h", "bar": 0.4, "selector": "main"})
    at = (await defaults(service))["updated_at"]
    plan = await service.plan(folder)
    by = f"changed at the service by test at {at}"
    assert list(lines_of(plan))[:5] == [
        "~ tags.prices",
        f"    schedule      2h -> 90m   {by}",
        f"    selector      main -> none   {by}",
        f"    ignore        none -> nav, .ad   {by}",
        f"    destinations  none -> hook   {by}",
    ]
    await service.apply(folder)
    assert (await service.plan(folder)).empty and (await defaults(service))["selector"] is None


async def test_a_tag_dropped_from_files_is_deleted_before_its_destinations(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "f", all=TAG + ALERTS))
    done, asked = await service.apply(files(tmp_path / "f"))
    assert [one.act.kind for one in done] == ["tags", "destinations", "destinations", "alerts", "alerts"]
    assert f"DELETE {PATH}" in asked and await service.ask("GET", "/v1/tags") == []


async def test_hand_made_settings_are_taken_over_on_request_only(service: Service, tmp_path: Path) -> None:
    await service.ask("PUT", PATH, json={"bar": 0.4, "hours": "weekdays 08-18 UTC"})
    folder = files(tmp_path / "f", all="[tags.prices]\nbar = 0.4\n")
    assert (await service.plan(folder)).faults == [
        "tags.prices: label:prices exists already, and no files manage it: --adopt takes it over"
    ]
    done, _ = await service.apply(folder, adopt=True)
    assert [one.became for one in done] == ["taken over"]
    assert (await defaults(service))["hours"] is None and (await service.plan(folder)).empty
    other = files(tmp_path / "b", all='workspace = "other"\n[tags."label:prices"]\nbar = 0.6\n')
    assert (await service.plan(other, adopt=True)).faults == [
        "tags.label:prices: exists already, and the files of shop manage it as prices"
    ]


async def test_a_tag_of_sources_that_has_no_defaults_is_nobodys_business(service: Service, tmp_path: Path) -> None:
    await service.ask("POST", "/v1/sources", json={"url": "https://shore.test/", "tags": ["prices"]})
    plan = await service.plan(folder := files(tmp_path / "f", all="[tags.prices]\nbar = 0.4\n"))
    assert not plan.faults and [(act.verb, act.name) for act in plan.acts] == [("make", "prices")]
    await service.apply(folder)
    await service.apply(files(tmp_path / "f"))
    assert await defaults(service) is None


@pytest.mark.parametrize("name", ["topic:ai/eu", "küche//x y", "a/../b", "100 %", "label:a:b"])
async def test_any_tag_may_be_a_name(service: Service, tmp_path: Path, name: str) -> None:
    folder = files(tmp_path / "f", all=f'[tags."{name}"]\nbar = 0.4\n')
    done, _ = await service.apply(folder)
    assert [one.became for one in done] == ["made"]
    tag = name if ":" in name else f"label:{name}"
    assert [one["tag"] for one in await service.ask("GET", "/v1/tags")] == [tag]
    files(tmp_path / "f", all=f'[tags."{name}"]\nbar = 0.6\n')
    await service.apply(folder)
    assert (await service.plan(folder)).empty
    await service.apply(files(tmp_path / "f"))
    assert await service.ask("GET", "/v1/tags") == []


def test_settings_that_no_tag_can_have_are_reported_with_their_line(tmp_path: Path) -> None:
    wrong = (
        '[tags."kind:html"]\nbar = 0.4\n[tags."topic:"]\nbar = 0.4\n[tags.empty]\nignore = []\n'
        '[tags.prices]\nscedule = "1h"\n[tags.told]\ndestinations = ["hok"]\n'
    )
    assert flaws(files(tmp_path / "f", all=wrong + ALERTS)) == [
        "all.toml:1: tags.kind:html: the namespace kind is the service's own: take another, or none",
        "all.toml:3: tags.topic:: a tag is a word, or <namespace>:<value>, of at most 100 characters",
        "all.toml:5: tags.empty: sets nothing: set something, or take it out",
        "all.toml:8: tags.prices.scedule: there is no such key; did you mean schedule?",
        "all.toml:10: tags.told.destinations: there is no [destinations.hok] in these files; did you mean hook?",
    ]


async def test_a_tag_with_and_without_its_namespace_is_one(service: Service, tmp_path: Path) -> None:
    twice = '[tags.prices]\nbar = 0.4\n[tags."label:prices"]\nbar = 0.4\n'
    plan = await service.plan(files(tmp_path / "f", all=twice))
    assert plan.faults == ["tags.label:prices: is the same tag as prices: a bare word is a label"]


async def test_deleting_an_alert_updates_the_tag_with_its_destination_without_drift(
    service: Service, tmp_path: Path
) -> None:
    await service.apply(files(tmp_path / "f", all=TAG + ALERTS))
    (told,) = (await defaults(service))["destinations"]
    alert = (await service.ask("GET", f"/v1/destinations/{told}"))["alert_id"]
    gone = (await service.ask("GET", f"/v1/alerts/{alert}"))["name"]
    query = {"prices": "price", "plans": "plan"}[gone]
    left = ALERTS.replace(f'[alerts.{gone}]\nquery = "{query}"\ndestinations = ["hook"]\n', "")
    plan = await service.plan(folder := files(tmp_path / "f", all=TAG + left))
    (act,) = [act for act in plan.acts if act.kind == "tags"]
    assert [(change.field, change.after, change.cause) for change in act.changes] == [
        ("destinations", ("hook",), "files")
    ]
    await service.apply(folder)
    (other,) = (await defaults(service))["destinations"]
    assert other != told and (await service.plan(folder)).empty


async def test_a_destination_that_is_called_otherwise_is_the_same_for_its_tag(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "f", all=TAG + ALERTS))
    before = await defaults(service)
    folder = files(tmp_path / "f", all=(TAG + ALERTS).replace('"hook"', '"team"').replace(".hook]", ".team]"))
    assert "tags" not in {act.kind for act in (await service.plan(folder)).acts}
    await service.apply(folder)
    assert await defaults(service) == before and (await service.plan(folder)).empty


async def test_an_edit_after_the_plan_is_not_overwritten(service: Service, tmp_path: Path) -> None:
    plan = await service.plan(files(tmp_path / "f", all="[tags.prices]\nbar = 0.4\n"))
    await service.ask("PUT", PATH, json={"bar": 0.6})
    done: list[ActResult] = []
    await Actor(service.client(), plan, done.append).run()
    assert [(one.became, one.says) for one in done] == [
        ("refused", "another client has just added it: run the same command again")
    ]
    await service.apply(folder := tmp_path / "f", adopt=True)
    plan = await service.plan(files(folder, all="[tags.prices]\nbar = 0.2\n"))
    await service.ask("PUT", PATH, json={"bar": 0.7})
    await Actor(service.client(), plan, done.append).run()
    assert "since the plan was made" in done[-1].says and (await defaults(service))["bar"] == 0.7


class Lossy(httpx.AsyncBaseTransport):
    """A connection that loses the answer to the first PUT."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner, self.puts = inner, 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._inner.handle_async_request(request)
        self.puts += request.method == "PUT"
        if request.method == "PUT" and self.puts == 1:
            raise httpx.ReadError("cut")
        return answer


async def test_when_the_answer_is_lost_it_is_made_all_the_same(service: Service, tmp_path: Path) -> None:
    lossy = Lossy(service.inner)
    client = WaitingClient(Client(BASE_URL, service.key, lossy))
    plan = await service.plan(folder := files(tmp_path / "f", all="[tags.prices]\nbar = 0.4\n"), client)
    done: list[ActResult] = []
    await Actor(client, plan, done.append).run()
    assert [one.became for one in done] == ["made"] and lossy.puts == 2
    assert (await service.plan(folder)).empty


async def test_an_export_leaves_out_destinations_of_other_files(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "theirs", all='workspace = "theirs"\n' + ALERTS))
    hook = (await service.ask("GET", "/v1/destinations"))[0]["id"]
    await service.ask("PUT", "/v1/tags/told", json={"destinations": [hook]})
    await service.ask("PUT", PATH, json={"destinations": [hook], "bar": 0.4})
    made = written(await state_of(service.client()), "main")
    assert made.files["tags.toml"].split("\n", 2)[2] == "[tags.prices]\nbar = 0.4\n" and made.counts["tags"] == 1
