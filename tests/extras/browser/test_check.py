"""The doctor's check of the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.setting_table import with_values
from actors.settings import Settings
from extras.browser.holder import Walls
from extras.browser.real import TIGHT, browser, from_unit, held
from sanderling.operations.findings import DoctorContext

pytestmark = pytest.mark.real


def a_context(folder: Path, setting: str) -> DoctorContext:
    return DoctorContext(
        with_values(Settings(), data=str(folder), browser=setting), folder, {}, running=False, offline=True
    )


async def test_a_missing_browser_is_explained_and_is_no_trouble(tmp_path: Path) -> None:
    for setting, why in (("off", "browser is off"), ("/nowhere/chromium", "no program")):
        found = [each async for each in browser(a_context(tmp_path, setting))]
        assert [each.level for each in found] == ["ok"] and why in found[0].says


async def test_a_browser_that_does_not_start_is_found(tmp_path: Path) -> None:
    found = [each async for each in browser(a_context(tmp_path, "/bin/true"))]
    assert found[-1].level == "warn" and "rendered-pages.md" in found[-1].do


def test_the_check_names_the_sandbox_of_a_browser_or_its_obstacle() -> None:
    assert held("Chrome/1", Walls(namespace=False, sandbox=True)).level == "ok"
    bare = held("Chrome/1", Walls(namespace=True, sandbox=False))
    assert bare.level == "warn" and "without its own sandbox" in bare.says
    remote = held("Chrome/1", Walls(namespace=False, sandbox=False, remote=True))
    assert remote.level == "ok" and "remote: the proxy of each page's context alone" in remote.says
    assert "MemoryDenyWriteExecute" in from_unit(TIGHT).says
