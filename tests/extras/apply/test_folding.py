"""An export of a group by a template: one table again, plus its differences from the template."""

from __future__ import annotations

from pathlib import Path

from extras.apply.acting import state_of, templates_of
from extras.apply.groups import TemplateSeen
from extras.apply.writing import Table, folded, write, written
from tests.extras.apply.folder import Service, files
from tests.extras.apply.test_groups import FEWER, ID, RIVALS


async def exported(service: Service, folder: Path) -> dict[str, str]:
    state = await state_of(service.client())
    made = written(state._replace(templates=await templates_of(service.client(), state)), "shop")
    write(folder, made.files)
    return dict(made.files)


async def test_an_export_writes_the_group_again_and_applied_it_changes_nothing(
    service: Service, tmp_path: Path
) -> None:
    await service.apply(files(tmp_path / "one", rivals=FEWER))
    text = (await exported(service, tmp_path / "two"))["sources.toml"]
    assert f'[templates.rivals]\ntemplate = "{ID}"\nparams = {{ domain = ["acme.example"] }}\nalerts = true' in text
    assert 'without = ["https://acme.example/about"]' in text and "[sources." not in text
    assert (await service.plan(tmp_path / "two")).empty


async def test_deviations_from_the_template_are_written_next_to_it(service: Service, tmp_path: Path) -> None:
    own = '[alerts.some]\nquery = "x"\nsources = ["rivals:acme.example/blog"]\n'
    await service.apply(files(tmp_path / "one", rivals=RIVALS, own=own))
    found = {one["url"]: one["id"] for one in await service.ask("GET", "/v1/sources")}
    await service.ask("PATCH", f"/v1/sources/{found['https://acme.example/blog']}", json={"schedule": "1h"})
    (alert, *_) = [one for one in await service.ask("GET", "/v1/alerts") if "template" not in one["name"]]
    await service.ask("PATCH", f"/v1/alerts/{alert['id']}", json={"filter_query": "other"})
    made = await exported(service, tmp_path / "two")
    assert "[sources.rivals-acme-example-blog]" in made["sources.toml"] and "alerts = true" not in made["sources.toml"]
    before = await service.everything()
    done, _ = await service.apply(tmp_path / "two")
    assert {one.became for one in done} <= {"changed"}  # the names in the marks
    assert (await service.plan(tmp_path / "two")).empty
    after = await service.everything()
    for one in (*before["sources"], *before["alerts"], *after["sources"], *after["alerts"]):
        one.pop("managed")
    assert before["sources"] == after["sources"] and before["alerts"] == after["alerts"]


def test_a_group_without_matching_parameters_is_written_as_sources() -> None:
    tables = {"sources": [Table("tides:1", {"url": "https://elsewhere.example/a"}, "1")], "alerts": []}
    template = TemplateSeen("tides", (), ())
    folded(tables, {"1": ["tides"]}, {"tides": template})
    assert [one.name for one in tables["sources"]] == ["tides-1"] and tables["templates"] == []
