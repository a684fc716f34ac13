"""People in files: invited, given another role, never removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from extras.apply.acting import people_of
from extras.apply.groups import BadFiles, State
from extras.apply.kinds.table import KINDS
from extras.apply.planning import as_json, lines_of
from extras.apply.reading import read_folder
from extras.apply.writing import write, written
from storage.records.access import Person, Role
from tests.api.house import House
from tests.extras.apply.folder import Service, files
from tests.support.build import NOW

TWO = """
[people."anna@example.com"]
role = "editor"

[people."bo@example.com"]
role = "reader"
"""


async def roles(service: Service) -> dict[str, tuple[str, bool]]:
    """Return the role of each address, and whether it is only invited."""
    found = await people_of(service.client())
    return {one.email: (one.role, one.path.startswith("/v1/invitations")) for one in found}


async def join(house: House, name: str, role: Role) -> None:
    id = f"019db0a4-a060-7000-8000-{len(name):012}"
    made = Person(id=id, name=name, email=f"{name}@example.com", role=role, created_at=NOW)
    await house.storage.accounts.add(made)


async def test_an_address_is_invited_once_and_a_role_follows_the_files(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "files", people=TWO)
    done, _ = await service.apply(folder)
    assert [(one.became, one.act.name) for one in done] == [("made", "anna@example.com"), ("made", "bo@example.com")]
    assert all("/join#" in one.says for one in done)
    assert (await service.plan(folder)).empty and (await service.apply(folder))[0] == []
    await join(service.house, "anna", "reader")
    plan = await service.plan(folder)
    assert next(lines_of(plan)) == "~ people.anna@example.com: reader -> editor"
    files(folder, people=TWO.replace('"reader"', '"owner"'))
    assert [one.became for one in (await service.apply(folder))[0]] == ["changed", "changed"]
    assert await roles(service) == {"anna@example.com": ("editor", False), "bo@example.com": ("owner", True)}


async def test_leaving_the_files_takes_no_access_away(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "files", people=TWO))
    assert (await service.plan(files(tmp_path / "files"))).empty
    assert len(await roles(service)) == 2


async def test_the_plan_names_people_in_text_and_json(service: Service, tmp_path: Path) -> None:
    plan = await service.plan(files(tmp_path / "files", people=TWO))
    assert list(lines_of(plan)) == [
        "+ people.anna@example.com: is invited as editor",
        "+ people.bo@example.com: is invited as reader",
        "",
        "0 to make, 0 to change, 0 to delete, 2 of people.",
    ]
    assert as_json(plan)["people"][0] == {"email": "anna@example.com", "role": "editor", "before": None}


async def test_files_without_people_ask_for_none(service: Service, tmp_path: Path) -> None:
    _, asked = await service.apply(files(tmp_path / "files"))
    assert not [path for path in asked if "people" in path or "invitations" in path]


async def test_an_export_gives_the_same_roles(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "files", people=TWO))
    state = State({kind: [] for kind in KINDS}, {}, people=await people_of(service.client()))
    made = written(state, "shop")
    assert made.counts["people"] == 2
    write(tmp_path / "out", made.files)
    assert (await service.plan(tmp_path / "out")).empty


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[people.anna]\nrole = "editor"', "e-mail address"),
        ('[people."Anna@example.com"]\nrole = "editor"', "lower case"),
        ('[people."anna@example.com"]\nrole = "root"', "must be one of: reader, editor, owner"),
        ('[people."anna@example.com"]', "is missing"),
    ],
)
def test_what_is_no_person_is_a_flaw(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadFiles) as found:
        read_folder(files(tmp_path / "files", people=text), {})
    assert says in str(found.value.flaws[0])


async def test_a_refused_role_is_told(service: Service, tmp_path: Path) -> None:
    await join(service.house, "bo", "owner")
    done, _ = await service.apply(files(tmp_path / "files", people=TWO))
    assert [one.became for one in done] == ["made", "refused"] and "last owner" in done[1].says
