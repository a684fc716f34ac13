"""Groups by a template in files: planned, attached, cut off at any request, changed by hand, removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.catalogue import Catalogue, Entry
from actors.errors import Unprocessable
from actors.templates.template import built_in
from extras.apply.groups import BadFiles
from extras.apply.planning import as_json, lines_of
from tests.api.house import make_house, running
from tests.extras.apply.folder import Killed, Service, files

ID = "gtm-competitor-watch"
HOOK = '[destinations.hook]\nurl = "https://hook.test/in"\n'
RIVALS = f"""
[templates.rivals]
template = "{ID}"
params = {{ domain = ["acme.example", "bolt.example"] }}
alerts = true
destinations = ["hook"]
{HOOK}"""
FEWER = RIVALS.replace(', "bolt.example"', "").replace(
    "alerts = true", 'alerts = true\nwithout = ["https://acme.example/about"]'
)


async def tags(service: Service) -> dict[str, list[str]]:
    return {one["url"]: one["tags"] for one in await service.ask("GET", "/v1/sources", params={"limit": 1000})}


async def test_a_group_becomes_its_sources_with_the_tag_of_the_template_and_its_alerts(
    service: Service, tmp_path: Path
) -> None:
    folder = files(tmp_path, rivals=RIVALS)
    plan = await service.plan(folder)
    lines = list(lines_of(plan))
    assert f"~ templates.rivals: 8 sources get the tag template:{ID}" in lines
    assert lines[-1] == "12 to make, 0 to change, 0 to delete, 1 to attach."
    assert as_json(plan)["attach"][0]["name"] == "rivals"
    done, asked = await service.apply(folder)
    assert not [one for one in done if one.became == "refused"]
    found = await tags(service)
    assert len(found) == 8 and all(one[-1] == f"template:{ID}" for one in found.values())
    assert "company:acme.example" in found["https://acme.example/blog"]
    alerts = await service.ask("GET", "/v1/alerts")
    assert sorted(one["managed"]["name"] for one in alerts) == ["rivals:leadership", "rivals:pricing"]
    assert all(len(one["source_ids"]) == 8 for one in alerts)
    assert len(await service.ask("GET", "/v1/destinations")) == 2
    assert (await service.plan(folder)).empty
    assert asked.count(f"POST /v1/templates/{ID}/instantiate") == 1


async def test_after_kill_9_at_any_request_the_next_run_completes_the_plan(
    autojump_clock: object, tmp_path: Path
) -> None:
    """At every second request, alternately before it is sent and before its answer."""
    folder = files(tmp_path, rivals=RIVALS)
    at, wanted, killed = 0, None, True
    while killed:
        async with running(make_house()) as house:
            service = await Service.of(house)
            killed = not at
            try:
                await service.apply(folder, at, sent=at % 4 == 1)
            except* Killed:
                killed = True
            done, _ = await service.apply(folder)
            assert not [one for one in done if one.became == "refused"]
            everything = await service.everything()
            wanted = wanted or everything
            assert everything == wanted
            assert (await service.plan(folder)).empty
        at += 1 if not at else 2
    assert at > 15


async def test_drift_is_shown_and_reset_and_unmanaged_objects_stay(service: Service, tmp_path: Path) -> None:
    mine = await service.ask("POST", "/v1/sources", json={"url": "https://mine.example/feed"})
    folder = files(tmp_path, rivals=RIVALS)
    await service.apply(folder)
    blog = next(one for one in await service.ask("GET", "/v1/sources") if one["url"] == "https://acme.example/blog")
    await service.ask("PATCH", f"/v1/sources/{blog['id']}", json={"schedule": "1h"})
    plan = await service.plan(folder)
    (act,) = plan.acts
    assert (act.name, act.changes[0].field, act.changes[0].cause) == ("rivals:acme.example/blog", "schedule", "service")
    await service.apply(folder)
    await service.apply(files(tmp_path, none=""), delete=True)
    assert [one["id"] for one in await service.ask("GET", "/v1/sources")] == [mine["id"]]
    assert await service.ask("GET", "/v1/alerts") == []


async def test_a_group_attached_by_hand_is_taken_over_only_on_request(service: Service, tmp_path: Path) -> None:
    await service.ask("POST", f"/v1/templates/{ID}/instantiate", json={"params": {"domain": ["acme.example"]}})
    folder = files(tmp_path, rivals=f'[templates.rivals]\ntemplate = "{ID}"\nparams.domain = ["acme.example"]')
    plan = await service.plan(folder)
    assert len(plan.faults) == 4 and "--adopt" in plan.faults[0] and not plan.attach
    done, _ = await service.apply(folder, adopt=True)
    assert [one.became for one in done] == ["taken over"] * 4
    assert (await service.plan(folder)).empty


async def test_a_url_added_to_a_group_gets_its_tag_and_a_removed_one_is_deleted(
    service: Service, tmp_path: Path
) -> None:
    await service.apply(files(tmp_path, rivals=FEWER))
    assert len(await tags(service)) == 3
    await service.apply(files(tmp_path, rivals=RIVALS))
    found = await tags(service)
    assert len(found) == 8 and all(f"template:{ID}" in one for one in found.values())
    await service.apply(files(tmp_path, rivals=FEWER))
    assert "https://acme.example/about" not in await tags(service) and len(await tags(service)) == 3


async def test_a_source_that_the_files_describe_themselves_is_the_groups_as_they_describe_it(
    service: Service, tmp_path: Path
) -> None:
    own = '[sources.blog]\nurl = "https://acme.example/blog"\nschedule = "1h"\n'
    over = '[alerts.all]\nquery = "x"\nsources = ["rivals"]\n[publications.p]\ntitle = "P"\nsources = ["rivals"]'
    over += '\nprivate_sources = ["rivals"]\n[alerts.any]\nquery = "x"\nprivate_sources = ["rivals"]'
    folder = files(tmp_path, rivals=FEWER, own=own + over)
    await service.apply(folder)
    found = {one["url"]: one for one in await service.ask("GET", "/v1/sources")}
    blog = found["https://acme.example/blog"]
    assert blog["managed"]["name"] == "blog" and blog["schedule"] == "1h" and f"template:{ID}" in blog["tags"]
    alerts = {one["name"]: one for one in await service.ask("GET", "/v1/alerts")}
    (publication,) = await service.ask("GET", "/v1/publications")
    every = {one["id"] for one in found.values()}
    assert (
        set(alerts["all"]["source_ids"])
        == set(publication["source_ids"])
        == set(publication["private_source_ids"])
        == set(alerts["any"]["private_source_ids"])
        == every
        and len(every) == 3
    )
    assert (await service.plan(folder)).empty


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (RIVALS.replace(ID, "nothing"), "rivals.toml:2: templates.rivals: template: there is no such template"),
        (RIVALS.replace("acme.example", "https://acme.example"), "leave https:// away"),
        (RIVALS.replace("domain =", "site ="), "there is no such parameter; it takes domain"),
        (FEWER.replace("/about", "/jobs"), "without: https://acme.example/jobs is none of its sources"),
        (RIVALS.replace("alerts = true", "alerts = false"), "it has no alerts for them"),
        (RIVALS.replace('"hook"', '"hock"'), "there is no [destinations.hock] in these files; did you mean hook?"),
        (RIVALS + '[sources.rivals]\nurl = "https://x.test/"', "one of the two needs another name"),
    ],
)
async def test_an_invalid_group_is_reported_with_its_place(
    service: Service, tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(BadFiles) as bad:
        await service.plan(files(tmp_path, rivals=text))
    assert any(says in str(flaw) for flaw in bad.value.flaws), [*map(str, bad.value.flaws)]


async def test_a_group_of_pages_without_tls_is_attached_and_its_alerts_are_over_them(
    autojump_clock: object, tmp_path: Path
) -> None:
    template = built_in().get(ID)
    assert template is not None
    plain = [replace(one, url=one.url.replace("https://", "http://") + "?of=http://a.test") for one in template.sources]
    catalogue = Catalogue([Entry(replace(template, sources=tuple(plain)), "plain.toml")])
    async with running(make_house(catalogue=catalogue)) as house:
        service, folder = await Service.of(house), files(tmp_path, rivals=RIVALS)
        done, _ = await service.apply(folder)
        assert not [one for one in done if one.became == "refused"]
        assert all(len(one["source_ids"]) == 8 for one in await service.ask("GET", "/v1/alerts"))
        assert (await service.plan(folder)).empty


async def test_a_missing_page_does_not_stop_the_rest_of_its_group(service: Service, tmp_path: Path) -> None:
    gone = "https://acme.example/about"
    service.house.registry.refusals[gone] = Unprocessable("there is nothing at this address", "body.url")
    done, _ = await service.apply(files(tmp_path, rivals=RIVALS))
    refused = {one.act.name: one.says for one in done if one.became == "refused"}
    assert "nothing at this address" in refused["rivals:acme.example/about"]
    assert "it names rivals:acme.example/about" in refused["rivals:pricing"]
    found = await tags(service)
    assert len(found) == 7 and all(f"template:{ID}" in one for one in found.values())
    without = files(tmp_path, rivals=RIVALS.replace("alerts = true", f'alerts = true\nwithout = ["{gone}"]'))
    await service.apply(without)
    assert (await service.plan(without)).empty and len(await service.ask("GET", "/v1/alerts")) == 2
