"""The commands of docs/install.md check a release without this program: openssl and sha256sum, as printed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from release import making
from tests.docs.test_commands import FENCE
from tests.release.test_making import WHEEL
from tests.rules.source_files import ROOT
from tests.support.certificates import needs_openssl

pytestmark = [needs_openssl, pytest.mark.real]
PAGE = (ROOT / "docs/install.md").read_text("utf-8")


def commands(word: str) -> str:
    (found,) = [fence for fence in FENCE.findall(PAGE) if word in fence]
    return str(found)


def typed(folder: Path, lines: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-ec", lines], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release signed with a key made as on the page; the public half is outside the folder."""
    made = typed(tmp_path, commands("openssl genpkey").rpartition("make release")[0])
    assert made.returncode == 0, made.stderr
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / WHEEL).write_text("a wheel")
    making.gather(tmp_path / "dist", tmp_path / "release")
    making.finish(tmp_path / "release", tmp_path / "release.pem")
    return tmp_path / "release"


def test_a_release_is_found_well(folder: Path) -> None:
    done = typed(folder, commands("openssl pkeyutl"))
    assert done.returncode == 0, done.stderr
    assert "Signature Verified Successfully" in done.stdout and f"{WHEEL}: OK" in done.stdout


def test_sums_that_were_altered_are_found(folder: Path) -> None:
    sums = (folder / "SHA256SUMS").read_text()
    (folder / "SHA256SUMS").write_text(sums.replace("a", "b"))
    assert typed(folder, commands("openssl pkeyutl")).returncode != 0


def test_a_file_that_was_altered_is_found(folder: Path) -> None:
    (folder / WHEEL).write_text("another wheel")
    done = typed(folder, commands("openssl pkeyutl"))
    assert done.returncode != 0 and f"{WHEEL}: FAILED" in done.stdout
