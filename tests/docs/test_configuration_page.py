"""The page on configuration as files: its example is applied as it is printed, and its table has every field."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sanderling.applying.kinds.table import KINDS
from sanderling.applying.reading import read_folder
from sanderling.applying.showing import NOTHING
from sanderling.exits import Exit
from tests.api.house import make_house, running
from tests.rules.source_files import ROOT
from tests.sanderling.applying.folder import Service, files

PAGE = (ROOT / "docs/configuration.md").read_text("utf-8")
SECRET = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ=="


def example() -> str:
    found = re.search(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)
    assert found is not None
    return found[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = files(tmp_path / "watch", shop=example())
    (made / "secrets").mkdir()
    (made / "secrets/hook").write_text(SECRET)
    return made


async def test_the_example_is_applied_as_it_is_printed_and_a_second_plan_is_empty(
    autojump_clock: object, folder: Path
) -> None:
    async with running(make_house()) as house:
        service = await Service.of(house)
        service.variables = {"SHORE_HEADERS": "Cookie: id=1", "SLACK_URL": "https://hooks.slack.com/services/T0/B0/X"}
        done, _ = await service.apply(folder)
        assert {one.became for one in done} == {"made"} and len(done) == 7
        plan = await service.plan(folder)
        assert plan.empty and not plan.notes
    assert NOTHING in PAGE


def test_every_field_of_every_table_is_on_the_page(folder: Path) -> None:
    for kind in KINDS.values():
        (row,) = re.findall(rf"^\| `\[{kind.id}\.NAME\]` \|.*$", PAGE, re.M)
        cells = row.split("|")
        assert set(re.findall(r"`(\w+)`", cells[3])) == set(kind.table.__struct_fields__)
    assert read_folder(folder, {}).workspace == "shop"


def test_the_exit_codes_on_the_page_are_those_of_the_command() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d) \|", PAGE, re.M)}
    assert codes == {Exit.WELL, Exit.FAILED, Exit.USAGE, Exit.DIFFERS}
