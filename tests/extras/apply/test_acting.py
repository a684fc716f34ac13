from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import trio

from extras.apply.planning import lines_of
from sanderling.exits import CommandFailed
from tests.api.house import make_house, running
from tests.extras.apply.folder import Killed, Service, files

BEFORE = """
[sources.tickets]
url = "https://shore.test/tickets"
tags = ["shop"]
[sources.terms]
url = "https://shore.test/terms"
[sources.news]
url = "https://shore.test/news"
[alerts.prices]
query = "price"
sources = ["tickets", "terms"]
destinations = ["hook", "old"]
[alerts.gone]
query = "gone"
destinations = ["hook"]
[destinations.hook]
url = "https://hook.test/in"
[destinations.old]
url = "https://old.test/in"
[tags.shop]
schedule = "2h"
ignore = [".b", ".a"]
destinations = ["old"]
[tags."topic:gone"]
bar = 0.4
[publications.prices]
title = "Prices"
alerts = ["prices"]
"""
AFTER = """
[sources.tickets]
url = "https://shore.test/tickets"
tags = ["shop", "topic:prices"]
schedule = "1h"
[sources.conditions]
url = "https://shore.test/terms"
[sources.news]
url = "https://shore.test/news/en"
[sources.map]
url = "https://shore.test/map"
enabled = false
[alerts.prices]
query = "price OR ticket"
sources = ["conditions", "map", "news"]
destinations = ["hook", "new"]
[alerts.closed]
query = "closed"
destinations = ["hook"]
[destinations.hook]
url = "https://hook.test/in"
delivery_mode = "hourly"
[destinations.new]
url = "https://new.test/in"
secret = { env = "SECRET" }
[tags.shop]
schedule = "3h"
destinations = ["new", "hook"]
[tags."topic:prices/eu"]
selector = "main"
[publications.prices]
title = "Prices and more"
ends_on = "2026-12-31"
alerts = ["prices", "closed"]
"""
SECRET = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ=="


async def empty(service: Service, folder: Path) -> bool:
    plan = await service.plan(folder)
    return plan.empty and not plan.faults


async def test_files_are_applied_and_a_second_plan_is_empty(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=BEFORE)
    done, _ = await service.apply(folder)
    assert [one.became for one in done] == ["made"] * 11
    assert await empty(service, folder)
    (record,) = [one for one in await service.ask("GET", "/v1/alerts") if one["name"] == "prices"]
    assert (record["name"], record["filter_query"], len(record["source_ids"])) == ("prices", "price", 2)
    assert (record["managed"]["workspace"], record["managed"]["name"]) == ("shop", "prices")


async def test_apply_changes_and_deletes_and_keeps_other_ids(service: Service, tmp_path: Path) -> None:
    service.variables = {"SECRET": SECRET}
    await service.apply(files(tmp_path / "f", all=BEFORE))
    before = {one["url"]: one["id"] for one in await service.ask("GET", "/v1/sources")}
    (alert,) = [one for one in await service.ask("GET", "/v1/alerts") if one["name"] == "prices"]
    done, _ = await service.apply(folder := files(tmp_path / "f", all=AFTER))
    assert {f"{one.act.verb} {one.act.kind}.{one.act.name}" for one in done if one.became != "refused"} == {
        "change sources.tickets",
        "change sources.conditions",
        "make sources.news",
        "make sources.map",
        "delete sources.news",
        "change alerts.prices",
        "make alerts.closed",
        "delete alerts.gone",
        "change destinations.prices/hook",
        "make destinations.prices/new",
        "make destinations.closed/hook",
        "delete destinations.prices/old",
        "delete destinations.gone/hook",
        "change tags.shop",
        "make tags.topic:prices/eu",
        "delete tags.topic:gone",
        "change publications.prices",
    }
    after = {one["url"]: one for one in await service.ask("GET", "/v1/sources")}
    assert after["https://shore.test/terms"]["id"] == before["https://shore.test/terms"]
    assert after["https://shore.test/map"]["enabled"] is False
    assert [one["ends_on"] for one in await service.ask("GET", "/v1/publications")] == ["2026-12-31"]
    now = await service.ask("GET", f"/v1/alerts/{alert['id']}")
    wanted = ("terms", "map", "news/en")
    assert set(now["source_ids"]) == {after[f"https://shore.test/{path}"]["id"] for path in wanted}
    assert await empty(service, folder)


async def cut_at(tmp_path: Path, at: int, *, sent: bool) -> tuple[Any, bool, list[str]]:
    """Kill an apply at a request, then apply again; return all records, whether a plan is empty, and the requests."""
    async with running(make_house()) as house:
        service = await Service.of(house)
        service.variables = {"SECRET": SECRET}
        await service.apply(files(tmp_path / "f", all=BEFORE))
        folder, killed, asked = files(tmp_path / "f", all=AFTER), False, list[str]()
        try:
            _, asked = await service.apply(folder, at, sent=sent)
        except* Killed:
            killed = True
        assert killed == (at > 0)
        done, _ = await service.apply(folder)
        assert not [one for one in done if one.became == "refused"], done
        return await service.everything(), await empty(service, folder), asked


@pytest.mark.parametrize("sent", [False, True])
async def test_a_run_killed_at_any_request_ends_like_a_complete_run(
    autojump_clock: object, tmp_path: Path, *, sent: bool
) -> None:
    whole, _, asked = await cut_at(tmp_path, 0, sent=sent)
    reads = sum(one.startswith("GET") for one in asked)
    assert len(asked) - reads > 10
    for at in range(reads + 1, len(asked) + 1):
        found, is_empty, _ = await cut_at(tmp_path, at, sent=sent)
        assert is_empty, f"cut at {asked[at - 1]}"
        assert found == whole, f"cut at {asked[at - 1]}"


# --- drawn worlds ----------------------------------------------------------------------------------------------------

PATHS = [f"https://shore.test/{number}" for number in range(6)]
HOOKS = ["https://a.test/in", "https://b.test/in"]


def drawn(chance: random.Random) -> str:
    urls = chance.sample(PATHS, chance.randrange(1, 6))
    names = dict(zip(chance.sample("abcdefgh", len(urls)), urls, strict=True))
    lines = list[str]()
    for name, url in names.items():
        lines += [f"[sources.{name}]", f'url = "{url}"', f"tags = {chance.sample(['t', 'topic:x', 'u'], 2)}"]
        lines += chance.choice([[], ['schedule = "90m"'], ["enabled = false"], ['title = "T"'], ['selector = "main"']])
    hooks = chance.sample("xyz", chance.randrange(1, 3))
    alerts = chance.sample("pqrs", chance.randrange(1, 4))
    for name in alerts:
        over = chance.sample(sorted(names), chance.randrange(1, len(names) + 1))
        lines += [f"[alerts.{name}]", f'query = "{chance.choice(["price", "plan", ""])}"', f"sources = {over}"]
        lines += [f"destinations = {hooks}", *chance.choice([[], ['channel = "c"'], ['match = "added"']])]
    for name in hooks:
        lines += [f"[destinations.{name}]", f'url = "{chance.choice(HOOKS)}"']
        lines += chance.choice([[], ['delivery_mode = "daily"', "digest_hour = 7"], ["enabled = false"]])
    for name in chance.sample(["t", "u", "topic:x"], chance.randrange(3)):
        lines += [f'[tags."{name}"]', f"bar = {chance.choice([0.2, 0.4])}"]
        lines += chance.choice([[], [f"destinations = {chance.sample(hooks, 1)}"], ['ignore = [".b", ".a"]']])
    if chance.random() < 0.7:
        lines += ["[publications.n]", 'title = "N"', f"alerts = {chance.sample(alerts, 1)}"]
    return "\n".join(lines)


async def unmanaged(service: Service) -> list[Any]:
    tags = [one for one in await service.ask("GET", "/v1/tags") if one["defaults"]]
    return [one["defaults"] for one in tags if one["defaults"]["managed"] is None] + [
        one
        for kind in ("sources", "alerts", "destinations", "publications")
        for one in await service.ask("GET", f"/v1/{kind}")
        if one["managed"] is None
    ]


@pytest.mark.parametrize("seed", range(12))
async def test_after_applying_drawn_files_the_plan_is_empty(service: Service, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    made = await service.ask("POST", "/v1/sources", json={"url": "https://other.test/", "tags": ["t"]})
    alert = await service.ask("POST", "/v1/alerts", json={"filter_query": "price", "source_ids": [made["id"]]})
    await service.ask("POST", f"/v1/alerts/{alert['id']}/destinations", json={"url": HOOKS[0]})
    await service.ask("POST", "/v1/publications", json={"title": "Others", "alert_ids": [alert["id"]]})
    await service.ask("PUT", "/v1/tags/others", json={"bar": 0.3})
    theirs = await unmanaged(service)
    for _ in range(3):
        folder = files(tmp_path / "f", all=drawn(chance))
        done, _ = await service.apply(folder)
        assert not [one for one in done if one.became == "refused"], done
        plan = await service.plan(folder)
        assert plan.empty, "\n".join(lines_of(plan))
        assert await unmanaged(service) == theirs


async def test_a_refusal_blocks_nothing_else_and_sources_without_successor_stay(
    service: Service, tmp_path: Path
) -> None:
    await service.apply(files(tmp_path / "f", all=BEFORE))
    wrong = BEFORE.replace("shore.test/tickets", "shore.test/refused").replace('["shop"]', '["template:mine"]')
    done, _ = await service.apply(files(tmp_path / "f", all=wrong.replace('"price"', '"offer"')))
    assert {(one.act.verb, one.act.kind, one.act.name, one.became) for one in done} == {
        ("make", "sources", "tickets", "refused"),
        ("change", "alerts", "prices", "refused"),
        ("delete", "sources", "tickets", "refused"),
    }
    says = [one.says for one in done]
    assert "the service's own" in says[0] and says[1:] == [
        "it names tickets, which does not exist",
        "it stays, because its replacement was refused",
    ]
    assert "https://shore.test/tickets" in {one["url"] for one in await service.ask("GET", "/v1/sources")}


async def test_a_deleted_object_is_made_again_with_its_name_and_content(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=BEFORE)
    await service.apply(folder)
    for _ in range(2):
        (alert,) = [one for one in await service.ask("GET", "/v1/alerts") if one["name"] == "prices"]
        await service.ask("DELETE", f"/v1/alerts/{alert['id']}")
        done, _ = await service.apply(folder)
        made = {f"{one.act.kind}.{one.act.name}" for one in done if one.became == "made"}
        assert made == {"alerts.prices", "destinations.prices/hook", "destinations.prices/old"}
        assert await empty(service, folder)


async def test_two_concurrent_runs_of_one_workspace_do_not_both_succeed(service: Service, tmp_path: Path) -> None:
    one = files(tmp_path / "one", all=BEFORE)
    other = files(tmp_path / "other", all=BEFORE.replace("shore.test", "cliff.test").replace("hook.test", "nook.test"))
    ends: list[str] = []

    async def apply(folder: Path) -> None:
        try:
            done, _ = await service.apply(folder)
        except CommandFailed as error:
            ends.append(error.message)
        else:
            ends.append("; ".join(one.says for one in done if one.became == "refused"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(apply, one)
        nursery.start_soon(apply, other)
    assert len([end for end in ends if "lan again" in end]) >= 1, ends
    alerts = [one["managed"]["name"] for one in await service.ask("GET", "/v1/alerts")]
    assert len(alerts) == len(set(alerts)), "no alert is there twice"
    await service.apply(one)
    assert await empty(service, one)


async def test_two_runs_of_the_same_files_end_as_one(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=BEFORE)
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(service.apply, folder)
    assert await empty(service, folder)
    assert len(await service.ask("GET", "/v1/alerts")) == 2


async def test_a_secret_goes_along_with_an_address_that_changes_and_without_it_the_change_is_refused(
    service: Service, tmp_path: Path
) -> None:
    hook = '\n[alerts.a]\nquery = "x"\ndestinations = ["h"]\n[destinations.h]\nurl = "https://{}.test/in"\n'
    hook += 'options = {{ token = {{ env = "TOKEN" }} }}'
    service.variables = {"TOKEN": "s3cret"}
    await service.apply(files(tmp_path / "f", all=hook.format("one")))
    await service.apply(files(tmp_path / "f", all=hook.format("two")))
    (found,) = await service.house.storage.alerts.destinations()
    assert (found.url, found.private["token"].value) == ("https://two.test/in", "s3cret")
    service.variables = {}
    (done,), _ = await service.apply(files(tmp_path / "f", all=hook.format("three")))
    assert done.became == "refused" and "again: the stored value" in done.says
    assert (await service.house.storage.alerts.destinations())[0].url == "https://two.test/in"
