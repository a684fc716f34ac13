"""The page on configuration files: its example applies as printed, and its table has every field."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from extras.apply.groups import BadFiles
from extras.apply.planning import NOTHING, lines_of
from extras.apply.reading import TABLES, read_folder
from sanderling.exits import Exit
from tests.api.house import make_house, on_loopback, running
from tests.docs.blocks import of, the
from tests.extras.apply.folder import Service, files, store_what_is_registered
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

PAGE = (ROOT / "docs/configuration.md").read_text("utf-8")
SECRET = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ=="

PLACES = {"SHORE_HEADERS": "Cookie: id=1", "SLACK_URL": "https://hooks.slack.com/services/T0/B0/X"}
"""Variables in the example."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = files(tmp_path / "watch", shop=the("docs/configuration.md", "toml", "# watch/shop.toml"))
    (made / "secrets").mkdir()
    (made / "secrets/hook").write_text(SECRET)
    return made


async def test_the_example_is_applied_as_it_is_printed_and_a_second_plan_is_empty(
    autojump_clock: object, folder: Path
) -> None:
    async with running(make_house()) as house:
        service = await Service.of(house)
        service.variables = PLACES
        done, _ = await service.apply(folder)
        assert {one.became for one in done} == {"made"} and len(done) == 7
        plan = await service.plan(folder)
        assert plan.empty and not plan.notes
    assert NOTHING in PAGE


@pytest.mark.real
async def test_its_commands_end_as_the_page_says(folder: Path) -> None:
    """In one shell, in the order of the page; the export writes to a second folder."""
    made, in_ci, back = (block.text for block in of("docs/configuration.md", "sh"))
    lines = made.replace("apply watch/", "apply --yes watch/") + in_ci + back.replace("watch/", "written/")
    async with on_loopback() as (house, port):
        store_what_is_registered(house)
        place, key = f"http://127.0.0.1:{port}", await house.key()
        lines = lines.replace("https://watch.example.org", place).replace("svc_...", key)
        program = f'sanderling() {{ "{sys.executable}" -P -m sanderling "$@"; }}\n'
        variables = {"SANDERLING_URL": place, "SANDERLING_KEY": key} | PLACES
        with trio.fail_after(HANG):
            done = await trio.run_process(
                ["bash", "-ec", program + lines],
                cwd=folder.parent,
                env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"} | variables,
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                check=False,
            )
    said = done.stdout.decode()
    assert done.returncode == 0, said
    assert said.count(NOTHING) == 4, said  # after each apply, and for the exported folder
    assert "7 to make" in said and "7 made" in said.lower()


async def test_the_example_of_a_group_is_applied_as_it_is_printed(autojump_clock: object, tmp_path: Path) -> None:
    rivals = files(tmp_path, rivals=the("docs/configuration.md", "toml", "# watch/rivals.toml"))
    async with running(make_house()) as house:
        service = await Service.of(house)
        assert "~ templates.rivals: 7 sources get the tag" in "\n".join(lines_of(await service.plan(rivals)))
        done, _ = await service.apply(rivals)
        assert {one.became for one in done} == {"made", "changed"}
        found = {one["url"]: one for one in await service.ask("GET", "/v1/sources")}
        assert len(found) == 7 and found["https://example.com/blog"]["managed"]["name"] == "blog"
        (over,) = [one for one in await service.ask("GET", "/v1/alerts") if one["name"] == "everything"]
        assert len(over["source_ids"]) == 7
        assert (await service.plan(rivals)).empty


@pytest.mark.parametrize("key", ["retention_days", "host", "retention"])
async def test_a_service_setting_in_a_file_is_refused_with_its_right_place(tmp_path: Path, key: str) -> None:
    with pytest.raises(BadFiles) as bad:
        read_folder(files(tmp_path, odd=f"[{key}]\ndays = 9"), {})
    assert f"odd.toml:1: {key}: is a setting of the service, which reads it at its start" in str(bad.value.flaws[0])


def test_every_field_of_every_table_is_on_the_page(folder: Path) -> None:
    for kind in TABLES.values():
        (row,) = re.findall(rf"^\| `\[{kind.id}\.NAME\]` \|.*$", PAGE, re.M)
        cells = row.split("|")
        assert set(re.findall(r"`(\w+)`", cells[3])) == set(kind.table.__struct_fields__)
    assert read_folder(folder, {}).workspace == "shop"


def test_the_exit_codes_on_the_page_are_those_of_the_command() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d) \|", PAGE, re.M)}
    assert codes == {Exit.WELL, Exit.FAILED, Exit.USAGE, Exit.DIFFERS}
