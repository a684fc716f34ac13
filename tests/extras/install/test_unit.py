from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from extras.install.units import SYSTEM, of_user, unit_text
from tests.rules.source_files import ROOT

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


def analyze(*arguments: str) -> str:
    done = subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    return done.stdout + done.stderr


@pytest.mark.real
@needs_systemd
def test_the_exposure_of_the_system_unit_is_at_most_one_and_a_half_and_as_documented(tmp_path: Path) -> None:
    (tmp_path / "sanderling.service").write_text(unit_text(SYSTEM))
    told = analyze("security", "--offline=yes", "--no-pager", str(tmp_path / "sanderling.service"))
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", told)
    assert found, told
    written = re.search(r"rates it ([\d.]+) \(of 10", (ROOT / "docs/install.md").read_text("utf-8"))
    assert written
    assert float(found[1]) <= 1.5
    assert float(found[1]) == pytest.approx(float(written[1]), abs=0.15)


@pytest.mark.real
@needs_systemd
def test_systemd_understands_each_line(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    mine, keys = of_user({}, "/users/me"), ("none", "plain", "encrypted")
    for number, (layout, key) in enumerate((layout, key) for layout in (SYSTEM, mine) for key in keys):
        unit = tmp_path / str(number) / "sanderling.service"
        unit.parent.mkdir()
        unit.write_text(unit_text(layout, key=key).replace(str(layout.launcher), "/bin/true"))
        told = analyze("verify", "--man=no", str(unit))
        assert "sanderling.service" not in told, told


@pytest.mark.real
@needs_systemd
def test_a_home_may_have_spaces_and_signs_in_its_name(tmp_path: Path) -> None:
    home = tmp_path / "Åsa & co, 5% $x"
    layout = of_user({}, str(home))
    launcher = Path(str(layout.launcher))
    launcher.parent.mkdir(parents=True)
    shutil.copy("/bin/true", launcher)
    unit = tmp_path / "sanderling.service"
    unit.write_text(unit_text(layout, key="plain"))
    told = analyze("verify", "--man=no", str(unit))
    assert "sanderling" not in told, told


def test_a_wrong_setting_and_a_bad_data_folder_are_not_tried_again() -> None:
    assert "RestartPreventExitStatus=64 78" in unit_text(SYSTEM)


def test_x20_the_master_key_is_a_credential_only_if_its_file_exists() -> None:
    for key, line in (
        ("plain", "LoadCredential=sanderling.master-key:/etc/sanderling/master.key"),
        ("encrypted", "LoadCredentialEncrypted=sanderling.master-key:/etc/sanderling/master.key.cred"),
    ):
        assert unit_text(SYSTEM, key=key).replace(line + "\n", "") == unit_text(SYSTEM)  # type: ignore[arg-type]  # two of the three words
    assert "master" not in unit_text(SYSTEM)
    assert "MASTER_KEY_FILE=/users/me/" in unit_text(of_user({}, "/users/me"), key="plain")


def test_a_users_unit_asks_for_nothing_that_needs_a_namespace() -> None:
    text = unit_text(of_user({}, "/users/me"))
    assert not re.search(r"^(Protect|Private|User=|Capability)", text, re.MULTILINE)
    assert "SystemCallFilter=@system-service" in text
