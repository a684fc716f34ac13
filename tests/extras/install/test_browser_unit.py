"""The browser's units: the page prints them, and systemd accepts them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.install.units import (
    ADDRESS,
    LINE,
    SYSTEM,
    browser_in,
    browser_units,
    unit_text,
    with_browser,
    without_browser,
)
from tests.rules.source_files import ROOT

SHELL = "/usr/bin/chromium-headless-shell"
PAGE = (ROOT / "docs/rendered-pages.md").read_text("utf-8")
LINES = st.lists(
    st.sampled_from(
        [
            "",
            "# mine",
            "A=1",
            "A=a\\",
            "SANDERLING_BROWSER=off",
            " SANDERLING_BROWSER =x",
            "#SANDERLING_BROWSER=y",
            LINE,
        ]
    )
)


def test_the_page_prints_the_units_that_are_written() -> None:
    printed = dict(re.findall(r"```ini\n# (\S+)\n(.*?)```", PAGE, re.S))
    assert printed == {str(path): text for path, text in browser_units(SYSTEM, SHELL).items()}
    assert f"`{LINE}`" in PAGE and LINE.endswith(f"=unix:{ADDRESS}")


def test_only_the_service_may_connect_and_the_browser_reads_no_files() -> None:
    socket, service = browser_units(replace(SYSTEM, data=PurePosixPath("/srv/tides")), SHELL).values()
    assert "SocketUser=sanderling\nSocketMode=0600\n" in socket
    assert "InaccessiblePaths=-/srv/tides -/etc/sanderling\n" in service and "PrivateNetwork=yes\n" in service


@pytest.mark.parametrize("browser", [SHELL, "/opt/50%/chromium"])
def test_a_unit_reports_which_browser_it_holds(browser: str) -> None:
    assert browser_in(browser_units(SYSTEM, browser)[SYSTEM.browser_service]) == browser
    assert browser_in("[Service]\n") == browser_in("") == ""


@given(LINES, st.sampled_from(["", "\n"]))
def test_nothing_that_a_person_wrote_is_lost_and_the_service_finds_the_unit(lines: list[str], end: str) -> None:
    before = "\n".join(lines) + end
    after = with_browser(before)
    assert with_browser(after) == after, "the second time it is there"
    chosen = [line for line in after.splitlines() if line.partition("=")[0].strip() == "SANDERLING_BROWSER"]
    assert chosen == [LINE]
    assert "\\\n" + LINE not in after or after == before, "a line that goes on would swallow it"
    left = [line.removeprefix("#") for line in after.splitlines() if line]
    assert [line for line in left if line != LINE] == [
        line.removeprefix("#") for line in before.splitlines() if line not in ("", LINE)
    ]
    assert LINE not in without_browser(after).replace(f"#{LINE}", "")


@pytest.mark.real
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_each_line_of_them(tmp_path: Path) -> None:
    for path, text in browser_units(SYSTEM, SHELL).items():
        (tmp_path / path.name).write_text(text.replace(f"={SYSTEM.command} ", "=/bin/true "))
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert "sanderling" not in told.stdout + told.stderr, told


def test_the_doctor_finds_obstacles_for_a_browser_in_the_services_unit() -> None:
    check = pytest.importorskip("extras.browser.real", reason="extras.browser is deleted here")
    assert Path(SYSTEM.unit) == check.UNIT and check.walls_of(unit_text(SYSTEM)) == check.TIGHT
