from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from extras.apply.acting import state_of
from extras.apply.reading import read_folder
from extras.apply.writing import write, written
from sanderling.exits import CommandFailed
from tests.api.house import make_house, running
from tests.extras.apply.folder import Service, files
from tests.support.parts import PARTS

CHAT = "https://hooks.slack.com/services/T0/B0/X"
SECRETS = {"PRICES_SLACK_URL": CHAT, "SHORE_TEST_TERMS_HEADERS": "Cookie: id=1"}


async def fill(service: Service) -> None:
    """Make records by hand: some of each kind, with every sort of value."""
    tickets = await service.ask(
        "POST", "/v1/sources", json={"url": "https://shore.test/tickets", "title": "Day tickets"}
    )
    terms = {
        "url": "https://shore.test/terms",
        "headers": "Cookie: id=1",
        "tags": ["shop"],
        "schedule": "90m",
        "ignore": [".ad", 'a[title="x\\y"]'],
        "bar": 0.4,
        "enabled": False,
    }
    await service.ask("POST", "/v1/sources", json=terms)
    prices = {"filter_query": 'price OR "new\tplan"', "name": "Prices", "source_ids": [tickets["id"]], "notices": []}
    alert = await service.ask("POST", "/v1/alerts", json=prices)
    path = f"/v1/alerts/{alert['id']}/destinations"
    quiet = {"from": "22:00", "to": "07:00", "weekdays": ["mon"]}
    hook = await service.ask("POST", path, json={"url": "https://hook.test/in", "quiet_hours": quiet})
    defaults = {"schedule": "90m", "ignore": ["nav", ".ad"], "bar": 0.4, "destinations": [hook["id"]]}
    await service.ask("PUT", "/v1/tags/shop", json=defaults)
    await service.ask("PUT", "/v1/tags/topic:day tickets", json={"hours": "weekdays 08-18 Europe/Stockholm"})
    message = {"message": "{{ title }}\n\n{{ summary }}"}
    await service.ask("POST", path, json={"kind": "slack", "url": CHAT, "options": message, "label": "Team"})
    everything = await service.ask("POST", "/v1/alerts", json={"filter_query": "", "tags": ["shop"]})
    await service.ask("POST", "/v1/publications", json={"title": "All", "alert_ids": [everything["id"]]})


async def exported(service: Service, folder: Path, workspace: str = "main") -> list[str]:
    made = written(await state_of(service.client()), workspace)
    write(folder, made.files)
    return list(made.variables)


async def test_an_export_applied_to_the_same_service_changes_nothing_of_it(service: Service, tmp_path: Path) -> None:
    await fill(service)
    variables = await exported(service, tmp_path / "out")
    assert set(variables) == set(SECRETS)
    before = await service.everything()
    for known in ({}, SECRETS):
        service.variables = known
        plan = await service.plan(tmp_path / "out", adopt=True)
        assert not plan.faults and {act.verb for act in plan.acts} == {"take over"}
        assert [act.changes for act in plan.acts if act.changes] == []
    await service.apply(tmp_path / "out", adopt=True)
    assert (await service.plan(tmp_path / "out")).empty
    assert without_marks(await service.everything()) == without_marks(before)


def without_marks(found: dict[str, list[dict[str, object]]]) -> object:
    """Return records without their `managed` mark; a tag's mark is among its defaults."""
    return {
        kind: [{**(one.get("defaults") or one), "tag": one.get("tag"), "managed": None} for one in records]  # type: ignore[dict-item]
        for kind, records in found.items()
    }


async def test_an_export_applied_to_an_empty_service_makes_the_same_things(
    service: Service, tmp_path: Path, autojump_clock: object
) -> None:
    await fill(service)
    await exported(service, tmp_path / "out")
    async with running(make_house()) as house:
        other = await Service.of(house)
        other.variables = SECRETS
        await other.apply(tmp_path / "out")
        assert without_marks(await other.everything()) == without_marks(await service.everything())
        assert (await other.plan(tmp_path / "out")).empty
        await exported(other, tmp_path / "again")
    for path in (tmp_path / "out").iterdir():
        assert (tmp_path / "again" / path.name).read_text() == path.read_text()


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
async def test_a_part_of_a_page_is_the_same_after_a_round_by_files_however_it_is_chosen(
    service: Service, tmp_path: Path, autojump_clock: object, part: str
) -> None:
    """Of a source, of a tag, and of a template's source that is written separately."""
    other = PARTS["css"] if part != PARTS["css"] else PARTS["path"]
    group = {"params": {"domain": ["acme.example"]}}
    await service.ask("POST", "/v1/templates/gtm-competitor-watch/instantiate", json=group)
    (of_group, *_) = await service.ask("GET", "/v1/sources", params={"limit": 1000})
    await service.ask("PATCH", f"/v1/sources/{of_group['id']}", json={"selector": part})
    page = {"url": "https://shore.test/fees", "tags": ["fees"], "selector": part, "ignore": [other, part]}
    await service.ask("POST", "/v1/sources", json=page | {"own_only": ["ignore", "hours"]})
    await service.ask("PUT", "/v1/tags/fees", json={"selector": part, "ignore": [part, other]})
    await exported(service, tmp_path / "out")
    plan = await service.plan(tmp_path / "out", adopt=True)
    assert not plan.faults and [act.changes for act in plan.acts if act.changes] == []
    async with running(make_house()) as house:
        empty = await Service.of(house)
        await empty.apply(tmp_path / "out")
        assert parts_of(await empty.everything()) == parts_of(await service.everything())
        assert (await empty.plan(tmp_path / "out")).empty
        await exported(empty, tmp_path / "again")
        fees = next(one for one in (await empty.everything())["sources"] if one["url"] == page["url"])
    assert (fees["selector"], set(fees["ignore"])) == (part, {other, part})  # type: ignore[call-overload]
    assert fees["own_only"] == ["hours", "ignore"]
    for path in (tmp_path / "out").iterdir():
        assert (tmp_path / "again" / path.name).read_text() == path.read_text()


def parts_of(found: dict[str, list[dict[str, object]]]) -> object:
    """Return the page parts that sources and tags choose."""
    names = ("url", "tag", "selector", "ignore", "own_only")
    kinds = ("sources", "tags")
    records = [one for kind in kinds for one in without_marks(found)[kind]]  # type: ignore[index]
    for one in records:
        one |= {name: sorted(one.get(name) or ()) for name in ("ignore", "own_only")}
    return [[one.get(name) for name in names] for one in records]


async def test_an_export_has_no_secret_and_no_object_of_other_files(service: Service, tmp_path: Path) -> None:
    await fill(service)
    theirs = 'workspace = "theirs"\n[sources.theirs]\nurl = "https://theirs.test/"\n'
    await service.apply(files(tmp_path / "theirs", all=theirs))
    await exported(service, tmp_path / "out")
    text = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert "theirs" not in text and "whsec_" not in text and "T0/B0" not in text and "Cookie" not in text


async def test_managed_objects_keep_their_names_and_shared_destinations(service: Service, tmp_path: Path) -> None:
    folder = files(
        tmp_path / "f",
        all='[sources."no. 5"]\nurl = "https://shore.test/5"\n[alerts.a]\nquery = "a"\ndestinations = ["hook"]\n'
        '[alerts.b]\nquery = "b"\ndestinations = ["hook"]\n[destinations.hook]\nurl = "https://hook.test/in"\n'
        '[tags."label:shop"]\ndestinations = ["hook"]\n',
    )
    await service.apply(folder)
    await exported(service, tmp_path / "out", "shop")
    wish = read_folder(tmp_path / "out", {})
    names = {kind: sorted(one.name for one in some) for kind, some in wish.wanted.items()}
    assert names == {
        "sources": ["no. 5"],
        "alerts": ["a", "b"],
        "destinations": ["a/hook", "b/hook"],
        "tags": ["label:shop"],
        "publications": [],
    }
    assert wish.wanted["tags"][0].values["destinations"] == ("hook",)
    assert list(tomllib.loads((tmp_path / "out/alerts.toml").read_text())["destinations"]) == ["hook"]
    assert (await service.plan(tmp_path / "out")).empty


def test_files_that_are_there_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    with pytest.raises(CommandFailed, match="there are TOML files already"):
        write(tmp_path, {"sources.toml": ""})
